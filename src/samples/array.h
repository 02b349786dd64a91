/* Arrays as files have them: numbers with a type, a byte order, a shape and strides, borrowed from where they lie; how
 * one is cut into samples of an input, and how a sample of it becomes a tensor. */
#ifndef TARE_SAMPLES_ARRAY_H
#define TARE_SAMPLES_ARRAY_H

#include "graph/graph.h"

typedef struct tare_array {
    tare_dtype dtype;
    bool swap;                     /* big endian */
    tare_shape shape;              /* static; its bytes lie within the file */
    int64_t stride[TARE_RANK_MAX]; /* in bytes */
    const uint8_t *data;
} tare_array;

/* Sets row-major strides, or column-major ones when `fortran`. */
void tare_array_set_strides(tare_array *array, bool fortran);

/* How an array makes samples of an input; the rule is samples.h's. */
typedef struct tare_cut {
    size_t count;
    int64_t take; /* entries of the first dimension that make a sample; 0: the array is one sample */
    bool drop;    /* the first dimension goes (take is 1) */
    bool add;     /* a dimension of 1 comes in front */
} tare_cut;

/* False: the array's shape does not fit the input's, however it is cut. */
bool tare_array_cut(tare_cut *cut, const tare_shape *array, const tare_shape *input, bool whole);
/* The sample `index` of a cut array, a view of it. */
void tare_array_slice(tare_array *out, const tare_array *array, const tare_cut *cut, size_t index);

/* The text for a shape that does not fit: both shapes, and what to pass when only the layout is the other. `whole`:
 * one sample was wanted. */
tare_status tare_array_refuse(const tare_shape *array, const tare_value *input, bool whole, tare_error *err);

/* Transposes the last three dimensions as a view: height, width, channel to channel, height, width, or back. */
void tare_array_channels_first(tare_array *array);
void tare_array_channels_last(tare_array *array);

/* The array's numbers in a row, in native byte order; `to` has room for them. */
void tare_array_gather(const tare_array *array, void *to);

/* What happens to numbers of one type that an input of another is fed with. */
typedef struct tare_normalize {
    bool is_given; /* mean, std or scale were: integers may become floats */
    bool unit;     /* divide by 255 first */
    const float *mean, *std;
    size_t mean_count, std_count; /* 0: none; 1: for all channels */
    float scale;                  /* 0: none */
} tare_normalize;

/* (x - mean) / std or (x - mean) * scale of one number of channel `channel`, each step rounded to f32. */
float tare_normalize_one(const tare_normalize *normalize, float x, size_t channel);

/* May numbers of type `from` be fed to an input of type `to`? An error says what to pass. `rounds`: some may change. */
tare_status tare_convert_check(tare_dtype from, tare_dtype to, bool declared, bool *rounds, tare_error *err);

/* A tensor of type `to` and the array's shape, normalized; the channels are dimension `channel_axis` (negative: none).
 * The types were checked; a number that does not fit is an error that names it. */
tare_status tare_convert_array(tare_tensor **out, const tare_array *array, tare_dtype to,
                               const tare_normalize *normalize, int channel_axis, tare_arena *arena, tare_error *err);

/* Floats to the type of an input: rounded to a smaller float, or to an integer which each must be. */
tare_status tare_convert_reals(tare_tensor **out, const float *reals, const tare_shape *shape, tare_dtype to,
                               tare_arena *arena, tare_error *err);

#endif
