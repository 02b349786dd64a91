/* Field tables: defaults of every type, finding, comparing. */
#include "base/field.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "support/support.h"

typedef struct record {
    bool flag;
    int64_t count;
    float ratio;
    double exact;
    const char *name;
    int mode;
    tare_ints axes;
    tare_floats scales;
    tare_strings labels;
    const void *tensor;
    void *body;
} record;

static const char *const modes[] = { "nearest", "linear", "cubic", NULL };

static const tare_field fields[] = {
    { .name = "flag", .type = TARE_FIELD_BOOL, .offset = offsetof(record, flag), .fallback.i = 1 },
    { .name = "count", .type = TARE_FIELD_INT, .offset = offsetof(record, count), .fallback.i = INT64_MIN },
    { .name = "ratio", .type = TARE_FIELD_FLOAT, .offset = offsetof(record, ratio), .fallback.f = 1e-5 },
    { .name = "exact", .type = TARE_FIELD_DOUBLE, .offset = offsetof(record, exact), .fallback.f = 99.99 },
    { .name = "name", .type = TARE_FIELD_STRING, .offset = offsetof(record, name), .fallback.s = "auto" },
    { .name = "mode", .type = TARE_FIELD_ENUM, .offset = offsetof(record, mode), .fallback.i = 1, .names = modes },
    { .name = "axes", .type = TARE_FIELD_INTS, .offset = offsetof(record, axes) },
    { .name = "scales", .type = TARE_FIELD_FLOATS, .offset = offsetof(record, scales) },
    { .name = "labels", .type = TARE_FIELD_STRINGS, .offset = offsetof(record, labels) },
    { .name = "tensor", .type = TARE_FIELD_TENSOR, .offset = offsetof(record, tensor) },
    { .name = "body", .type = TARE_FIELD_GRAPH, .offset = offsetof(record, body) },
    { .type = TARE_FIELD_END },
};
enum { FIELDS = sizeof fields / sizeof *fields - 1 };

static record fresh(void) {
    record r;
    memset(&r, 0xa5, sizeof r);
    tare_fields_set_defaults(fields, &r);
    return r;
}

static void test_defaults(void **state) {
    (void)state;
    record r = fresh();
    assert_true(r.flag);
    assert_true(r.count == INT64_MIN);
    assert_true(r.ratio == 1e-5F);
    assert_true(r.exact == 99.99);
    assert_string_equal(r.name, "auto");
    assert_int_equal(r.mode, 1);
    assert_null(r.axes.at);
    assert_int_equal(r.axes.count, 0);
    assert_null(r.scales.at);
    assert_null(r.labels.at);
    assert_null(r.tensor);
    assert_null(r.body);
    for (int i = 0; i < FIELDS; i++) assert_true(tare_field_is_default(&fields[i], &r));
}

static void test_finds(void **state) {
    (void)state;
    assert_ptr_equal(tare_fields_find(fields, "flag"), &fields[0]);
    assert_ptr_equal(tare_fields_find(fields, "body"), &fields[FIELDS - 1]);
    assert_null(tare_fields_find(fields, "Flag"));
    assert_null(tare_fields_find(fields, ""));
}

/* Each member changed alone is seen, by is_default and by equal. */
static void test_a_change_of_each_member_is_seen(void **state) {
    (void)state;
    static const int64_t ints[] = { 1, 2 };
    static const float floats[] = { 0.5F };
    static const char *const strings[] = { "a" };
    for (int i = 0; i < FIELDS; i++) {
        record r = fresh(), same = fresh();
        switch (fields[i].type) {
        case TARE_FIELD_BOOL: r.flag = false; break;
        case TARE_FIELD_INT: r.count = 0; break;
        case TARE_FIELD_FLOAT: r.ratio = 0; break;
        case TARE_FIELD_DOUBLE: r.exact = 0; break;
        case TARE_FIELD_STRING: r.name = NULL; break;
        case TARE_FIELD_ENUM: r.mode = 2; break;
        case TARE_FIELD_INTS: r.axes = (tare_ints){ ints, 2 }; break;
        case TARE_FIELD_FLOATS: r.scales = (tare_floats){ floats, 1 }; break;
        case TARE_FIELD_STRINGS: r.labels = (tare_strings){ strings, 1 }; break;
        case TARE_FIELD_TENSOR: r.tensor = &r; break;
        default: r.body = &r; break;
        }
        for (int j = 0; j < FIELDS; j++) assert_int_equal(tare_field_is_default(&fields[j], &r), j != i);
        assert_true(tare_fields_equal(fields, &same, &same));
        assert_false(tare_fields_equal(fields, &r, &same));
        assert_false(tare_fields_equal(fields, &same, &r));
        record copy = r;
        assert_true(tare_fields_equal(fields, &r, &copy));
    }
}

