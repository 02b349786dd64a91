/* The door: threads, memory, failures of every allocation; labels. What is read is compared in Python with numpy and
 * others. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "samples/labels.h"
#include "samples/npz.h"
#include "support/fail_nth.h"
#include "support/support.h"

static tare_model *new_model(const char *name, tare_dtype dtype, int rank, const int64_t *dims) {
    tare_model *model;
    tare_value *value;
    assert_ok(tare_model_new(&model, &err));
    assert_ok(tare_graph_add_value(model->graph, name, &value, &err));
    value->dtype = dtype;
    value->shape = tare_shape_of(rank, dims);
    assert_ok(tare_graph_add_input(model->graph, value, &err));
    return model;
}

/* 40 samples of 1000 numbers, s * 1000 + i. */
enum { MANY = 40, LONG = 1000 };
static tare_model *new_line_model(void) {
    return new_model("x", TARE_F32, 2, (const int64_t[]){ TARE_DIM_UNKNOWN, LONG });
}

static void write_line_archive(const char *path) {
    static float numbers[MANY * LONG];
    for (int i = 0; i < MANY * LONG; i++) numbers[i] = (float)i;
    tare_tensor tensor = { .dtype = TARE_F32, .data = numbers, .size = sizeof numbers };
    tensor.shape = tare_shape_of(2, (const int64_t[]){ MANY, LONG });
    tare_npz_array array = { "x", &tensor };
    assert_ok(tare_npz_write(path, &array, 1, &err));
}

static tare_samples *open_one(const tare_model *model, const char *path) {
    tare_samples *samples;
    tare_source source = { .path = path };
    assert_ok(tare_samples_open(&samples, model, &source, 1, NULL, NULL, &err));
    return samples;
}

/* ---- threads ---- */

typedef struct reader {
    const tare_samples *samples;
    size_t start;
    bool is_right;
} reader;

static void *read_all(void *context) {
    reader *r = context;
    r->is_right = true;
    for (size_t i = 0; i < MANY && r->is_right; i++) {
        tare_arena *arena = tare_arena_new();
        size_t index = (r->start + i) % MANY;
        tare_sample sample;
        tare_error err = { 0 };
        r->is_right = arena != NULL && tare_samples_get(r->samples, index, arena, &sample, &err) == TARE_OK;
        const float *numbers = r->is_right ? sample.inputs[0]->data : NULL;
        for (size_t k = 0; k < LONG; k++) r->is_right = r->is_right && numbers[k] == (float)(index * LONG + k);
        tare_arena_free(arena);
    }
    return NULL;
}

static void check_threads(const char *path) {
    tare_model *model = new_line_model();
    tare_samples *samples = open_one(model, path);
    assert_int_equal(tare_samples_count(samples), MANY);
    pthread_t threads[4];
    reader readers[4];
    for (size_t t = 0; t < 4; t++) {
        readers[t] = (reader){ samples, t * 11, false };
        assert_int_equal(pthread_create(&threads[t], NULL, read_all, &readers[t]), 0);
    }
    for (size_t t = 0; t < 4; t++) pthread_join(threads[t], NULL);
    for (size_t t = 0; t < 4; t++) assert_true(readers[t].is_right);
    tare_samples_close(samples);
    tare_model_free(model);
}

static void test_threads(void **state) {
    (void)state;
    const char *path = test_path(test_directory(), "a.npz");
    write_line_archive(path);
    check_threads(path);
    check_threads(test_source("tests/samples/data/lines_deflated.npz"));
}

/* ---- memory ---- */

static void test_memory_does_not_grow(void **state) {
    (void)state;
    const char *path = test_path(test_directory(), "a.npz");
    write_line_archive(path);
    tare_model *model = new_line_model();
    tare_samples *samples = open_one(model, path);
    reader r = { .samples = samples };
    size_t before = tare_memory_live();
    read_all(&r);
    assert_true(r.is_right);
    assert_int_equal(tare_memory_live(), before);
    tare_memory_set_cap(before + 80 * 1024); /* half of all samples, with room for one */
    read_all(&r);
    tare_memory_set_cap(0);
    assert_true(r.is_right);
    tare_samples_close(samples);
    tare_model_free(model);
}

/* ---- failures ---- */

typedef struct open_trial {
    const tare_model *model;
    tare_source source;
} open_trial;

