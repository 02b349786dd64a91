/* A directory: the files in it that are samples, in the order of their names. */
#include <string.h>

#include "base/log.h"
#include "samples/data.h"

tare_status tare_data_add_directory(tare_data *data, const char *path, tare_arena *arena, tare_log *log,
                                    tare_error *err) {
    const char **names, *other = NULL;
    size_t count, others = 0;
    uint64_t size;
    TARE_TRY(tare_path_list(path, arena, &names, &count, err));
    const char *gap = path[0] != '\0' && path[strlen(path) - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < count; i++) {
        const char *file = tare_arena_printf(arena, "%s%s%s", path, gap, names[i]);
        if (file == NULL) return tare_fail_memory(err, 0);
        tare_data_kind kind = tare_data_kind_of_name(names[i]);
        if (kind != TARE_DATA_KIND_COUNT && tare_path_is_file(file, &size)) {
            TARE_TRY(tare_data_add_file(data, file, names[i], 0, kind, arena, err));
        } else if (strcmp(names[i], "list.txt") != 0 && others++ == 0) { /* dumps have a list.txt beside their .npz */
            other = names[i];
        }
    }
    if (data->files.count == 0) {
        tare_fail(err, TARE_E_USAGE, "the directory has no samples: no .png, .jpg, .jpeg, .npy or .npz%s%s%s",
                  other == NULL ? "" : ", only such as '", other == NULL ? "" : other,
                  other == NULL ? "" : "'; for raw numbers pass DIRECTORY:f32:1x3x224x224");
        return tare_within(err, "%s", path);
    }
    if (others > 0) {
        tare_log_note(log, "%s: %zu of %zu entries are no samples and are left out, the first '%s'", path, others,
                      count, other);
    }
    return TARE_OK;
}
