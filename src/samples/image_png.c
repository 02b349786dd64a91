/* PNG through libpng. All of libpng's memory comes from base/, and its errors come back by longjmp: what must survive
 * one lives in `reader`. */
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "samples/image.h"

/* deflate cannot shrink more than by the second. */
enum { CHUNK_BYTES_MAX = 8 << 20, DEFLATE_RATIO_MAX = 1032 };

typedef struct reader {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t size, at;
    char reason[128];
    tare_image_facts *facts;
    tare_image *out;
    png_bytepp rows;
} reader;

static void on_error(png_structp png, png_const_charp text) {
    reader *r = png_get_error_ptr(png);
    snprintf(r->reason, sizeof r->reason, "%s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    tare_image_facts *facts = ((reader *)png_get_error_ptr(png))->facts;
    if (facts->warning[0] == '\0') snprintf(facts->warning, sizeof facts->warning, "%s", text);
}

static png_voidp on_new(png_structp png, png_alloc_size_t size) {
    (void)png;
    return tare_memory_new(size);
}

static void on_free(png_structp png, png_voidp memory) {
    (void)png;
    tare_memory_free(memory);
}

static void on_read(png_structp png, png_bytep to, size_t size) {
    reader *r = png_get_io_ptr(png);
    if (size > r->size - r->at) png_error(png, "the file ends early");
    memcpy(to, r->bytes + r->at, size);
    r->at += size;
}

/* Everything to 8 bits, gray or RGB; alpha is dropped and not blended, colour profiles are ignored, as in Pillow. */
static void set_transforms(reader *r) {
    png_byte type = png_get_color_type(r->png, r->info), depth = png_get_bit_depth(r->png, r->info);
    r->facts->is_deep = depth == 16;
    /* A palette's transparency becomes an alpha channel when it is expanded; that of gray and RGB stays a chunk. */
    bool is_palette = type == PNG_COLOR_TYPE_PALETTE;
    r->facts->has_alpha =
        (type & PNG_COLOR_MASK_ALPHA) != 0 || (is_palette && png_get_valid(r->png, r->info, PNG_INFO_tRNS) != 0);
    if (is_palette) png_set_palette_to_rgb(r->png);
    if (type == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(r->png);
    if (depth == 16) png_set_strip_16(r->png);
    if (r->facts->has_alpha) png_set_strip_alpha(r->png);
    png_set_interlace_handling(r->png);
}

/* Each step that may longjmp is a function of its own: no local is alive across one. False: r->reason says why. */
static bool read_head(reader *r) {
    if (setjmp(png_jmpbuf(r->png)) != 0) return false;
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* the size is checked below, before rows are held */
    png_set_chunk_malloc_max(r->png, CHUNK_BYTES_MAX);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_read_info(r->png, r->info);
    return true;
}

static bool read_update(reader *r) {
    if (setjmp(png_jmpbuf(r->png)) != 0) return false;
    set_transforms(r);
    png_read_update_info(r->png, r->info);
    return true;
}

static bool read_rows(reader *r) {
    if (setjmp(png_jmpbuf(r->png)) != 0) return false;
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL);
    return true;
}

static tare_status fail_png(const reader *r, tare_error *err) {
    tare_status status = strstr(r->reason, "emory") != NULL ? TARE_E_LIMIT : TARE_E_MALFORMED;
    return tare_fail(err, status, "PNG, byte %zu: %s", r->at, r->reason);
}

static tare_status decode(reader *r, tare_arena *arena, tare_error *err) {
    if (!read_head(r)) return fail_png(r, err);
    png_uint_32 width = png_get_image_width(r->png, r->info), height = png_get_image_height(r->png, r->info);
    TARE_TRY(tare_image_check_size(width, height, err));
    if (png_get_rowbytes(r->png, r->info) * height / DEFLATE_RATIO_MAX > r->size) {
        return tare_fail(err, TARE_E_MALFORMED, "PNG: says %lu x %lu pixels, which its %zu bytes cannot hold",
                         (unsigned long)width, (unsigned long)height, r->size);
    }
    if (!read_update(r)) return fail_png(r, err);
    int channels = png_get_channels(r->png, r->info);
    if ((channels != 1 && channels != 3) || png_get_bit_depth(r->png, r->info) != 8 ||
        png_get_rowbytes(r->png, r->info) != (size_t)width * (size_t)channels) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "PNG: has %d channels of %d bits, 1 or 3 of 8 were expected",
                         channels, png_get_bit_depth(r->png, r->info));
    }
    TARE_TRY(tare_image_new(r->out, (int)width, (int)height, channels, false, arena, err));
    r->rows = tare_arena_alloc(arena, height, sizeof *r->rows);
    if (r->rows == NULL) return tare_fail_memory(err, height * sizeof *r->rows);
    for (size_t y = 0; y < height; y++) r->rows[y] = r->out->u8 + y * width * (size_t)channels;
    return read_rows(r) ? TARE_OK : fail_png(r, err);
}

tare_status tare_png_decode(tare_image *out, tare_image_facts *facts, const uint8_t *bytes, size_t size,
                            tare_arena *arena, tare_error *err) {
    reader r = { .bytes = bytes, .size = size, .facts = facts, .out = out };
    r.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning, NULL, on_new, on_free);
    r.info = r.png == NULL ? NULL : png_create_info_struct(r.png);
    tare_status status = r.info == NULL ? tare_fail_memory(err, 0) : decode(&r, arena, err);
    if (r.png != NULL) png_destroy_read_struct(&r.png, &r.info, NULL);
    return status;
}
