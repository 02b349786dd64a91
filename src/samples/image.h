/* Pictures: decoded, resized, cropped, recoloured. Everything gives the bytes that the named public program gives. */
#ifndef TARE_SAMPLES_IMAGE_H
#define TARE_SAMPLES_IMAGE_H

#include "base/memory.h"
#include "base/status.h"
#include "samples/samples.h"

/* A side, and the pixels of one picture: what a decoder is asked to hold. */
enum { TARE_IMAGE_SIDE_MAX = 65500, TARE_IMAGE_PIXELS_MAX = 1 << 27 };

/* Rows from the top, pixels interleaved; exactly one of u8 and f32 (0…255, after a resize in floats) is there. */
typedef struct tare_image {
    int width, height, channels; /* channels: 1 gray, 3 */
    uint8_t *u8;
    float *f32;
} tare_image;

/* What is worth a note about a file. */
typedef struct tare_image_facts {
    int orientation;   /* EXIF's; 1: upright, or not said. It is ignored, as Pillow ignores it */
    bool is_deep;      /* 16 bits a channel: the high bytes were taken */
    bool has_alpha;    /* it was dropped */
    char warning[128]; /* of the decoder; "": none */
} tare_image_facts;

tare_status tare_image_new(tare_image *out, int width, int height, int channels, bool is_float, tare_arena *arena,
                           tare_error *err);
static inline size_t tare_image_count(const tare_image *image) {
    return (size_t)image->width * (size_t)image->height * (size_t)image->channels;
}

/* Decodes PNG or JPEG to gray or RGB, as Pillow's convert("RGB") does, but for gray of 16 bits, where the high byte is
 * taken as for colours (Pillow saturates). CMYK and other formats are TARE_E_UNSUPPORTED. */
tare_status tare_image_decode(tare_image *out, tare_image_facts *facts, const uint8_t *bytes, size_t size,
                              tare_arena *arena, tare_error *err);
tare_status tare_png_decode(tare_image *out, tare_image_facts *facts, const uint8_t *bytes, size_t size,
                            tare_arena *arena, tare_error *err);
tare_status tare_jpeg_decode(tare_image *out, tare_image_facts *facts, const uint8_t *bytes, size_t size,
                             tare_arena *arena, tare_error *err);
/* Is it within the limits above? */
tare_status tare_image_check_size(uint64_t width, uint64_t height, tare_error *err);

/* Bilinear, to width x height. Pillow: BILINEAR, antialiased, 8-bit fixed point. OpenCV: INTER_LINEAR, 8-bit fixed
 * point. skimage: resize(order=1, preserve_range=True), Gaussian before shrinking, in f64; gives f32. */
tare_status tare_resize_pillow(tare_image *out, const tare_image *in, int width, int height, tare_arena *arena,
                               tare_error *err);
tare_status tare_resize_opencv(tare_image *out, const tare_image *in, int width, int height, tare_arena *arena,
                               tare_error *err);
tare_status tare_resize_skimage(tare_image *out, const tare_image *in, int width, int height, tare_arena *arena,
                                tare_error *err);

/* Pillow's crop and paste, to or from a place inside. */
tare_status tare_image_crop(tare_image *out, const tare_image *in, int left, int top, int width, int height,
                            tare_arena *arena, tare_error *err);
tare_status tare_image_pad(tare_image *out, const tare_image *in, int left, int top, int width, int height,
                           const float pad[3], tare_arena *arena, tare_error *err);

/* ---- color.c ---- */
tare_status tare_color_to_rgb(tare_image *out, const tare_image *gray, tare_arena *arena, tare_error *err);
tare_status tare_color_to_gray(tare_image *out, const tare_image *rgb, tare_arena *arena, tare_error *err);
void tare_color_swap(tare_image *rgb); /* RGB to BGR and back, in place */
void tare_color_to_yuv(tare_image *rgb, tare_yuv_range range);
void tare_color_from_yuv(tare_image *yuv, tare_yuv_range range);
/* An NV12 frame has width x height of Y, then half as many rows of U, V pairs; both sides are even. */
size_t tare_nv12_size(int width, int height);
/* Chroma is the mean of its 2x2 pixels. */
void tare_nv12_from_rgb(uint8_t *frame, const tare_image *rgb, tare_yuv_range range);
/* Chroma is repeated. */
void tare_nv12_to_yuv(tare_image *yuv, const uint8_t *frame);

#endif
