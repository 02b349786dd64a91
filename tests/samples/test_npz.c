/* Archives and dumps: what is written reads back, and any failure on the way leaves what was there. */
#include <string.h>

#include "samples/dump.h"
#include "support/fail_nth.h"
#include "support/support.h"

static tare_tensor make(tare_dtype dtype, int rank, const int64_t *dims, void *data) {
    tare_tensor tensor = { .dtype = dtype, .shape = tare_shape_of(rank, dims), .data = data };
    tare_tensor_size(dtype, &tensor.shape, &tensor.size);
    return tensor;
}

static void test_every_type(void **state) {
    (void)state;
    static const tare_dtype types[] = { TARE_F32, TARE_F16, TARE_F64, TARE_S8,  TARE_U8,  TARE_S16,
                                        TARE_U16, TARE_S32, TARE_U32, TARE_S64, TARE_U64, TARE_BOOL };
    const char *path = test_path(test_directory(), "a.npz");
    uint8_t bytes[48];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)(types[i] == TARE_BOOL ? k % 2 : 37 * k);
        tare_tensor x = make(types[i], 3, (const int64_t[]){ 1, 2, 3 }, bytes), *back;
        tare_tensor scalar = make(types[i], 0, NULL, bytes),
                    empty = make(types[i], 2, (const int64_t[]){ 0, 3 }, bytes);
        tare_npz_array arrays[] = { { "x", &x }, { "a/b:0 \xc3\xa9", &scalar }, { "e", &empty } };
        assert_ok(tare_npz_write(path, arrays, 3, &err));
        tare_npz *npz;
        tare_arena *arena = tare_arena_new();
        assert_ok(tare_npz_open(&npz, path, &err));
        assert_int_equal(tare_npz_count(npz), 3);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(tare_npz_find(npz, arrays[k].name), k);
            assert_ok(tare_npz_read(npz, k, arena, &back, &err));
            assert_int_equal(back->dtype, types[i]);
            assert_true(tare_shape_equal(&back->shape, &arrays[k].tensor->shape));
            assert_memory_equal(back->data, bytes, back->size);
        }
        assert_int_equal(tare_npz_find(npz, "none"), SIZE_MAX);
        tare_npz_close(npz);
        tare_arena_free(arena);
    }
}

static void test_types_that_numpy_lacks(void **state) {
    (void)state;
    const char *path = test_path(test_directory(), "a.npz");
    uint16_t numbers[] = { tare_f32_to_bf16(1.5f), tare_f32_to_bf16(-3.0f) };
    tare_tensor brain = make(TARE_BF16, 1, (const int64_t[]){ 2 }, numbers), *back;
    tare_npz_array array = { "x", &brain };
    tare_npz *npz;
    tare_arena *arena = tare_arena_new();
    assert_ok(tare_npz_write(path, &array, 1, &err));
    assert_ok(tare_npz_open(&npz, path, &err));
    assert_ok(tare_npz_read(npz, 0, arena, &back, &err));
    assert_int_equal(back->dtype, TARE_F32);
    assert_true(((float *)back->data)[0] == 1.5f && ((float *)back->data)[1] == -3.0f);
    tare_npz_close(npz);
    tare_arena_free(arena);
    tare_tensor text = make(TARE_STRING, 1, (const int64_t[]){ 1 }, numbers);
    array.tensor = &text;
    assert_error(tare_npz_write(path, &array, 1, &err), TARE_E_UNSUPPORTED, "array 'x': an .npz cannot hold string");
    array = (tare_npz_array){ "\xff", &brain };
    assert_error(tare_npz_write(path, &array, 1, &err), TARE_E_UNSUPPORTED, "UTF-8");
}

/* A file that was there stays as it was until the new one is whole. */
typedef struct write_trial {
    const char *directory, *path, *whole; /* whole: another file that holds what is written */
    tare_npz_array array;
} write_trial;

static tare_status write_archive(void *context, tare_error *err) {
    write_trial *t = context;
    test_write_file(t->path, "old", 3);
    return tare_npz_write(t->path, &t->array, 1, err);
}

static void check_old_or_new(void *context, bool has_failed) {
    write_trial *t = context;
    assert_int_equal(test_count_entries(t->directory), 1);
    tare_file whole;
    assert_ok(tare_file_open(&whole, t->whole, &err));
    bool is_new = test_file_is(t->path, whole.data, whole.size);
    tare_file_close(&whole);
    assert_true(is_new || (has_failed && test_file_is(t->path, "old", 3)));
}

static void test_failures_of_writing(void **state) {
    (void)state;
    float numbers[6] = { 1, 2, 3, 4, 5, 6 };
    tare_tensor x = make(TARE_F32, 2, (const int64_t[]){ 2, 3 }, numbers);
    write_trial t = { .directory = test_directory(), .array = { "x", &x } };
    t.path = test_path(t.directory, "a.npz");
    t.whole = test_path(test_directory(), "b.npz");
    assert_ok(tare_npz_write(t.whole, &t.array, 1, &err));
    assert_true(test_fail_allocations(write_archive, &t) > 3);
    assert_true(test_fail_file_calls(write_archive, &t, EIO, check_old_or_new) > 3);
}

