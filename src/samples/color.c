/* Colours. BT.601, r g b and Y U V all 0…255, u = U - 128, v = V - 128; each result is rounded to nearest, halves up:
 *   full     Y = .299 R + .587 G + .114 B   U = 128 - .168736 R - .331264 G + .5 B
 *            V = 128 + .5 R - .418688 G - .081312 B
 *            R = Y + 1.402 v   G = Y - .344136 u - .714136 v   B = Y + 1.772 u              (JFIF 1.02, section 7)
 *   limited  Y = 16 + (65.481 R + 128.553 G + 24.966 B) / 255   U = 128 + (-37.797 R - 74.203 G + 112 B) / 255
 *            V = 128 + (112 R - 93.786 G - 18.214 B) / 255                                  (BT.601-7, 8 bits)
 *            R = 1.164 (Y-16) + 1.596 v   G = … - .391 u - .813 v   B = … + 2.018 u         (OpenCV's YUV2RGB_NV12)
 *   gray     (19595 R + 38470 G + 7471 B + 32768) >> 16                                     (Pillow's convert("L")) */
#include <assert.h>
#include <string.h>

#include "samples/image.h"

static uint8_t clamp(int64_t x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x); }

/* Rounded to nearest, halves up; the divisor is positive. */
static int64_t divide(int64_t a, int64_t by) {
    int64_t doubled = 2 * a + by, q = doubled / (2 * by);
    return doubled < 0 && q * 2 * by != doubled ? q - 1 : q;
}

tare_status tare_color_to_rgb(tare_image *out, const tare_image *gray, tare_arena *arena, tare_error *err) {
    assert(gray->channels == 1 && gray->u8 != NULL);
    TARE_TRY(tare_image_new(out, gray->width, gray->height, 3, false, arena, err));
    size_t count = tare_image_count(gray);
    for (size_t i = 0; i < count; i++) memset(out->u8 + 3 * i, gray->u8[i], 3);
    return TARE_OK;
}

tare_status tare_color_to_gray(tare_image *out, const tare_image *rgb, tare_arena *arena, tare_error *err) {
    assert(rgb->channels == 3 && rgb->u8 != NULL);
    TARE_TRY(tare_image_new(out, rgb->width, rgb->height, 1, false, arena, err));
    size_t count = tare_image_count(out);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = rgb->u8 + 3 * i;
        out->u8[i] = (uint8_t)((19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16);
    }
    return TARE_OK;
}

void tare_color_swap(tare_image *rgb) {
    assert(rgb->channels == 3);
    size_t count = tare_image_count(rgb);
    for (size_t i = 0; i < count; i += 3) {
        if (rgb->u8 != NULL) {
            uint8_t first = rgb->u8[i];
            rgb->u8[i] = rgb->u8[i + 2];
            rgb->u8[i + 2] = first;
        } else {
            float first = rgb->f32[i];
            rgb->f32[i] = rgb->f32[i + 2];
            rgb->f32[i + 2] = first;
        }
    }
}

/* What is added, then the factors of R, G, B, all times the divisor. ORDER: yuv range. */
typedef struct forward {
    int64_t by;
    int64_t add[3];
    int64_t factor[3][3];
} forward;
static const forward to_yuv[] = {
    [TARE_YUV_LIMITED] = { 255000,
                           { 16 * 255000, 128 * 255000, 128 * 255000 },
                           { { 65481, 128553, 24966 }, { -37797, -74203, 112000 }, { 112000, -93786, -18214 } } },
    [TARE_YUV_FULL] = { 1000000,
                        { 0, 128 * 1000000, 128 * 1000000 },
                        { { 299000, 587000, 114000 }, { -168736, -331264, 500000 }, { 500000, -418688, -81312 } } },
};

/* One of Y, U, V of the sums over `pixels` pixels. */
static uint8_t component(const forward *f, int which, const int64_t sum[3], int pixels) {
    int64_t x = pixels * f->add[which];
    for (int c = 0; c < 3; c++) x += f->factor[which][c] * sum[c];
    return clamp(divide(x, pixels * f->by));
}

