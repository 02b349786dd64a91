/* Files from strangers: every prefix and every changed byte of good ones. Prefixes must be refused; a changed byte may
 * be harmless, but never harm: the sanitizers see to that. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "samples/image.h"
#include "samples/npz.h"
#include "support/support.h"

typedef tare_status reader(const uint8_t *bytes, size_t size, tare_error *err);

static tare_status read_npy(const uint8_t *bytes, size_t size, tare_error *err) {
    tare_npy npy;
    return tare_npy_parse(&npy, bytes, size, size, err);
}

static tare_status read_npz(const uint8_t *bytes, size_t size, tare_error *err) {
    tare_npz *npz;
    tare_status status = tare_npz_open_bytes(&npz, bytes, size, err);
    if (status != TARE_OK) return status;
    for (size_t i = 0; i < tare_npz_count(npz) && status == TARE_OK; i++) {
        tare_arena *arena = tare_arena_new();
        tare_tensor *tensor;
        status = tare_npz_read(npz, i, arena, &tensor, err);
        tare_arena_free(arena);
    }
    tare_npz_close(npz);
    return status;
}

static tare_status read_image(const uint8_t *bytes, size_t size, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_image image;
    tare_image_facts facts;
    tare_status status = tare_image_decode(&image, &facts, bytes, size, arena, err);
    tare_arena_free(arena);
    return status;
}

static bool is_expected(tare_status status) {
    return status == TARE_E_MALFORMED || status == TARE_E_UNSUPPORTED || status == TARE_E_LIMIT;
}

static void check_prefix(reader *read, const char *name, const uint8_t *bytes, size_t size) {
    tare_error err = { 0 };
    uint8_t *copy = malloc(size + 1); /* its own block, so that a sanitizer sees its end */
    memcpy(copy, bytes, size);
    tare_status status = read(copy, size, &err);
    free(copy);
    if (!is_expected(status)) fail_msg("%s cut to %zu bytes: status %d (%s)", name, size, status, err.text);
    if (err.text[0] == '\0') fail_msg("%s cut to %zu bytes: no text", name, size);
}

static void check_flip(reader *read, const char *name, uint8_t *bytes, size_t size, size_t at, uint8_t mask) {
    tare_error err = { 0 };
    bytes[at] ^= mask;
    tare_status status = read(bytes, size, &err);
    bytes[at] ^= mask;
    if (status != TARE_OK && !is_expected(status)) fail_msg("%s, byte %zu: status %d (%s)", name, at, status, err.text);
}

static void check_file(reader *read, const char *target, const char *name) {
    static const uint8_t masks[] = { 0x01, 0x80, 0xff };
    tare_file file;
    assert_ok(tare_file_open(&file, test_path(test_source("tests/fuzz/corpus"), test_path(target, name)), &err));
    uint8_t *bytes = malloc(file.size);
    size_t size = file.size, live = tare_memory_live();
    memcpy(bytes, file.data, size);
    assert_ok(read(bytes, size, &err));
    for (size_t cut = 0; cut < size; cut++) check_prefix(read, name, bytes, cut);
    for (size_t at = 0; at < size; at++) {
        for (size_t i = 0; i < sizeof masks; i++) check_flip(read, name, bytes, size, at, masks[i]);
    }
    assert_int_equal(tare_memory_live(), live);
    free(bytes);
    tare_file_close(&file);
}

static void check_files(reader *read, const char *target, const char *const *names) {
    for (; *names; names++) check_file(read, target, *names);
}

static void test_npy(void **state) {
    (void)state;
    static const char *const names[] = { "f4", "f4_big", "fortran", "version2", "version3", "scalar", NULL };
    check_files(read_npy, "npy", names);
}

static void test_npz(void **state) {
    (void)state;
    static const char *const names[] = { "stored", "deflated", "mixed", NULL };
    check_files(read_npz, "npz", names);
}

static void test_png(void **state) {
    (void)state;
    static const char *const names[] = { "png_1",    "png_L",   "png_LA",          "png_P", "png_RGB",
                                         "png_RGBA", "png_I16", "png_transparent", NULL };
    check_files(read_image, "image", names);
}

static void test_jpeg(void **state) {
    (void)state;
    static const char *const names[] = { "jpeg_420",    "jpeg_444", "jpeg_progressive", "jpeg_rgb", "jpeg_gray",
                                         "jpeg_turned", NULL };
    check_files(read_image, "image", names);
}

/* A header that says a large picture, with nothing behind it, takes no memory for its pixels. */
static void test_bombs(void **state) {
    (void)state;
    static const uint8_t png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x27\x10\0\0\x27\x10\x08\x02\0\0\0\xd4\x36\x47\x60";
    tare_memory_set_cap(tare_memory_live() + (4 << 20));
    tare_error err = { 0 };
    assert_int_equal(read_image(png, sizeof png - 1, &err), TARE_E_MALFORMED);
    tare_memory_set_cap(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy),  cmocka_unit_test(test_npz),   cmocka_unit_test(test_png),
        cmocka_unit_test(test_jpeg), cmocka_unit_test(test_bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