static tare_status read_archive(void *context, tare_error *err) {
    tare_npz *npz;
    tare_tensor *tensor;
    TARE_TRY(tare_npz_open(&npz, context, err));
    tare_arena *arena = tare_arena_new();
    tare_status status = arena == NULL ? tare_fail_memory(err, 0) : tare_npz_read(npz, 0, arena, &tensor, err);
    tare_arena_free(arena);
    tare_npz_close(npz);
    return status;
}

static void test_failures_of_reading(void **state) {
    (void)state;
    assert_true(test_fail_allocations(read_archive, (char *)(uintptr_t)test_source("tests/fuzz/corpus/npz/deflated")) >
                3);
}

static void add(tare_dump_writer *dump, const char *id, float number) {
    tare_tensor x = make(TARE_F32, 1, (const int64_t[]){ 1 }, &number);
    tare_npz_array array = { "x", &x };
    assert_ok(tare_dump_add(dump, id, &array, 1, &err));
}

static void test_dump(void **state) {
    (void)state;
    const char *folder = test_path(test_directory(), "dump");
    tare_dump_writer *writer;
    tare_dump *dump;
    assert_ok(tare_dump_begin(&writer, folder, &err));
    assert_error(tare_dump_open(&dump, folder, &err), TARE_E_MALFORMED, "cut short");
    add(writer, "b", 2);
    add(writer, "a:1", 1);
    assert_ok(tare_dump_end(writer, TARE_OK, &err));
    assert_true(test_file_is(test_path(folder, "list.txt"), "a:1.npz\nb.npz\n", 14));
    assert_ok(tare_dump_open(&dump, folder, &err));
    assert_int_equal(tare_dump_count(dump), 2);
    assert_string_equal(tare_dump_id(dump, 1), "b");
    assert_int_equal(tare_dump_find(dump, "b"), 1);
    assert_int_equal(tare_dump_find(dump, "a:1"), 0);
    assert_int_equal(tare_dump_find(dump, "c"), SIZE_MAX);
    tare_npz *npz;
    assert_ok(tare_dump_get(dump, 0, &npz, &err));
    assert_string_equal(tare_npz_name(npz, 0), "x");
    tare_npz_close(npz);
    tare_dump_close(dump);

    assert_ok(tare_dump_open(&dump, test_path(folder, "b.npz"), &err)); /* one file is a dump of one sample */
    assert_true(tare_dump_is_single(dump));
    assert_int_equal(tare_dump_count(dump), 1);
    assert_string_equal(tare_dump_id(dump, 0), "b");
    assert_ok(tare_dump_get(dump, 0, &npz, &err));
    tare_npz_close(npz);
    tare_dump_close(dump);
    assert_error(tare_dump_open(&dump, test_path(folder, "list.txt"), &err), TARE_E_USAGE, "is no .npz");
    assert_error(tare_dump_open(&dump, test_path(folder, "c.npz"), &err), TARE_E_IO, "no directory");

    assert_ok(
        tare_dump_begin(&writer, folder, &err)); /* a run that fails leaves no list that could be taken for whole */
    tare_error kept = { .status = TARE_E_LIMIT };
    assert_int_equal(tare_dump_end(writer, TARE_E_LIMIT, &kept), TARE_E_LIMIT);
    assert_error(tare_dump_open(&dump, folder, &err), TARE_E_MALFORMED, "cut short");
}

static void test_dumps_of_others(void **state) {
    (void)state;
    const char *folder = test_directory();
    tare_dump *dump;
    assert_error(tare_dump_open(&dump, folder, &err), TARE_E_USAGE, "is no dump: wanted <id>.npz");
    test_write_file(test_path(folder, "2.npz"), "", 0);
    test_write_file(test_path(folder, "10.npz"), "", 0);
    test_write_file(test_path(folder, "notes"), "", 0);
    assert_ok(tare_dump_open(&dump, folder, &err));
    assert_int_equal(tare_dump_count(dump), 2);
    assert_string_equal(tare_dump_id(dump, 0), "10");
    tare_npz *npz;
    assert_error(tare_dump_get(dump, 0, &npz, &err), TARE_E_MALFORMED, "10.npz: is no .npz file");
    tare_dump_close(dump);
    static const struct {
        const char *list, *part;
    } bad[] = { { "a.npz\n../b.npz\n", "line 2: '../b.npz'" },
                { "x.txt\n", "line 1" },
                { "a.npz\na.npz", "'a.npz' twice" } };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_write_file(test_path(folder, "list.txt"), bad[i].list, strlen(bad[i].list));
        assert_error(tare_dump_open(&dump, folder, &err), TARE_E_MALFORMED, bad[i].part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_types_that_numpy_lacks),
        cmocka_unit_test(test_failures_of_writing),
        cmocka_unit_test(test_failures_of_reading),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_dumps_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
