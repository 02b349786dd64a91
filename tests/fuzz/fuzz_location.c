/* External data's location, whatever it says, opens nothing but the files of the model's directory: those of a small house
 * with links that lead out of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *model;

static void expect(bool is_true, const char *what, const char *location) {
    if (is_true) return;
    fprintf(stderr, "%s: '%s'\n", what, location);
    abort();
}

static void build(void) {
    const char *top = test_directory(), *directory = test_path(top, "m");
    expect(mkdir(directory, 0700) == 0 && mkdir(test_path(directory, "d"), 0700) == 0, "mkdir", top);
    test_write_file(test_path(top, "s"), "out", 3);
    test_write_file(test_path(directory, "w"), "in", 2);
    test_write_file(test_path(directory, "d/w"), "in", 2);
    expect(symlink("../s", test_path(directory, "l")) == 0, "symlink", "l");
    expect(symlink("..", test_path(directory, "u")) == 0, "symlink", "u");
    expect(link(test_path(top, "s"), test_path(directory, "h")) == 0, "link", "h");
    model = test_path(directory, "m.onnx");
}

/* The only locations that open, said another way: "w" or "d/w", with any "." and '/' strewn in. */
static bool is_inside(const char *location) {
    char parts[2][4] = { "", "" };
    size_t count = 0;
    const char *at = location;
    if (*at == '/') return false;
    while (*at != '\0') {
        size_t length = strcspn(at, "/");
        bool is_ignored = length == 0 || (length == 1 && *at == '.');
        if (!is_ignored && (count == 2 || length > 3)) return false;
        if (!is_ignored) memcpy(parts[count++], at, length);
        at += length;
        if (*at == '/' && at[1] == '\0') return false;
        if (is_ignored && *at == '\0') return false;
        at += *at == '/';
    }
    return (count == 1 && strcmp(parts[0], "w") == 0) ||
           (count == 2 && strcmp(parts[0], "d") == 0 && strcmp(parts[1], "w") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (model == NULL) build();
    char *location = malloc(size + 1);
    if (location == NULL) return 0;
    if (size > 0) memcpy(location, data, size);
    location[size] = '\0';
    tare_file file;
    tare_error err = { 0 };
    tare_status status = tare_file_open_beneath(&file, model, location, false, &err);
    if (status == TARE_OK) {
        expect(file.size == 2 && memcmp(file.data, "in", 2) == 0, "opened what is outside", location);
        expect(is_inside(location), "opened", location);
    } else {
        expect(status == TARE_E_LIMIT || strlen(location) > TARE_LOCATION_MAX || !is_inside(location), "refused",
               location);
        expect(err.text[0] != '\0' && err.status == status, "no text for", location);
    }
    tare_file_close(&file);
    free(location);
    return 0;
}