static tare_status open_and_read(void *context, tare_error *err) {
    const open_trial *t = context;
    tare_samples *samples;
    TARE_TRY(tare_samples_open(&samples, t->model, &t->source, 1, NULL, NULL, err));
    tare_arena *arena = tare_arena_new();
    tare_sample sample;
    tare_status status = arena == NULL ? tare_fail_memory(err, 0) : TARE_OK;
    for (size_t i = 0; i < tare_samples_count(samples) && i < 3 && status == TARE_OK; i++) {
        status = tare_samples_get(samples, i, arena, &sample, err);
    }
    tare_text text = { .arena = arena };
    if (status == TARE_OK) status = tare_samples_print(samples, &text, err);
    tare_arena_free(arena);
    tare_samples_close(samples);
    return status;
}

static void check_failures(tare_model *model, const char *path, const char *resize, uint64_t least_file_calls) {
    open_trial t = { .model = model, .source = { .path = path, .preprocess = { .resize = resize } } };
    assert_true(test_fail_allocations(open_and_read, &t) > 5);
    assert_true(test_fail_file_calls(open_and_read, &t, EIO, NULL) >= least_file_calls);
    tare_model_free(model);
}

static void test_every_failure(void **state) {
    (void)state;
    check_failures(new_line_model(), test_source("tests/samples/data/lines_deflated.npz"), NULL, 2);
    const char *folder = test_directory(), *path = test_path(folder, "list.txt");
    write_line_archive(test_path(folder, "a.npz"));
    check_failures(new_line_model(), test_path(folder, "a.npz"), NULL, 2);
    const int64_t picture[] = { 1, 3, 20, 30 };
    tare_file file;
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.png", i);
        assert_ok(tare_file_open(&file, test_source("tests/fuzz/corpus/image/png_RGB"), &err));
        test_write_file(test_path(folder, name), file.data, file.size);
        tare_file_close(&file);
    }
    test_write_file(path, "0.png\n1.png\n2.png\n", 18);
    static const char *const resizes[] = { "30x20", "30x20:opencv:fit", "30x20:skimage" };
    for (size_t i = 0; i < 3; i++) check_failures(new_model("x", TARE_F32, 4, picture), path, resizes[i], 8);
    check_failures(new_model("x", TARE_F32, 4, picture), "random:4", NULL, 0);
}

/* ---- labels ---- */

static tare_labels *open_labels(const tare_samples *samples, const char *text) {
    const char *path = test_path(test_directory(), "labels.csv");
    tare_labels *labels;
    test_write_file(path, text, strlen(text));
    assert_ok(tare_labels_open(&labels, path, samples, &err));
    return labels;
}

static void check_labels(const tare_samples *samples, const char *text, const int64_t *wanted) {
    tare_labels *labels = open_labels(samples, text);
    for (size_t i = 0; i < tare_samples_count(samples); i++) assert_int_equal(tare_labels_at(labels, i), wanted[i]);
    assert_int_equal(tare_labels_highest(labels), 7);
    tare_labels_close(labels);
}

static void refuse_labels(const tare_samples *samples, const char *text, tare_status status, const char *part) {
    const char *path = test_path(test_directory(), "labels.csv");
    tare_labels *labels;
    test_write_file(path, text, strlen(text));
    assert_error(tare_labels_open(&labels, path, samples, &err), status, part);
}