static void test_lists_are_compared_by_what_they_hold(void **state) {
    (void)state;
    static const int64_t a[] = { 1, 2, 3 }, b[] = { 1, 2, 3 }, c[] = { 1, 2, 4 };
    record x = fresh(), y = fresh();
    x.axes = (tare_ints){ a, 3 };
    y.axes = (tare_ints){ b, 3 };
    assert_true(tare_fields_equal(fields, &x, &y));
    y.axes = (tare_ints){ b, 2 };
    assert_false(tare_fields_equal(fields, &x, &y));
    y.axes = (tare_ints){ c, 3 };
    assert_false(tare_fields_equal(fields, &x, &y));
    x.axes = (tare_ints){ a, 0 }; /* given, and empty */
    assert_false(tare_field_is_default(tare_fields_find(fields, "axes"), &x));
    y.axes = (tare_ints){ NULL, 0 };
    assert_false(tare_fields_equal(fields, &x, &y));
    const char one[] = "one", other[] = "one";
    const char *const p[] = { one }, *const q[] = { other };
    record u = fresh(), v = fresh();
    u.labels = (tare_strings){ p, 1 };
    v.labels = (tare_strings){ q, 1 };
    assert_true(tare_fields_equal(fields, &u, &v));
    u.name = one;
    v.name = other;
    assert_true(tare_fields_equal(fields, &u, &v));
}

static void test_floats_are_compared_by_bits(void **state) {
    (void)state;
    record x = fresh(), y = fresh();
    x.ratio = y.ratio = NAN;
    assert_true(tare_fields_equal(fields, &x, &y));
    x.ratio = 0.0F;
    y.ratio = -0.0F;
    assert_false(tare_fields_equal(fields, &x, &y));
}

static void test_copies_what_both_tables_have(void **state) {
    (void)state;
    static const tare_field some[] = {
        { .name = "mode", .type = TARE_FIELD_ENUM, .offset = offsetof(record, mode), .names = modes },
        { .name = "ratio", .type = TARE_FIELD_DOUBLE, .offset = offsetof(record, exact) }, /* of another type */
        { .name = "axes", .type = TARE_FIELD_INTS, .offset = offsetof(record, axes) },
        { .name = "elsewhere", .type = TARE_FIELD_INT, .offset = offsetof(record, count) },
        { .type = TARE_FIELD_END },
    };
    static const int64_t axes[] = { 3, 4 };
    record from = fresh(), to = fresh();
    from.mode = 2;
    from.count = 7;
    from.ratio = 0.5F;
    from.axes = (tare_ints){ axes, 2 };
    to.exact = 1;
    tare_fields_copy(some, &to, fields, &from);
    assert_int_equal(to.mode, 2);
    assert_ptr_equal(to.axes.at, axes);
    assert_int_equal(to.axes.count, 2);
    assert_true(to.count == INT64_MIN);
    assert_true(to.exact == 1);
    assert_true(to.ratio == 1e-5F);
}

static void test_numbers_may_be_fractions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double number;
    } good[] = { { "1/255", 1.0 / 255 }, { "-3/4", -0.75 }, { "2.5/0.5", 5 }, { "1e2/4e1", 2.5 }, { "7", 7 } };
    static const char *const bad[] = { "1/", "/2", "1/0", "1/2/3", "1/x", "1/nan", "1/inf", "1/1e999", "1e308/1e-9" };
    tare_field_store *store = tare_field_store_new();
    record r = fresh();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(tare_field_parse(tare_fields_find(fields, "exact"), &r, good[i].text, store, &err));
        assert_true(r.exact == good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error(tare_field_parse(tare_fields_find(fields, "exact"), &r, bad[i], store, &err), TARE_E_USAGE,
                     bad[i]);
    assert_ok(tare_field_parse(tare_fields_find(fields, "scales"), &r, "1/4,2", store, &err));
    assert_int_equal(r.scales.count, 2);
    assert_true(r.scales.at[0] == 0.25F && r.scales.at[1] == 2);
    tare_field_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_finds),
        cmocka_unit_test(test_a_change_of_each_member_is_seen),
        cmocka_unit_test(test_lists_are_compared_by_what_they_hold),
        cmocka_unit_test(test_floats_are_compared_by_bits),
        cmocka_unit_test(test_copies_what_both_tables_have),
        cmocka_unit_test(test_numbers_may_be_fractions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
