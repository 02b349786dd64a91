/* The registry of file formats: formats.def as a table, and which of them a path means. */
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "formats/format.h"

#define FORMAT(x) extern const tare_format tare_format_##x;
#include "formats/formats.def"
#undef FORMAT

static const tare_format *const formats[] = {
#define FORMAT(x) &tare_format_##x,
#include "formats/formats.def"
#undef FORMAT
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats, PROBE_SIZE = 64 /* what a probe may look at */ };

static bool has_extension(const tare_format *format, const char *path) {
    size_t length = strlen(path);
    for (const char *const *extension = format->extensions; *extension; extension++) {
        size_t end = strlen(*extension);
        if (length > end && !strcasecmp(path + length - end, *extension)) return true;
    }
    return false;
}

static const tare_format *by_extension(const char *path) {
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (has_extension(formats[i], path)) return formats[i];
    return NULL;
}

const tare_format *tare_format_to_write(const char *path) { return by_extension(path); }

/* A file that cannot be opened is left to the reader, which says why. */
const tare_format *tare_format_to_read(const char *path) {
    tare_file file;
    tare_error err = { 0 };
    if (tare_file_open(&file, path, &err) != TARE_OK) return by_extension(path);
    size_t size = file.size < PROBE_SIZE ? file.size : PROBE_SIZE;
    const tare_format *found = NULL;
    for (size_t i = 0; i < FORMAT_COUNT && !found; i++)
        if (formats[i]->probe(file.data, size)) found = formats[i];
    tare_file_close(&file);
    return found ? found : by_extension(path);
}
