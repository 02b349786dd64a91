/* Matrix products, cut into tiles of rows and, where these are few, into parts of the columns (product.h). */
#include "ops/product.h"

enum {
    TILE_ROWS = 192,
    TILE_ROWS_LEAST = 48, /* what the kernel takes at once */
    PART_PANELS = 4,      /* panels of columns that are worth a thread */
    PACK_GRAIN = 1 << 15  /* floats that are worth a thread's waking */
};

typedef struct job {
    const tare_product *product;
    const tare_kernels *kernels;
    size_t tiles, parts;
} job;

static size_t piece(size_t count, size_t index, size_t pieces) {
    return count / pieces * index + (count % pieces < index ? count % pieces : index);
}

static void multiply(void *context, size_t index, size_t thread) {
    const job *j = context;
    const tare_product *p = j->product;
    size_t part = index % j->parts, tile = index / j->parts % j->tiles, matrix = index / j->parts / j->tiles;
    size_t first = piece(p->rows, tile, j->tiles), rows = piece(p->rows, tile + 1, j->tiles) - first;
    size_t panels = (p->columns + TARE_PANEL - 1) / TARE_PANEL, column = piece(panels, part, j->parts) * TARE_PANEL;
    size_t end = piece(panels, part + 1, j->parts) * TARE_PANEL;
    int64_t a_matrix, b_matrix;
    const float *a[TILE_ROWS];
    (void)thread;
    tare_matrices_find(&p->matrices, (int64_t)matrix, &a_matrix, &b_matrix);
    for (size_t r = 0; r < rows; r++) a[r] = p->a + ((size_t)a_matrix * p->rows + first + r) * p->depth;
    j->kernels->gemm_f32(&(tare_gemm_f32_args){
        .rows = rows,
        .columns = (end < p->columns ? end : p->columns) - column,
        .taps = 1,
        .depth = p->depth,
        .a = a,
        .b = p->b + (size_t)b_matrix * tare_packed_f32_size(p->depth, p->columns) + column * p->depth,
        .bias = p->bias ? p->bias + column : NULL,
        .c = p->c + (matrix * p->rows + first) * p->columns + column,
        .c_stride = p->columns,
        .lo = p->lo,
        .hi = p->hi });
}

void tare_product_run(const tare_product *product, const tare_kernels *kernels, tare_pool *pool) {
    size_t threads = tare_pool_size(pool), wanted = 4 * threads;
    size_t panels = (product->columns + TARE_PANEL - 1) / TARE_PANEL;
    const size_t matrices = (size_t)tare_matrices_count(&product->matrices);
    if (matrices == 0 || product->rows == 0 || product->columns == 0) return;
    job j = { product, kernels, (product->rows + TILE_ROWS - 1) / TILE_ROWS, 1 };
    if (threads > 1 && matrices * j.tiles < wanted) {
        size_t most = (product->rows + TILE_ROWS_LEAST - 1) / TILE_ROWS_LEAST;
        size_t tiles = (wanted + matrices - 1) / matrices;
        j.tiles = tiles < most ? tiles : most;
        most = (panels + PART_PANELS - 1) / PART_PANELS;
        j.parts = (wanted + matrices * j.tiles - 1) / (matrices * j.tiles);
        if (j.parts > most) j.parts = most;
    }
    tare_pool_run(pool, matrices * j.tiles * j.parts, multiply, &j);
}

typedef struct packing {
    float *to;
    const float *from;
    size_t depth, columns, k_stride, n_stride, panels, pieces;
} packing;

/* Piece `index` of all panels of all matrices. */
static void pack(void *context, size_t index, size_t thread) {
    const packing *p = context;
    size_t per_matrix = (p->columns + TARE_PANEL - 1) / TARE_PANEL, end = piece(p->panels, index + 1, p->pieces);
    (void)thread;
    for (size_t i = piece(p->panels, index, p->pieces); i < end; i++) {
        size_t matrix = i / per_matrix, column = i % per_matrix * TARE_PANEL, left = p->columns - column;
        tare_pack_f32(p->to + i * p->depth * TARE_PANEL, p->depth,
                      p->from + matrix * p->depth * p->columns + column * p->n_stride, p->depth,
                      left < TARE_PANEL ? left : TARE_PANEL, p->k_stride, p->n_stride);
    }
}

void tare_product_pack(float *to, const float *from, size_t count, size_t depth, size_t columns, size_t k_stride,
                       size_t n_stride, tare_pool *pool) {
    size_t panels = (columns + TARE_PANEL - 1) / TARE_PANEL * count, floats = panels * TARE_PANEL * depth;
    packing p = { to, from, depth, columns, k_stride, n_stride, panels, floats / PACK_GRAIN + 1 };
    if (p.pieces > panels) p.pieces = panels;
    tare_pool_run(pool, p.pieces, pack, &p);
}
