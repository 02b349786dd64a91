/* The list of range methods. */
#include <string.h>

#include "calibrate/calibrate.h"

#define METHOD(x) extern const tare_method tare_method_##x;
#include "calibrate/methods.def"
#undef METHOD

static const tare_method *const methods[] = {
#define METHOD(x) &tare_method_##x,
#include "calibrate/methods.def"
#undef METHOD
};

size_t tare_method_count(void) { return sizeof methods / sizeof methods[0]; }
const tare_method *tare_method_at(size_t index) { return methods[index]; }

const tare_method *tare_method_find(const char *name) {
    for (size_t i = 0; i < tare_method_count(); i++)
        if (!strcmp(methods[i]->name, name)) return methods[i];
    return NULL;
}
