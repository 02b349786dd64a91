/* Data to calibrate on, to measure on, to run. */
#ifndef TARE_PUBLIC_SAMPLES_H
#define TARE_PUBLIC_SAMPLES_H

#include <tare/field.h>
#include <tare/model.h>

TARE_C_BEGIN

/* ORDER: color. What the model wants of a picture. NV12: the RGB (or BGR) that a camera's
 * NV12 frame of the input's size gives, so the picture is taken to NV12 and back; YUV444: its Y, U, V. */
typedef enum tare_color {
    TARE_COLOR_AS_IS, /* rgb, or gray where both file and model have one channel */
    TARE_COLOR_RGB,
    TARE_COLOR_BGR,
    TARE_COLOR_GRAY,
    TARE_COLOR_NV12,
    TARE_COLOR_NV12_BGR,
    TARE_COLOR_YUV444
} tare_color;

/* ORDER: yuv range. Of the BT.601 conversions to and from Y, U, V. */
typedef enum tare_yuv_range {
    TARE_YUV_LIMITED, /* Y 16…235: video, cameras, OpenCV's NV12 */
    TARE_YUV_FULL     /* 0…255: JPEG's */
} tare_yuv_range;

/* ORDER: layout names. */
typedef enum tare_sample_layout { TARE_SAMPLE_LAYOUT_MODEL, TARE_SAMPLE_NCHW, TARE_SAMPLE_NHWC } tare_sample_layout;

/* The preprocessing contract of one input; zero-initialised: none. Applied in this order: decode, color (rgb, bgr,
 * gray), resize, crop, color (nv12, yuv444: at the input's size), to f32, (x - mean) / std or (x - mean) * scale,
 * layout. Pixels are 0…255; 16-bit PNGs give their high byte. When every mean is in 0…1
 * and every std below 1, they are meant for pixels of 0…1, as torchvision's: then pixels are divided by 255 first,
 * which is said. For arrays only mean, std, scale and layout are possible. */
typedef struct tare_preprocess {
    /* "WxH", or "S": the shorter side; then any of ":pillow" (the default), ":opencv", ":skimage" and ":fit" (keeps the
     * aspect, picture at the top left, the rest is `pad`), ":fit-center". */
    const char *resize;
    const char *crop; /* "WxH", from the centre: offset (size - crop) / 2, ties to even as torchvision's */
    int color;        /* tare_color */
    int yuv_range;    /* tare_yuv_range */
    /* tare_sample_layout. Of pictures: the model's, needed only where its shape does not say. Of arrays: the data's;
     * they are transposed where the model's shape says the other. */
    int layout;
    tare_floats mean, std, pad; /* one number, or one per channel; pad: 0…255, 114 when not given */
    double scale;               /* 0: not given. With std it is an error */
} tare_preprocess;

extern TARE_API const tare_field tare_preprocess_fields[];

/* SRC, where data come from, is one of
 *   a directory, or one file, of images (PNG, JPEG), .npy or .npz
 *   F.bin:f32:1x3x224x224   raw numbers, or a directory of such files; little endian
 *   F.yuv:nv12:320x240      raw NV12 frames of width x height, or a directory of such files
 *   F.txt                   a list: one path a line, relative to the list's folder; '#' begins a comment line
 *   random:N                N samples of made-up numbers, stamped synthetic
 * In a directory or a list each image and each array file is one sample; an array there has the input's shape, or lacks
 * its first dimension when that is 1 or open.
 *
 * A single .npy, and each array of a single .npz, may hold many samples. For an input's shape S and an array's shape A:
 *   A has one dimension more than S and the rest fits S      A[0] samples
 *   A fits S and S[0] is a number                            one sample
 *   A[1…] fits S[1…], S[0] a number that divides A[0]        A[0] / S[0] samples ([N,3,8,8] for [1,3,8,8]: N)
 *   A[1…] fits S[1…], S[0] open (named or unknown)           A[0] samples of batch 1, or one with `whole`
 *   A fits S[1…], S[0] is 1 or open                          one sample, a dimension of 1 is put in front
 * Raw files are a row of arrays of the given shape, each cut by the same rule. The arrays of an .npz must agree in the
 * number of samples, or each must fit as it is (one sample). Its keys are the inputs' names; with one input and one key
 * the name does not matter. Deflated arrays of many samples are held in memory; all else is read sample by sample.
 *
 * Element types: what keeps every number is done (f16 to f32, u8 to s32, s64 to s32 when each fits), f64 to f32 is
 * rounded with a note, integers become floats when mean, std or scale is given (scale 1 will do); all else is refused.
 */

/* One input, its data and its contract. */
typedef struct tare_input_options {
    const char *name; /* NULL: the only input, or all by the keys of an .npz */
    const char *data; /* SRC */
    bool whole;       /* an array file is one sample */
    tare_preprocess preprocess;
} tare_input_options;
extern TARE_API const tare_field tare_input_fields[]; /* all but preprocess */

/* Where samples come from. */
typedef struct tare_data_options {
    tare_strings data;   /* SRC, or NAME=SRC for several inputs */
    const char *samples; /* "N": the first N by id; "A:B": from A, counted from 0, up to but without B; NULL: all */
    bool whole;          /* an array file is one sample */
    tare_records inputs; /* tare_input_options, by a recipe; `data` goes before what they say of data */
} tare_data_options;
extern TARE_API const tare_field tare_data_fields[];

/* Samples: ids, and one tensor per graph input, read when they are needed. */
typedef struct tare_samples tare_samples;

/* Opens them for a model, which must outlive them; checks every input's type and shape. The contract `preprocess`
 * (NULL: none) holds for every input of options->data, and for a recipe's input when there is one; several inputs of a
 * recipe have their own, and `preprocess` must be as by default then. Close it with tare_samples_close. log may be
 * NULL. TARE_E_USAGE: an input has no data, or data that do not fit it. */
TARE_API tare_status tare_samples_from_options(tare_samples **out, const tare_model *model,
                                               const tare_data_options *options, const tare_preprocess *preprocess,
                                               tare_log *log, tare_error *err);
TARE_API void tare_samples_close(tare_samples *samples); /* NULL is fine */
TARE_API size_t tare_samples_count(const tare_samples *samples);
/* TARE_E_USAGE when `path` is a file they are read from: to be asked before something is written there. */
TARE_API tare_status tare_samples_check_path(const tare_samples *samples, const char *path, tare_error *err);

TARE_C_END

#endif
