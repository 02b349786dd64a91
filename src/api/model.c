/* Models into files. */
#include <stdio.h>
#include <string.h>
#include <tare/model.h>

#include "api/inputs.h"
#include "base/file.h"
#include "formats/format.h"

static bool is_own_file(const tare_model *model, const char *path) {
    tare_file_id there;
    if (!tare_path_identify(path, &there)) return false;
    for (size_t i = 0; i < model->files.count; i++)
        if (model->files.at[i].device == there.device && model->files.at[i].inode == there.inode) return true;
    return false;
}

tare_status tare_output_check_folder(const char *path, tare_error *err) {
    char folder[TARE_LOCATION_MAX];
    size_t length = strlen(path);
    while (length && path[length - 1] == '/') length--; /* of a directory that is to be made */
    while (length && path[length - 1] != '/') length--;
    if (length) length--;
    if (!length || length >= sizeof folder)
        return TARE_OK; /* a file here, or in the root; the system's word on the rest */
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    if (tare_path_is_directory(folder)) return TARE_OK;
    return tare_fail(err, TARE_E_IO, "%s: there is no directory '%s'; make it first", path, folder);
}

tare_status tare_model_check_inputs(const tare_model *model, const char *path, tare_error *err) {
    if (is_own_file(model, path))
        return tare_fail(err, TARE_E_USAGE,
                         "%s: is a file the model was read from; inputs are never touched, so name another", path);
    return tare_output_check_folder(path, err);
}

/* With a name that would do. */
static tare_status refuse_name(const char *path, tare_error *err) {
    const size_t length = strlen(path);
    if (tare_path_is_directory(path))
        return tare_fail(err, TARE_E_USAGE, "%s: is a directory; name the file in it: %s%smodel.onnx", path, path,
                         length && path[length - 1] == '/' ? "" : "/");
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const size_t stem = dot && (!slash || dot > slash + 1) && dot > path ? (size_t)(dot - path) : length;
    return tare_fail(err, TARE_E_USAGE,
                     "%s: the extension names no format that tare writes; there is: .onnx, so name it %.*s.onnx", path,
                     (int)(stem < 512 ? stem : 512), path);
}

tare_status tare_model_check_path(const tare_model *model, const char *path, tare_error *err) {
    if (!tare_format_to_write(path)) return refuse_name(path, err);
    return tare_model_check_inputs(model, path, err);
}

tare_status tare_model_save(const tare_model *model, const char *path, tare_log *log, tare_error *err) {
    const tare_write_options write = { .log = log };
    TARE_TRY(tare_model_check_path(model, path, err));
    return tare_format_to_write(path)->write(model, path, &write, err);
}
