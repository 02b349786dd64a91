/* What a picture is, and the moves that need no arithmetic: decode by magic, crop, pad. */
#include <assert.h>
#include <string.h>

#include "base/size.h"
#include "samples/image.h"

tare_status tare_image_check_size(uint64_t width, uint64_t height, tare_error *err) {
    if (width == 0 || height == 0) return tare_fail(err, TARE_E_MALFORMED, "has no pixels");
    if (width > TARE_IMAGE_SIDE_MAX || height > TARE_IMAGE_SIDE_MAX || width * height > TARE_IMAGE_PIXELS_MAX) {
        return tare_fail(err, TARE_E_LIMIT, "has %llu x %llu pixels, at most %d a side and %d in all are possible",
                         (unsigned long long)width, (unsigned long long)height, (int)TARE_IMAGE_SIDE_MAX,
                         (int)TARE_IMAGE_PIXELS_MAX);
    }
    return TARE_OK;
}

tare_status tare_image_new(tare_image *out, int width, int height, int channels, bool is_float, tare_arena *arena,
                           tare_error *err) {
    *out = (tare_image){ .width = width, .height = height, .channels = channels };
    size_t count = tare_image_count(out), size = is_float ? sizeof(float) : 1;
    void *pixels = tare_arena_alloc_raw(arena, count, size);
    if (pixels == NULL) return tare_fail_memory(err, count * size);
    if (is_float) {
        out->f32 = pixels;
    } else {
        out->u8 = pixels;
    }
    return TARE_OK;
}

/* Formats that people have and this room does not read. */
static const char *foreign_format(const uint8_t *bytes, size_t size) {
    static const struct {
        size_t at, length;
        const char *magic, *name;
    } formats[] = {
        { 0, 2, "BM", "a BMP" },         { 0, 4, "GIF8", "a GIF" },   { 8, 4, "WEBP", "a WebP" },
        { 0, 4, "II*\0", "a TIFF" },     { 0, 4, "MM\0*", "a TIFF" }, { 4, 8, "ftypheic", "an HEIC" },
        { 4, 8, "ftypavif", "an AVIF" }, { 0, 2, "P5", "a PGM" },     { 0, 2, "P6", "a PPM" },
        { 4, 4, "jP  ", "a JPEG 2000" },
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (tare_slice_fits(size, formats[i].at, formats[i].length) &&
            memcmp(bytes + formats[i].at, formats[i].magic, formats[i].length) == 0) {
            return formats[i].name;
        }
    }
    return NULL;
}

tare_status tare_image_decode(tare_image *out, tare_image_facts *facts, const uint8_t *bytes, size_t size,
                              tare_arena *arena, tare_error *err) {
    *facts = (tare_image_facts){ .orientation = 1 };
    if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0) {
        return tare_png_decode(out, facts, bytes, size, arena, err);
    }
    if (size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        return tare_jpeg_decode(out, facts, bytes, size, arena, err);
    if (size == 0) return tare_fail(err, TARE_E_MALFORMED, "is empty");
    const char *foreign = foreign_format(bytes, size);
    if (foreign != NULL) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "is %s picture; convert it to PNG or JPEG, which are read", foreign);
    }
    return tare_fail(err, TARE_E_MALFORMED, "is no PNG or JPEG: it begins with neither's signature");
}

static size_t pixel_size(const tare_image *image) {
    return (size_t)image->channels * (image->f32 != NULL ? sizeof(float) : 1);
}

static uint8_t *row_of(const tare_image *image, int x, int y) {
    uint8_t *base = image->u8 != NULL ? image->u8 : (uint8_t *)image->f32;
    return base + ((size_t)y * (size_t)image->width + (size_t)x) * pixel_size(image);
}

tare_status tare_image_crop(tare_image *out, const tare_image *in, int left, int top, int width, int height,
                            tare_arena *arena, tare_error *err) {
    assert(left >= 0 && top >= 0 && left + width <= in->width && top + height <= in->height);
    TARE_TRY(tare_image_new(out, width, height, in->channels, in->f32 != NULL, arena, err));
    for (int y = 0; y < height; y++)
        memcpy(row_of(out, 0, y), row_of(in, left, top + y), (size_t)width * pixel_size(in));
    return TARE_OK;
}

tare_status tare_image_pad(tare_image *out, const tare_image *in, int left, int top, int width, int height,
                           const float pad[3], tare_arena *arena, tare_error *err) {
    assert(left >= 0 && top >= 0 && left + in->width <= width && top + in->height <= height);
    TARE_TRY(tare_image_new(out, width, height, in->channels, in->f32 != NULL, arena, err));
    size_t count = tare_image_count(out);
    for (size_t i = 0; i < count; i++) {
        float value = pad[i % (size_t)in->channels];
        if (out->f32 != NULL) {
            out->f32[i] = value;
        } else {
            out->u8[i] = (uint8_t)value;
        }
    }
    for (int y = 0; y < in->height; y++) {
        memcpy(row_of(out, left, top + y), row_of(in, 0, y), (size_t)in->width * pixel_size(in));
    }
    return TARE_OK;
}
