/* Template: f32 matrix product over indirect rows, in the words of vector.inc.h. Before it: TILE_ROWS, the most rows of a
 * tile, and TILES(_), the tiles there are as _(rows, panels): what fits the registers as sums.
 *
 * Rows are taken a block of tiles at a time and k in CACHE_BLOCKs, so that what a block reads of A and of each few
 * panels of B stays in the caches while all its tiles pass. A tile reads its rows where they lie: to copy them together
 * first costs more than the many short runs along k that short taps make. */

enum {
    BLOCK_TILES = 16,
    PANEL_VECTORS = TARE_PANEL / LANES,
    PANELS_MAX = 4,   /* of a tile; tiles have 1, 2 or 4 */
    CACHE_BLOCK = 256 /* of k; a multiple of TARE_K_BLOCK */
};

/* The product of one block of k for one tile. */
typedef struct tile {
    const float *const *a;  /* rows of the first tap; the next tap's at a_step pointers */
    size_t a_step, depth;   /* depth: floats of a tap */
    size_t offset, skipped; /* where a tap starts in its rows; of the first tap, floats that lie before the block */
    size_t count;           /* k's in the block */
    const float *b;
    size_t b_stride; /* floats from panel to panel */
    float *c;
    size_t c_stride;
    const float *bias; /* of the tile's first column; NULL: none */
    float lo, hi;
    bool is_first, is_last; /* block of k: c has no sum yet; bias and clamp follow */
} tile;

/* What follows the sums of a chain: earlier chains' sums, bias, clamp. */
INLINE void finish(const tile *t, v *sum, bool is_first, bool is_last, size_t rows, size_t vectors) {
    float *c = t->c;
    size_t stride = t->c_stride;
    if (!is_first)
        unroll (r, rows)
            unroll (j, vectors) sum[r * vectors + j] = v_add(v_load(c + r * stride + j * LANES), sum[r * vectors + j]);
    if (is_last && t->bias)
        unroll (j, vectors)
            unroll (r, rows) sum[r * vectors + j] = v_add(sum[r * vectors + j], v_load(t->bias + j * LANES));
    if (is_last)
        unroll (i, rows * vectors) sum[i] = v_clamp(sum[i], v_set(t->lo), v_set(t->hi));
    unroll (r, rows)
        unroll (j, vectors) v_store(c + r * stride + j * LANES, sum[r * vectors + j]);
}

/* `rows` and `panels` are constants where this is inlined: the sums stay in registers. */
INLINE void multiply(const tile *t, size_t rows, size_t panels) {
    size_t vectors = panels * PANEL_VECTORS, skipped = t->skipped, depth = t->depth, left = t->count;
    const float *const *a = t->a, *b = t->b;
    bool is_first = t->is_first;
    do {
        v sum[TILE_ROWS * PANELS_MAX * PANEL_VECTORS];
        size_t chain = left < TARE_K_BLOCK ? left : TARE_K_BLOCK;
        left -= chain;
        unroll (i, rows * vectors) sum[i] = v_set(0);
        while (chain > 0) {
            size_t count = depth - skipped < chain ? depth - skipped : chain;
            const float *row[TILE_ROWS];
            unroll (r, rows) row[r] = a[r] + t->offset + skipped;
            for (size_t k = 0; k < count; k++, b += TARE_PANEL) {
                v w[PANELS_MAX * PANEL_VECTORS];
                unroll (j, vectors) w[j] = v_load(b + j / PANEL_VECTORS * t->b_stride + j % PANEL_VECTORS * LANES);
                unroll (r, rows) {
                    v x = v_set(row[r][k]);
                    unroll (j, vectors) sum[r * vectors + j] = v_fma(x, w[j], sum[r * vectors + j]);
                }
            }
            chain -= count;
            skipped += count;
            if (skipped < depth) continue;
            skipped = 0;
            a += t->a_step;
        }
        finish(t, sum, is_first, t->is_last && left == 0, rows, vectors);
        is_first = false;
    } while (left > 0);
}

