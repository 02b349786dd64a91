/* Windows: how Conv, ConvTranspose and the pools go over the spatial dimensions. Attributes, the sizes that follow from
 * them, and at run time which elements a window meets. */
#ifndef TARE_OPS_WINDOW_H
#define TARE_OPS_WINDOW_H

#include "ops/op.h"

enum { TARE_SPATIAL_MAX = TARE_RANK_MAX - 2 };

typedef enum tare_auto_pad {
    TARE_AUTO_PAD_NOTSET,
    TARE_AUTO_PAD_SAME_UPPER,
    TARE_AUTO_PAD_SAME_LOWER,
    TARE_AUTO_PAD_VALID
} tare_auto_pad;
extern const char *const tare_auto_pad_names[]; /* ORDER: tare_auto_pad */

typedef struct tare_window_attrs {
    int auto_pad;
    tare_ints kernel_shape, strides, pads, dilations;
} tare_window_attrs;

/* Their lines in a field table; `window` is the member of type tare_window_attrs in `attributes`. */
#define TARE_WINDOW_FIELDS(attributes, window)                                                                         \
    { .name = "auto_pad",                                                                                              \
      .type = TARE_FIELD_ENUM,                                                                                         \
      .offset = offsetof(attributes, window.auto_pad),                                                                 \
      .names = tare_auto_pad_names },                                                                                  \
        { .name = "dilations",                                                                                         \
          .type = TARE_FIELD_INTS,                                                                                     \
          .offset = offsetof(attributes, window.dilations),                                                            \
          .flags = TARE_FIELD_SPATIAL },                                                                               \
        { .name = "kernel_shape",                                                                                      \
          .type = TARE_FIELD_INTS,                                                                                     \
          .offset = offsetof(attributes, window.kernel_shape),                                                         \
          .flags = TARE_FIELD_SPATIAL },                                                                               \
        { .name = "pads",                                                                                              \
          .type = TARE_FIELD_INTS,                                                                                     \
          .offset = offsetof(attributes, window.pads),                                                                 \
          .flags = TARE_FIELD_SPATIAL },                                                                               \
    {                                                                                                                  \
        .name = "strides", .type = TARE_FIELD_INTS, .offset = offsetof(attributes, window.strides),                    \
        .flags = TARE_FIELD_SPATIAL                                                                                    \
    }

/* One spatial dimension: output element o meets the input elements o * stride + k * dilation - before, k < kernel. */
typedef struct tare_window_axis {
    int64_t in, out; /* TARE_DIM_UNKNOWN or a symbol: not known */
    int64_t kernel, stride, dilation;
    int64_t before, after; /* pads; after only as far as it was needed for `out` */
} tare_window_axis;

typedef struct tare_window {
    int rank; /* spatial dimensions */
    tare_window_axis axis[TARE_SPATIAL_MAX];
} tare_window;

/* No numbers, or `want` of them, each `least` to INT32_MAX: TARE_E_MALFORMED, TARE_E_LIMIT for what is larger. */
tare_status tare_window_check_list(const char *name, const tare_ints *list, size_t want, int64_t least,
                                   tare_error *err);

/* Checks the attributes for `rank` spatial dimensions and reads them; `in` and `out` are left unknown. kernel: the
 * window's size where a weight has it (then kernel_shape must agree, unknown ones pass), NULL: kernel_shape must be
 * there. */
tare_status tare_window_read(tare_window *window, const tare_window_attrs *attrs, int rank, const int64_t *kernel,
                             tare_error *err);

/* Sets in, out and pads of a convolution or pool from the sizes in[0 … rank-1]; where one is unknown so is out, with
 * auto_pad also the pads. ceil: the last window may stick out at the end, but not begin there. */
tare_status tare_window_fit(tare_window *window, int auto_pad, bool ceil, const int64_t *in, tare_error *err);

/* The elements of a line of outputs first … first + count - 1 along `axis` that tap k meets inside the input: outputs
 * first + *begin … first + *end - 1 (begin <= end); the returned index is that of the input element of output
 * first + *begin. */
int64_t tare_window_meet(const tare_window_axis *axis, int64_t k, int64_t first, int64_t count, int64_t *begin,
                         int64_t *end);

/* Lines run along the last axis. The line of inputs that lines of outputs meet: `line` counts the outputs' lines of all
 * images, `tap` the taps of all axes but the last; the result counts the inputs' lines, -1: it lies in the padding. */
int64_t tare_window_line(const tare_window *window, int64_t line, int64_t tap);

/* The taps that a line of outputs meets, for a depthwise kernel on channels-last data x; tap k's weights are at
 * w + k * w_step. Returns their number; taps has room for tare_window_taps. */
size_t tare_window_list(const tare_window *window, int64_t line, const float *x, size_t channels, const float *w,
                        size_t w_step, tare_depthwise_tap *taps);

/* The share of outputs that meet each tap inside the input, taps in the weight's order; 1 along axes that are not known. */
void tare_window_shares(const tare_window *window, double *shares);

/* Number of windows' positions and of taps: products over the axes, counted before. */
int64_t tare_window_outputs(const tare_window *window, int axes); /* of the first `axes` axes */
int64_t tare_window_taps(const tare_window *window, int axes);

/* infer() of pools: input 0 has a batch, channels and spatial dimensions; sets the shape of every output, and the dtype
 * of output 0. ceil: a declared size that counts a window in the padding is forgotten, with what is declared behind. */
tare_status tare_window_infer(tare_node *node, const tare_window_attrs *attrs, bool ceil, unsigned types,
                              tare_error *err);
/* The same window when the shapes are known: x is channels-last. */
void tare_window_of(tare_window *window, const tare_window_attrs *attrs, bool ceil, const tare_shape *x);
/* infer() of pools over the whole image: every spatial dimension becomes 1. */
tare_status tare_window_infer_global(tare_node *node, unsigned types, tare_error *err);

/* Where piece `index` of `pieces` begins when `count` things are dealt out evenly. */
static inline int64_t tare_piece(int64_t count, int64_t index, int64_t pieces) {
    return count / pieces * index + (count % pieces < index ? count % pieces : index);
}

#endif
