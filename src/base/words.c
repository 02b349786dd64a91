/* A choice that is none, with those that are. */
#include "base/words.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

tare_status tare_fail_choice(tare_error *err, const char *what, const char *name, const char *meant,
                             const char *const *names) {
    char shown[128], list[400] = "";
    size_t used = 0;
    tare_text_escape(shown, sizeof shown, name);
    for (size_t i = 0; names[i] && used + strlen(names[i]) + 2 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    if (!meant) meant = tare_text_nearest(name, names);
    return tare_fail(err, TARE_E_USAGE, "no %s '%s'; %s%s%s %s", what, shown,
                     meant ? "did you mean '" : "there are:", meant ? meant : "", meant ? "'? There are:" : "", list);
}