#define TILE(rows, panels)                                                                                             \
    static void tile_##rows##_##panels(const tile *t) { multiply(t, rows, panels); }
TILES(TILE)
#undef TILE

/* By rows and the logarithm of panels. */
static void (*const tiles[TILE_ROWS + 1][3])(const tile *) = {
#define TILE(rows, panels) [rows][panels / 2] = tile_##rows##_##panels,
    TILES(TILE)
#undef TILE
};

INLINE void copy(float *to, const float *from, size_t count) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) v_store(to + i, v_load(from + i));
    if (i < count) v_store_tail(to + i, v_load_tail(from + i, count - i, 0), count - i);
}

/* Rows are dealt evenly to as few tiles as hold them, so that no tile is left with one or two. */
static size_t first_row(size_t rows, size_t index, size_t count) {
    return rows / count * index + (rows % count < index ? rows % count : index);
}

/* A tile of which only `columns` are there: worked on in a whole one beside. */
static void multiply_edge(tile t, size_t rows, size_t panels, size_t columns) {
    _Alignas(64) float edge[TILE_ROWS * PANELS_MAX * TARE_PANEL];
    float *c = t.c;
    size_t c_stride = t.c_stride;
    t.c = edge;
    t.c_stride = panels * TARE_PANEL;
    for (size_t r = 0; r < rows && !t.is_first; r++) copy(edge + r * t.c_stride, c + r * c_stride, columns);
    tiles[rows][panels / 2](&t);
    for (size_t r = 0; r < rows; r++) copy(c + r * c_stride, edge + r * t.c_stride, columns);
}

/* Tiles first … last - 1 of `count` that the rows are dealt to, one block of k, all columns. t: what they have in common,
 * a and c those of the first row. */
static void pass(tile t, size_t rows, size_t columns, size_t first, size_t last, size_t count) {
    const float *const *a = t.a;
    float *c = t.c;
    size_t start = first_row(rows, first, count), most = (rows + count - 1) / count;
    for (size_t n = 0, step = PANELS_MAX; n < columns; n += step * TARE_PANEL) {
        size_t left = columns - n, panels = (left + TARE_PANEL - 1) / TARE_PANEL;
        while (step > 1 && (step > panels || !tiles[most][step / 2])) step /= 2;
        for (size_t i = first; i < last; i++) {
            size_t m = first_row(rows, i, count), height = first_row(rows, i + 1, count) - m;
            t.a = a + (m - start);
            t.c = c + (m - start) * t.c_stride + n;
            if (left < step * TARE_PANEL)
                multiply_edge(t, height, step, left);
            else
                tiles[height][step / 2](&t);
        }
        t.b += step * t.b_stride;
        if (t.bias) t.bias += step * TARE_PANEL;
    }
}

void VARIANT(gemm_f32)(const tare_gemm_f32_args *g) {
    size_t total = g->taps * g->depth, count = (g->rows + TILE_ROWS - 1) / TILE_ROWS;
    for (size_t first = 0; first < count; first += BLOCK_TILES) {
        size_t last = first + BLOCK_TILES < count ? first + BLOCK_TILES : count;
        size_t m = first_row(g->rows, first, count), k = 0;
        do {
            size_t depth = total - k < CACHE_BLOCK ? total - k : CACHE_BLOCK, tap = total ? k / g->depth : 0;
            tile t = { .a = g->a + tap * g->rows + m,
                       .a_step = g->rows,
                       .depth = g->depth,
                       .offset = g->a_offset,
                       .skipped = k - tap * g->depth,
                       .count = depth,
                       .b = g->b + k * TARE_PANEL,
                       .b_stride = total * TARE_PANEL,
                       .c = g->c + m * g->c_stride,
                       .c_stride = g->c_stride,
                       .bias = g->bias,
                       .lo = g->lo,
                       .hi = g->hi,
                       .is_first = k == 0,
                       .is_last = k + depth == total };
            pass(t, g->rows, g->columns, first, last, count);
            k += depth;
        } while (k < total);
    }
}
