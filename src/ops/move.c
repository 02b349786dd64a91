/* Strided copies: dimensions are merged first, then rows are copied by run, repeat or stride, or in tiles when the
 * innermost dimensions of the two arrays differ. */
#include "ops/move.h"

#include <assert.h>
#include <string.h>

enum {
    TILE = 64,               /* a tile of 4-byte elements is 16 KiB in either array: half an L1 cache */
    BLOCK = 16,              /* of other sizes, squares of a tile that are done one after the other */
    CHUNK_BYTES = 128 * 1024 /* less than this is not worth waking a thread */
};

void tare_move_dense(tare_move *move) {
    int64_t stride = 1;
    for (int i = move->rank - 1; i >= 0; i--) {
        move->to_stride[i] = stride;
        stride *= move->dim[i];
    }
}

/* The element size is a constant wherever these are called, so that each becomes a loop of plain loads and stores. */
static inline void copy_strided(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                                size_t size) {
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * to_step * (int64_t)size, from + i * from_step * (int64_t)size, size);
}

/* to[i][j] = from[j][i]: rows of `to` are `to_step` apart, rows of `from` `from_step`. */
static inline void copy_tile(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                             int64_t columns, size_t size) {
    const int64_t bytes = (int64_t)size;
    if (columns < 4) {
        for (int64_t j = 0; j < columns; j++)
            copy_strided(to + j * bytes, to_step, from + j * from_step * bytes, 1, rows, size);
        return;
    }
    for (int64_t x = 0; x < rows; x += BLOCK)
        for (int64_t y = 0; y < columns; y += BLOCK)
            for (int64_t i = x; i < x + BLOCK && i < rows; i++)
                copy_strided(to + (i * to_step + y) * bytes, 1, from + (i + y * from_step) * bytes, from_step,
                             columns - y < BLOCK ? columns - y : BLOCK, size);
}

/* copy_tile for 4-byte elements, the usual ones: the kernels do it in registers. */
static void copy_tile_4(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t columns) {
    if (columns < 4 || from_step < 0) {
        copy_tile(to, to_step, from, from_step, rows, columns, 4);
        return;
    }
    tare_kernels_for(tare_cpu_detect())
        ->transpose_32((uint32_t *)(void *)to, (size_t)to_step, (const uint32_t *)(const void *)from, (size_t)from_step,
                       (size_t)columns, (size_t)rows);
}

void tare_move_fill(void *to, const void *element, size_t size, int64_t count) {
    switch (size) {
    case 1: memset(to, *(const unsigned char *)element, (size_t)count); break;
    case 2: copy_strided(to, 1, element, 0, count, 2); break;
    case 4: copy_strided(to, 1, element, 0, count, 4); break;
    default: copy_strided(to, 1, element, 0, count, 8); break;
    }
}

static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count, size_t size) {
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, (size_t)count * size);
    } else if (to_step == 1 && from_step == 0) {
        tare_move_fill(to, from, size, count);
    } else {
        switch (size) {
        case 1: copy_strided(to, to_step, from, from_step, count, 1); break;
        case 2: copy_strided(to, to_step, from, from_step, count, 2); break;
        case 4: copy_strided(to, to_step, from, from_step, count, 4); break;
        default: copy_strided(to, to_step, from, from_step, count, 8); break;
        }
    }
}

/* Drops dimensions of 1 and joins neighbours that lie behind one another in both arrays. False: nothing to copy. */
static bool merge_dims(tare_move *out, const tare_move *in) {
    *out = *in;
    out->rank = 0;
    for (int i = 0; i < in->rank; i++) {
        if (in->dim[i] == 0) return false;
        if (in->dim[i] == 1) continue;
        int last = out->rank - 1;
        if (last >= 0 && out->to_stride[last] == in->dim[i] * in->to_stride[i] &&
            out->from_stride[last] == in->dim[i] * in->from_stride[i]) {
            out->dim[last] *= in->dim[i];
        } else {
            last = out->rank++;
            out->dim[last] = in->dim[i];
        }
        out->to_stride[last] = in->to_stride[i];
        out->from_stride[last] = in->from_stride[i];
    }
    if (out->rank == 0) {
        out->rank = 1;
        out->dim[0] = out->to_stride[0] = out->from_stride[0] = 1;
    }
    return true;
}

/* Work is counted in rows: all dimensions but the innermost one, or two when tiled; of the first of those two a row takes
 * a block of TILE, so that one big matrix is work for many threads as well. */
typedef struct copy_job {
    const tare_move *move;
    int row_rank;      /* dimensions 0…row_rank-1 count rows */
    bool tiled;        /* the last two: `from` is contiguous along the first of them, `to` along the second */
    int64_t rows;      /* in all */
    int64_t per_chunk; /* rows of one piece of work */
} copy_job;

/* `rows` of the last dimension but one, at most a tile's height, by all of the last one. */
static void copy_block(const tare_move *move, char *to, const char *from, int64_t rows) {
    int x = move->rank - 2, y = move->rank - 1;
    int64_t to_step = move->to_stride[x], from_step = move->from_stride[y], size = (int64_t)move->size;
    for (int64_t j = 0; j < move->dim[y]; j += TILE) {
        int64_t columns = move->dim[y] - j < TILE ? move->dim[y] - j : TILE;
        char *tile_to = to + j * size;
        const char *tile_from = from + j * from_step * size;
        switch (size) {
        case 1: copy_tile(tile_to, to_step, tile_from, from_step, rows, columns, 1); break;
        case 2: copy_tile(tile_to, to_step, tile_from, from_step, rows, columns, 2); break;
        case 4: copy_tile_4(tile_to, to_step, tile_from, from_step, rows, columns); break;
        default: copy_tile(tile_to, to_step, tile_from, from_step, rows, columns, 8); break;
        }
    }
}

