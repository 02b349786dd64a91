/* How Resize reads its input along one axis. */
#ifndef TARE_OPS_RESIZE_H
#define TARE_OPS_RESIZE_H

#include "ops/op.h"

/* ORDER: the words in resize.c */
typedef enum tare_resize_mode { TARE_RESIZE_NEAREST, TARE_RESIZE_LINEAR, TARE_RESIZE_CUBIC } tare_resize_mode;
typedef enum tare_resize_coordinate {
    TARE_RESIZE_HALF_PIXEL,
    TARE_RESIZE_HALF_PIXEL_SYMMETRIC,
    TARE_RESIZE_PYTORCH_HALF_PIXEL,
    TARE_RESIZE_ALIGN_CORNERS,
    TARE_RESIZE_ASYMMETRIC,
    TARE_RESIZE_TF_HALF_PIXEL_FOR_NN,
    TARE_RESIZE_CROP
} tare_resize_coordinate;
typedef enum tare_resize_nearest {
    TARE_RESIZE_ROUND_PREFER_FLOOR,
    TARE_RESIZE_ROUND_PREFER_CEIL,
    TARE_RESIZE_FLOOR,
    TARE_RESIZE_CEIL
} tare_resize_nearest;

typedef struct tare_resize_axis {
    int mode, coordinate, nearest;
    bool exclude_outside, antialias;
    float cubic_a, extrapolation;
    float scale;              /* as given, or out / in */
    float roi_start, roi_end; /* CROP only */
    int64_t in, out;
} tare_resize_axis;

/* Output j reads taps numbers, at index[j * taps + t] with weight[j * taps + t]; outside[j]: it is the extrapolation
 * value instead. Arrays are on the arena. */
typedef struct tare_resize_taps {
    size_t taps;
    int64_t *index;
    float *weight;
    bool *outside; /* NULL: none is */
} tare_resize_taps;

tare_status tare_resize_make_taps(const tare_resize_axis *axis, tare_arena *arena, tare_resize_taps *out,
                                  tare_error *err);

#endif
