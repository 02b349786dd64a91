/* Data to calibrate on, to measure on, to run. */
#ifndef TARE_PUBLIC_SAMPLES_H
#define TARE_PUBLIC_SAMPLES_H

#include <tare/field.h>
#include <tare/model.h>

/* ORDER: color (the names in preprocess.c). What the model wants of a picture. NV12: the RGB (or BGR) that a camera's
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

/* ORDER: yuv range. Of the BT.601 conversions to and from Y, U, V (color.c has the formulas). */
typedef enum tare_yuv_range {
    TARE_YUV_LIMITED, /* Y 16…235: video, cameras, OpenCV's NV12 */
    TARE_YUV_FULL     /* 0…255: JPEG's */
} tare_yuv_range;

/* ORDER: layout names. */
typedef enum tare_sample_layout { TARE_SAMPLE_LAYOUT_MODEL, TARE_SAMPLE_NCHW, TARE_SAMPLE_NHWC } tare_sample_layout;

/* The preprocessing contract of one input; zero-initialised: none. Applied in this order: decode, color (rgb, bgr,
 * gray), resize, crop, color (nv12, yuv444: at the input's size), to f32, (x - mean) / std or (x - mean) * scale,
 * layout. Echoed by tare_samples_print. Pixels are 0…255; 16-bit PNGs give their high byte. When every mean is in 0…1
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

/* One input, its data and its contract. */
typedef struct tare_input_options {
    const char *name; /* NULL: the only input, or all by the keys of an .npz */
    const char *data; /* SRC; src/samples/samples.h says what it can be */
    bool whole;       /* an array file is one sample */
    tare_preprocess preprocess;
} tare_input_options;
extern TARE_API const tare_field tare_input_fields[]; /* all but preprocess */

/* Where samples come from. */
typedef struct tare_data_options {
    tare_strings data;   /* SRC, or NAME=SRC for several inputs */
    const char *samples; /* "N" or "A:B", in the order of ids */
    bool whole;
    tare_records inputs; /* tare_input_options, by a recipe; `data` goes before what they say of data */
} tare_data_options;
extern TARE_API const tare_field tare_data_fields[];

/* Samples: ids and one tensor per graph input. */
typedef struct tare_samples tare_samples;

/* Opens them for a model, which must outlive them; checks every input's type and shape. The contract `preprocess`
 * (NULL: none) holds for every input of options->data, and for a recipe's input when there is one; several inputs of a
 * recipe have their own, and `preprocess` must be as by default then. */
TARE_API tare_status tare_samples_from_options(tare_samples **out, const tare_model *model,
                                               const tare_data_options *options, const tare_preprocess *preprocess,
                                               tare_log *log, tare_error *err);
TARE_API void tare_samples_close(tare_samples *samples); /* NULL is fine */
TARE_API size_t tare_samples_count(const tare_samples *samples);
/* TARE_E_USAGE when `path` is a file they are read from: to be asked before something is written there. */
TARE_API tare_status tare_samples_check_path(const tare_samples *samples, const char *path, tare_error *err);

#endif