void tare_color_to_yuv(tare_image *rgb, tare_yuv_range range) {
    assert(rgb->channels == 3 && rgb->u8 != NULL);
    size_t count = tare_image_count(rgb);
    for (size_t i = 0; i < count; i += 3) {
        uint8_t *p = rgb->u8 + i;
        const int64_t sum[3] = { p[0], p[1], p[2] };
        for (int c = 0; c < 3; c++) p[c] = component(&to_yuv[range], c, sum, 1);
    }
}

static void pixel_from_full(uint8_t *p, int64_t y, int64_t u, int64_t v) {
    p[0] = clamp(divide(1000000 * y + 1402000 * v, 1000000));
    p[1] = clamp(divide(1000000 * y - 344136 * u - 714136 * v, 1000000));
    p[2] = clamp(divide(1000000 * y + 1772000 * u, 1000000));
}

/* OpenCV's factors, times 2^20. An arithmetic shift of a negative number floors, as gcc and clang define it. */
static void pixel_from_limited(uint8_t *p, int64_t y, int64_t u, int64_t v) {
    enum { SHIFT = 20, HALF = 1 << 19, Y = 1220542, RV = 1673527, GU = -409993, GV = -852492, BU = 2116026 };
    int64_t luma = (y < 16 ? 0 : y - 16) * Y;
    p[0] = clamp((luma + RV * v + HALF) >> SHIFT);
    p[1] = clamp((luma + GU * u + GV * v + HALF) >> SHIFT);
    p[2] = clamp((luma + BU * u + HALF) >> SHIFT);
}

void tare_color_from_yuv(tare_image *yuv, tare_yuv_range range) {
    assert(yuv->channels == 3 && yuv->u8 != NULL);
    size_t count = tare_image_count(yuv);
    for (size_t i = 0; i < count; i += 3) {
        uint8_t *p = yuv->u8 + i;
        (range == TARE_YUV_FULL ? pixel_from_full : pixel_from_limited)(p, p[0], p[1] - 128, p[2] - 128);
    }
}

size_t tare_nv12_size(int width, int height) { return (size_t)width * (size_t)height / 2 * 3; }

void tare_nv12_from_rgb(uint8_t *frame, const tare_image *rgb, tare_yuv_range range) {
    assert(rgb->channels == 3 && rgb->u8 != NULL && rgb->width % 2 == 0 && rgb->height % 2 == 0);
    const forward *f = &to_yuv[range];
    size_t width = (size_t)rgb->width, height = (size_t)rgb->height;
    uint8_t *chroma = frame + width * height;
    for (size_t i = 0; i < width * height; i++) {
        const int64_t pixel[3] = { rgb->u8[3 * i], rgb->u8[3 * i + 1], rgb->u8[3 * i + 2] };
        frame[i] = component(f, 0, pixel, 1);
    }
    for (size_t y = 0; y < height; y += 2) {
        for (size_t x = 0; x < width; x += 2, chroma += 2) {
            int64_t sum[3] = { 0 };
            for (size_t k = 0; k < 4; k++) {
                const uint8_t *p = rgb->u8 + 3 * ((y + k / 2) * width + x + k % 2);
                for (int c = 0; c < 3; c++) sum[c] += p[c];
            }
            chroma[0] = component(f, 1, sum, 4);
            chroma[1] = component(f, 2, sum, 4);
        }
    }
}

void tare_nv12_to_yuv(tare_image *yuv, const uint8_t *frame) {
    size_t width = (size_t)yuv->width, height = (size_t)yuv->height;
    const uint8_t *chroma = frame + width * height;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            uint8_t *p = yuv->u8 + 3 * (y * width + x);
            const uint8_t *pair = chroma + y / 2 * width + x / 2 * 2;
            p[0] = frame[y * width + x];
            p[1] = pair[0];
            p[2] = pair[1];
        }
    }
}
