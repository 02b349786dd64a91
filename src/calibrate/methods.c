/* The list of range methods. */
#include <string.h>

#include "calibrate/calibrate.h"

#define METHOD(x, help) extern const tare_method tare_method_##x;
#include "calibrate/methods.def"
#undef METHOD

static const tare_method *const methods[] = {
#define METHOD(x, help) &tare_method_##x,
#include "calibrate/methods.def"
#undef METHOD
};

const char *const tare_method_names[] = {
#define METHOD(x, help) #x,
#include "calibrate/methods.def"
#undef METHOD
    NULL,
};

const char tare_method_help[] = "how ranges are chosen; the first is the default."
#define METHOD(x, help) " " #x ": " help "."
#include "calibrate/methods.def"
#undef METHOD
    ;

size_t tare_method_count(void) { return TARE_METHOD_COUNT; }
const tare_method *tare_method_at(size_t index) { return methods[index]; }

const tare_method *tare_method_find(const char *name) {
    for (size_t i = 0; i < tare_method_count(); i++)
        if (!strcmp(methods[i]->name, name)) return methods[i];
    return NULL;
}