/* Rows in the index-th block: the last one may be lower. */
static int64_t block_rows(const tare_move *move, int64_t index) {
    int64_t rest = move->dim[move->rank - 2] - index * TILE;
    return rest < TILE ? rest : TILE;
}

static void copy_rows(void *context, size_t index, size_t thread) {
    (void)thread;
    const copy_job *job = context;
    const tare_move *move = job->move;
    int64_t first = (int64_t)index * job->per_chunk;
    int64_t end = first + job->per_chunk < job->rows ? first + job->per_chunk : job->rows;
    int64_t at[TARE_MOVE_RANK], to = 0, from = 0, rest = first;
    for (int i = job->row_rank - 1; i >= 0; i--) {
        at[i] = rest % move->dim[i];
        rest /= move->dim[i];
        to += at[i] * move->to_stride[i];
        from += at[i] * move->from_stride[i];
    }
    int64_t size = (int64_t)move->size;
    int inner = move->rank - 1;
    for (int64_t row = first; row < end; row++) {
        char *row_to = (char *)move->to + to * size;
        const char *row_from = (const char *)move->from + from * size;
        if (job->tiled)
            copy_block(move, row_to, row_from, block_rows(move, at[job->row_rank - 1]));
        else
            copy_row(row_to, move->to_stride[inner], row_from, move->from_stride[inner], move->dim[inner], move->size);
        for (int i = job->row_rank - 1; i >= 0; i--) {
            to += move->to_stride[i];
            from += move->from_stride[i];
            if (++at[i] < move->dim[i]) break;
            to -= at[i] * move->to_stride[i];
            from -= at[i] * move->from_stride[i];
            at[i] = 0;
        }
    }
}

static void swap_dims(tare_move *move, int a, int b) {
    int64_t dim = move->dim[a], to = move->to_stride[a], from = move->from_stride[a];
    move->dim[a] = move->dim[b], move->to_stride[a] = move->to_stride[b], move->from_stride[a] = move->from_stride[b];
    move->dim[b] = dim, move->to_stride[b] = to, move->from_stride[b] = from;
}

/* The dimension along which `from` is contiguous, when tiles along it and the innermost one pay; else -1. */
static int tile_dim(const tare_move *move) {
    int inner = move->rank - 1;
    if (move->to_stride[inner] != 1 || move->from_stride[inner] == 1 || move->from_stride[inner] == 0) return -1;
    for (int i = inner - 1; i >= 0; i--)
        if (move->from_stride[i] == 1 && move->dim[i] > 3) return i;
    return -1;
}

/* Puts the number of blocks before the last two dimensions. */
static void count_blocks(tare_move *move) {
    int x = move->rank - 2;
    for (int i = move->rank; i > x; i--) {
        move->dim[i] = move->dim[i - 1];
        move->to_stride[i] = move->to_stride[i - 1];
        move->from_stride[i] = move->from_stride[i - 1];
    }
    move->rank++;
    move->dim[x] = (move->dim[x + 1] + TILE - 1) / TILE;
    move->to_stride[x] = move->to_stride[x + 1] * TILE;
    move->from_stride[x] = TILE;
}

void tare_move_run(const tare_move *given, tare_pool *pool) {
    assert(given->rank >= 0 && given->rank <= TARE_MOVE_RANK);
    tare_move move;
    if (!merge_dims(&move, given)) return;
    int tile = move.rank < TARE_MOVE_RANK ? tile_dim(&move) : -1;
    if (tile >= 0) {
        /* The order of the outer dimensions is free. */
        for (int i = tile; i < move.rank - 2; i++) swap_dims(&move, i, i + 1);
        count_blocks(&move);
    }
    copy_job job = { .move = &move, .tiled = tile >= 0, .row_rank = move.rank - (tile >= 0 ? 2 : 1), .rows = 1 };
    int64_t row_bytes = (int64_t)move.size;
    for (int i = 0; i < job.row_rank; i++) job.rows *= move.dim[i];
    row_bytes *= move.dim[move.rank - 1] * (tile >= 0 ? TILE : 1);
    job.per_chunk = CHUNK_BYTES / row_bytes;
    if (job.per_chunk < 1) job.per_chunk = 1;
    size_t chunks = (size_t)((job.rows + job.per_chunk - 1) / job.per_chunk);
    tare_pool_run(chunks > 1 ? pool : NULL, chunks, copy_rows, &job);
}

void tare_move_bytes(void *to, const void *from, size_t bytes, tare_pool *pool) {
    int64_t pieces = (int64_t)(bytes / CHUNK_BYTES);
    tare_move move = { .to = to,
                       .from = from,
                       .size = 1,
                       .rank = 2,
                       .dim = { pieces, CHUNK_BYTES },
                       .to_stride = { CHUNK_BYTES, 1 },
                       .from_stride = { CHUNK_BYTES, 1 } };
    size_t whole = (size_t)pieces * CHUNK_BYTES;
    copy_job job = { .move = &move, .row_rank = 1, .rows = pieces, .per_chunk = 1 };
    if (pieces) tare_pool_run(pool, (size_t)pieces, copy_rows, &job);
    if (bytes > whole) memcpy((char *)to + whole, (const char *)from + whole, bytes - whole);
}

tare_status tare_run_copy(const tare_call *call, tare_error *err) {
    (void)err;
    const tare_tensor *from = call->inputs[0];
    tare_tensor *to = call->outputs[0];
    if (to && to->data != from->data) tare_move_bytes(to->data, from->data, from->size, call->pool);
    return TARE_OK;
}
