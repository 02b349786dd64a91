/* Strided copies and layout conversion against the definition, over random shapes, strides, element sizes, threads. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/move.h"
#include "support/support.h"

enum { ROUNDS = 400, BYTES_MAX = 1 << 22 };

static int64_t pick(test_random *random, int64_t below) {
    return (int64_t)(test_random_next(random) % (uint64_t)below);
}

/* The definition: one element after the other. */
static void move_plainly(const tare_move *move) {
    int64_t at[TARE_MOVE_RANK] = { 0 };
    for (int i = 0; i < move->rank; i++)
        if (move->dim[i] == 0) return;
    for (;;) {
        int64_t to = 0, from = 0;
        for (int i = 0; i < move->rank; i++) {
            to += at[i] * move->to_stride[i];
            from += at[i] * move->from_stride[i];
        }
        int64_t size = (int64_t)move->size;
        memcpy((char *)move->to + to * size, (const char *)move->from + from * size, move->size);
        int i = move->rank - 1;
        while (i >= 0 && ++at[i] == move->dim[i]) at[i--] = 0;
        if (i < 0) return;
    }
}

/* A dense output, sometimes with gaps between its rows; an input whose dimensions lie in any order, some backwards, some
 * repeated. Returns the elements of the two, 0 when too many. */
static bool make_move(test_random *random, tare_move *move, int64_t *to_count, int64_t *from_first,
                      int64_t *from_count) {
    static const size_t sizes[] = { 1, 2, 4, 8 };
    int order[TARE_MOVE_RANK];
    move->size = sizes[pick(random, 4)];
    move->rank = (int)pick(random, 6);
    bool wide = pick(random, 4) == 0;
    *to_count = *from_count = 1;
    *from_first = 0;
    for (int i = 0; i < move->rank; i++) {
        move->dim[i] = wide && i == move->rank - 1 ? 1 + pick(random, 300) : 1 + pick(random, wide ? 70 : 5);
        if (pick(random, 60) == 0) move->dim[i] = 0;
        order[i] = i;
    }
    for (int i = move->rank - 1; i >= 0; i--) {
        move->to_stride[i] = *to_count;
        *to_count *= move->dim[i];
        if (pick(random, 5) == 0) *to_count += pick(random, 3);
    }
    for (int i = move->rank - 1; i > 0; i--) {
        int other = (int)pick(random, i + 1), kept = order[i];
        if (pick(random, 2)) order[i] = order[other], order[other] = kept;
    }
    for (int i = move->rank - 1; i >= 0; i--) {
        int dim = order[i];
        move->from_stride[dim] = pick(random, 8) ? *from_count : 0;
        if (move->from_stride[dim] == 0) continue;
        *from_count *= move->dim[dim] ? move->dim[dim] : 1;
        if (pick(random, 5)) continue;
        move->from_stride[dim] = -move->from_stride[dim];
        if (move->dim[dim]) *from_first += (move->dim[dim] - 1) * -move->from_stride[dim];
    }
    return *to_count <= BYTES_MAX / 8 && *from_count <= BYTES_MAX / 8;
}

static void test_moves(void **state) {
    (void)state;
    test_random random = { 7 };
    unsigned char *from = malloc(BYTES_MAX), *want = malloc(BYTES_MAX), *got = malloc(BYTES_MAX);
    tare_pool *pool = tare_pool_new(3);
    assert_non_null(pool);
    for (int i = 0; i < BYTES_MAX; i++) from[i] = (unsigned char)test_random_next(&random);
    for (int round = 0; round < ROUNDS; round++) {
        tare_move move = { 0 };
        int64_t to_count, from_first, from_count;
        if (!make_move(&random, &move, &to_count, &from_first, &from_count)) continue;
        size_t bytes = (size_t)to_count * move.size;
        move.from = from + (size_t)from_first * move.size;
        memset(want, 0xa5, bytes);
        memset(got, 0xa5, bytes);
        move.to = want;
        move_plainly(&move);
        move.to = got;
        tare_move_run(&move, round % 2 ? pool : NULL);
        if (memcmp(want, got, bytes) != 0) fail_msg("round %d differs", round);
    }
    tare_pool_free(pool);
    free(from), free(want), free(got);
}

static void test_big_transpose_on_threads(void **state) {
    (void)state;
    enum { ROWS = 517, COLUMNS = 1031 };
    float *from = malloc(sizeof(float) * ROWS * COLUMNS), *to = malloc(sizeof(float) * ROWS * COLUMNS);
    tare_pool *pool = tare_pool_new(4);
    for (int i = 0; i < ROWS * COLUMNS; i++) from[i] = (float)i;
    tare_move move = {
        .to = to, .from = from, .size = 4, .rank = 2, .dim = { COLUMNS, ROWS }, .from_stride = { 1, COLUMNS }
    };
    tare_move_dense(&move);
    tare_move_run(&move, pool);
    for (int i = 0; i < COLUMNS; i++)
        for (int j = 0; j < ROWS; j++) assert_true(to[i * ROWS + j] == (float)(j * COLUMNS + i));
    tare_pool_free(pool);
    free(from), free(to);
}

static void test_layouts(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    const int64_t first[5] = { 2, 5, 3, 4, 7 }, last[5] = { 2, 3, 4, 7, 5 };
    tare_shape first_shape = tare_shape_of(5, first), last_shape = tare_shape_of(5, last);
    tare_tensor *a, *b, *c;
    assert_ok(tare_tensor_new(arena, TARE_U16, &first_shape, &a, &err));
    assert_ok(tare_tensor_new(arena, TARE_U16, &last_shape, &b, &err));
    assert_ok(tare_tensor_new(arena, TARE_U16, &first_shape, &c, &err));
    uint16_t *numbers = a->data;
    for (int i = 0; i < 840; i++) numbers[i] = (uint16_t)i;
    tare_layout_convert(a, b, TARE_LAYOUT_LAST, NULL);
    for (int n = 0; n < 2; n++)
        for (int channel = 0; channel < 5; channel++)
            for (int s = 0; s < 84; s++)
                assert_int_equal(((uint16_t *)b->data)[(n * 84 + s) * 5 + channel],
                                 numbers[(n * 5 + channel) * 84 + s]);
    tare_layout_convert(b, c, TARE_LAYOUT_FIRST, NULL);
    assert_memory_equal(c->data, a->data, a->size);
    tare_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_big_transpose_on_threads),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
