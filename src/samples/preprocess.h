/* The preprocessing contract, read from its texts and applied. */
#ifndef TARE_SAMPLES_PREPROCESS_H
#define TARE_SAMPLES_PREPROCESS_H

#include "samples/array.h"
#include "samples/image.h"
#include "samples/samples.h"

/* ORDER: resize method (the names and functions in preprocess.c). */
typedef enum tare_resize_method { TARE_RESIZE_PILLOW, TARE_RESIZE_OPENCV, TARE_RESIZE_SKIMAGE } tare_resize_method;
typedef enum tare_fit { TARE_FIT_NONE, TARE_FIT_TOP_LEFT, TARE_FIT_CENTER } tare_fit;

/* A contract whose texts were understood. */
typedef struct tare_preplan {
    int resize_width, resize_height; /* 0: no resize; width alone: the shorter side */
    tare_resize_method method;
    tare_fit fit;
    int crop_width, crop_height; /* 0: no crop */
    tare_color color;
    tare_yuv_range yuv_range;
    tare_sample_layout layout;
    float pad[3];
    size_t pad_count; /* 0: not given, pad is the default */
    tare_normalize normalize;
} tare_preplan;

/* Checks all that does not need the model: syntax, ranges, what excludes what. The lists are borrowed. */
tare_status tare_preprocess_parse(tare_preplan *out, const tare_preprocess *preprocess, tare_error *err);

/* Of data that are pixels 0…255: refuses mean and std of different scales. *doubt: what looks wrong, NULL: nothing. */
tare_status tare_preplan_check_pixels(const tare_preplan *plan, const char **doubt, tare_error *err);

/* Does it ask for what only pictures have? The option's name, or NULL. */
const char *tare_preplan_wants_picture(const tare_preplan *plan);

/* Are the channels of a tensor of 3 or 4 dimensions last? */
bool tare_channels_are_last(const tare_shape *shape, tare_sample_layout layout);

/* Where an input has its channels, by its shape: dimension 1 of 4 (0 of 3), or the last, is 1 or 3 and the other is
 * not; both or neither: as the plan says, else first. */
typedef struct tare_picture_shape {
    bool is_last;          /* channels are last */
    int channels;          /* 0: open */
    int64_t width, height; /* negative: open */
    int channel_axis;
} tare_picture_shape;
/* False: pictures do not make such a tensor (rank other than 3 and 4, a batch other than 1, 2 or 5 channels). */
bool tare_picture_shape_of(tare_picture_shape *out, const tare_shape *input, const tare_preplan *plan);
/* Why it was false. */
tare_status tare_picture_refuse(const tare_value *input, const tare_preplan *plan, tare_error *err);

/* Where the picture comes from decides what color still means. */
typedef enum tare_picture_kind { TARE_PICTURE_FILE, TARE_PICTURE_NV12 } tare_picture_kind;

/* A decoded picture, or the pixels of an NV12 frame (YUV), to the input's tensor. */
tare_status tare_preprocess_picture(tare_tensor **out, tare_image *image, tare_picture_kind kind,
                                    const tare_preplan *plan, const tare_value *input, tare_arena *arena,
                                    tare_error *err);

/* The same step by step, into the contract. */
void tare_preplan_list(tare_contract *contract, const tare_preplan *plan, bool is_picture, bool has_pixels,
                       tare_arena *arena);
/* In words: "color rgb, resize 224x224 (pillow, bilinear), …"; "numbers as they are" when nothing is done.
 * `has_pixels`: the numbers are 0…255, so normalize.unit holds. */
void tare_preplan_print(tare_text *text, const tare_preplan *plan, bool is_picture, bool has_pixels);

#endif