static void test_labels_by_name(void **state) {
    (void)state;
    const char *folder = test_directory(), *list = test_path(folder, "list.txt");
    static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}\n";
    char header[sizeof text + 10] = "\x93NUMPY\1";
    header[8] = (char)(sizeof text - 1);
    memcpy(header + 10, text, sizeof text);
    static const char *const names[] = { "b.npy", "a.npy", "c, d.npy" };
    uint8_t bytes[sizeof header + 3];
    memcpy(bytes, header, sizeof header - 1);
    memset(bytes + sizeof header - 1, 0, 4);
    for (size_t i = 0; i < 3; i++) test_write_file(test_path(folder, names[i]), bytes, sizeof bytes);
    test_write_file(list, "b.npy\na.npy\nc, d.npy\n", 21);
    tare_model *model = new_model("x", TARE_F32, 2, (const int64_t[]){ 1, 1 });
    tare_samples *samples = open_one(model, list);
    const int64_t wanted[] = { 7, 3, 0 }; /* a, b, 'c, d' */
    check_labels(samples, "file,label,use\nb.npy,3,calib\nx/a.jpg,7,eval\n\"c, d.npy\",0,eval\nother.npy,9,eval\n",
                 wanted);
    check_labels(samples, "\xef\xbb\xbflabel,id\r\n7,a\r\n3,b\r\n0,\"c, d\"", wanted);
    check_labels(samples, "label,row\n3,0\n7,1\n0,2\n", wanted); /* no names: rows of the list */
    check_labels(samples, "3\n7\n0\n", wanted);                  /* in the list's order, not the ids' */
    refuse_labels(samples, "file,label\nb.npy,3\na.npy,x\n", TARE_E_MALFORMED, "labels.csv: line 3: 'x' is no label");
    refuse_labels(samples, "file,label\nb.npy,-1\n", TARE_E_MALFORMED, "line 2: '-1' is no label");
    refuse_labels(samples, "file,label\nb.npy\n", TARE_E_MALFORMED, "line 2: has 1 columns, the header has 2");
    refuse_labels(samples, "file,label\nb.npy,3\na.npy,7\nb.npy,3\n", TARE_E_MALFORMED,
                  "line 4: sample 'b' has a label already, from line 2");
    refuse_labels(samples, "file,label\nb.npy,3\na.npy,7\n", TARE_E_USAGE, "sample 'c, d' has no label");
    refuse_labels(samples, "file,class\nb.npy,3\n", TARE_E_MALFORMED, "line 1: there is no column 'label'");
    refuse_labels(samples, "b.npy 3\na.npy 7\n", TARE_E_MALFORMED,
                  "names the columns, parted by commas, such as file,label");
    refuse_labels(samples, "file,label\nz.npy,3\ny.npy,7\n", TARE_E_USAGE,
                  "for any of the samples, whose ids are such as 'a'");
    refuse_labels(samples, "row,label\n-1,3\n", TARE_E_MALFORMED, "line 2: '-1' is no row, a whole number");
    refuse_labels(samples, "-1\n7\n0\n", TARE_E_MALFORMED, "line 1: '-1' is no label");
    refuse_labels(samples, "3.000e+00\n7.000e+00\n", TARE_E_MALFORMED, "line 1: '3.000e+00' is no label");
    refuse_labels(samples, "name,label\nb.npy,3\n", TARE_E_MALFORMED, "no column 'file', 'id' or 'row'");
    refuse_labels(samples, "file,label\n\"b.npy,3\n", TARE_E_MALFORMED, "line 2: a quote is not closed");
    refuse_labels(samples, "file,label\n\"b\".npy,3\n", TARE_E_MALFORMED, "line 2: text follows a closing quote");
    refuse_labels(samples, "3\n7\n", TARE_E_USAGE, "has no label");
    refuse_labels(samples, "3\n7\nx\n", TARE_E_MALFORMED, "line 3: 'x' is no label");
    refuse_labels(samples, "3\n7,1\n", TARE_E_MALFORMED, "line 2: has 2 columns");
    refuse_labels(samples, "", TARE_E_MALFORMED, "is empty");
    tare_samples_close(samples);
    tare_model_free(model);
}

static void test_labels_by_row(void **state) {
    (void)state;
    const char *path = test_path(test_directory(), "a.npz");
    write_line_archive(path);
    tare_model *model = new_line_model();
    tare_source source = { .path = path };
    tare_samples *samples;
    assert_ok(tare_samples_open(&samples, model, &source, 1, "2:4", NULL, &err));
    assert_true(tare_samples_are_numbered(samples));
    const int64_t wanted[] = { 7, 5 };
    check_labels(samples, "row,file,label\n0,x,1\n3,y,5\n2,z,7\n39,w,2\n40,v,2\n", wanted);
    check_labels(samples, "0\n1\n7\n5\n9\n", wanted);
    refuse_labels(samples, "row,label\n2,7\n", TARE_E_USAGE, "sample '000003' has no label");
    tare_samples_close(samples);
    tare_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_memory_does_not_grow),
        cmocka_unit_test(test_every_failure), cmocka_unit_test(test_labels_by_name),
        cmocka_unit_test(test_labels_by_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
