/* Where numbers come from, however often and in however many ways they are joined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/scheme.h"
#include "quantize/support/quantized.h"

enum { SIZE = 4 * 3 * 3 };

/* `joins` times: joined with itself, and half of that. As many ways lead back as 2 to the joins. */
static char *net_text(int joins) {
    tare_text text = { .arena = tare_arena_new() };
    tare_text_puts(&text, "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                          "g (float[1,4,3,3] x) => (float[1,4,3,3] y)\n"
                          "<int64[1] from = {0}, int64[1] to = {4}, int64[1] axis = {1}");
    quantized_add_weight(&text, "a", "4,4,1,1", 16);
    quantized_add_weight(&text, "b", "4,4,1,1", 16);
    tare_text_puts(&text, "> {\nh0 = Conv(x, a)\n");
    for (int i = 0; i < joins; i++)
        tare_text_printf(&text, "j%d = Concat<axis = 1>(h%d, h%d)\n h%d = Slice(j%d, from, to, axis)\n", i, i, i, i + 1,
                         i);
    tare_text_printf(&text, "y = Conv(h%d, b)\n }", joins);
    char *copy = strdup(text.at);
    tare_arena_free(text.arena);
    return copy;
}

static void count_source(void *context, const tare_value *value, const tare_range *range) {
    assert_string_equal(value->name, "h0");
    assert_non_null(range);
    ++*(int *)context;
}

static void test_each_source_is_visited_once(void **state) {
    (void)state;
    float numbers[SIZE];
    for (int i = 0; i < SIZE; i++) numbers[i] = (float)(i % 5) - 2;
    for (int joins = 0; joins <= 100; joins += 10) {
        char *text = net_text(joins), last[16];
        quantized *q = quantized_open(text, numbers, SIZE, NULL);
        snprintf(last, sizeof last, "h%d", joins);
        int visits = 0;
        assert_true(tare_sources_visit(q->ranges, quantized_value(q, last), count_source, &visits));
        assert_int_equal(visits, 1);
        assert_true(quantized_is_integer(q, "y"));
        quantized_close(q);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_source_is_visited_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
