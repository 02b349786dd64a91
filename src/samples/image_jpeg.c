/* JPEG through libjpeg-turbo: the slow, exact inverse DCT and smooth chroma, as Pillow uses it. Errors come back by
 * longjmp: what must survive one lives in `reader`. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "base/size.h"
#include "samples/image.h"

/* A progressive file may have as many scans as it likes, each of which costs a pass over the picture. A Huffman code
 * has a bit or more for each block of 64 pixels, or for 128 where no component has full resolution both ways. */
enum { SCANS_MAX = 500, EXIF_BYTES_MAX = 65533, PIXELS_PER_BYTE_MAX = 1024 };

typedef struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    int code; /* of the error or, when there was none, of the first warning */
    char reason[JMSG_LENGTH_MAX];
    tare_image_facts *facts;
    tare_image *out;
} reader;

static void on_error(j_common_ptr common) {
    reader *r = common->client_data;
    r->code = common->err->msg_code;
    common->err->format_message(common, r->reason);
    longjmp(r->escape, 1);
}

/* Level -1 is damage that was read over; the rest is trace. */
static void on_message(j_common_ptr common, int level) {
    reader *r = common->client_data;
    if (level >= 0 || r->facts->warning[0] != '\0') return;
    char text[JMSG_LENGTH_MAX];
    common->err->format_message(common, text);
    if (common->err->msg_code == JWRN_JPEG_EOF) {
        r->code = JWRN_JPEG_EOF;
        snprintf(r->reason, sizeof r->reason, "the file ends early");
        longjmp(r->escape, 1);
    }
    snprintf(r->facts->warning, sizeof r->facts->warning, "%.*s", (int)sizeof r->facts->warning - 1, text);
}

static void on_output(j_common_ptr common) { (void)common; }

static void on_progress(j_common_ptr common) {
    reader *r = common->client_data;
    if (common->is_decompressor && r->jpeg.input_scan_number > SCANS_MAX) {
        r->code = 0;
        snprintf(r->reason, sizeof r->reason, "has more than %d scans", (int)SCANS_MAX);
        longjmp(r->escape, 1);
    }
}

static bool read_head(reader *r, const uint8_t *bytes, size_t size) {
    if (setjmp(r->escape) != 0) return false;
    jpeg_create_decompress(&r->jpeg);
    r->jpeg.progress = &r->progress;
    jpeg_save_markers(&r->jpeg, JPEG_APP0 + 1, EXIF_BYTES_MAX);
    jpeg_mem_src(&r->jpeg, bytes, (unsigned long)size);
    jpeg_read_header(&r->jpeg, TRUE);
    return true;
}

static bool read_start(reader *r) {
    if (setjmp(r->escape) != 0) return false;
    r->jpeg.out_color_space = r->jpeg.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    r->jpeg.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&r->jpeg);
    return true;
}

static bool read_rows(reader *r) {
    if (setjmp(r->escape) != 0) return false;
    size_t row = (size_t)r->out->width * (size_t)r->out->channels;
    while (r->jpeg.output_scanline < r->jpeg.output_height) {
        JSAMPROW at = r->out->u8 + r->jpeg.output_scanline * row;
        jpeg_read_scanlines(&r->jpeg, &at, 1);
    }
    jpeg_finish_decompress(&r->jpeg);
    return true;
}

static uint32_t number(const uint8_t *at, int size, bool big_endian) {
    uint32_t x = 0;
    for (int i = 0; i < size; i++) x |= (uint32_t)at[i] << 8 * (big_endian ? size - 1 - i : i);
    return x;
}

/* The orientation in an APP1 segment: TIFF's first directory, tag 0x0112, a 16-bit number. */
static int orientation_of(const uint8_t *exif, size_t size) {
    enum { HEAD = 6, ENTRY = 12 };
    if (size < HEAD + 8 || memcmp(exif, "Exif\0\0", HEAD) != 0) return 1;
    const uint8_t *tiff = exif + HEAD;
    size -= HEAD;
    bool big = tiff[0] == 'M';
    size_t at = number(tiff + 4, 4, big);
    if (!tare_slice_fits(size, at, 2)) return 1;
    size_t count = number(tiff + at, 2, big);
    at += 2;
    for (size_t i = 0; i < count && tare_slice_fits(size, at, ENTRY); i++, at += ENTRY) {
        uint32_t value = number(tiff + at + 8, 2, big);
        if (number(tiff + at, 2, big) == 0x0112) return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

static tare_status fail_jpeg(const reader *r, tare_error *err) {
    tare_status status = TARE_E_MALFORMED;
    if (r->code == JERR_OUT_OF_MEMORY) status = TARE_E_LIMIT;
    if (r->code == JERR_BAD_PRECISION || r->code == JERR_SOF_UNSUPPORTED || r->code == JERR_CONVERSION_NOTIMPL ||
        r->code == JERR_ARITH_NOTIMPL) {
        status = TARE_E_UNSUPPORTED;
    }
    return tare_fail(err, status, "JPEG: %s", r->reason);
}

static tare_status decode(reader *r, const uint8_t *bytes, size_t size, tare_arena *arena, tare_error *err) {
    if (!read_head(r, bytes, size)) return fail_jpeg(r, err);
    TARE_TRY(tare_image_check_size(r->jpeg.image_width, r->jpeg.image_height, err));
    uint64_t pixels = (uint64_t)r->jpeg.image_width * r->jpeg.image_height;
    if (!r->jpeg.arith_code && pixels / PIXELS_PER_BYTE_MAX > size) {
        return tare_fail(err, TARE_E_MALFORMED, "JPEG: says %u x %u pixels, which its %zu bytes cannot hold",
                         r->jpeg.image_width, r->jpeg.image_height, size);
    }
    for (jpeg_saved_marker_ptr m = r->jpeg.marker_list; m != NULL; m = m->next) {
        if (r->facts->orientation == 1) r->facts->orientation = orientation_of(m->data, m->data_length);
    }
    J_COLOR_SPACE space = r->jpeg.jpeg_color_space;
    if (space == JCS_CMYK || space == JCS_YCCK) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "JPEG: has CMYK colours, made for print; convert it to RGB first");
    }
    if (space != JCS_GRAYSCALE && space != JCS_YCbCr && space != JCS_RGB) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "JPEG: has %d channels of no known colour space",
                         r->jpeg.num_components);
    }
    int channels = space == JCS_GRAYSCALE ? 1 : 3;
    if (!read_start(r)) return fail_jpeg(r, err);
    TARE_TRY(
        tare_image_new(r->out, (int)r->jpeg.output_width, (int)r->jpeg.output_height, channels, false, arena, err));
    return read_rows(r) ? TARE_OK : fail_jpeg(r, err);
}

tare_status tare_jpeg_decode(tare_image *out, tare_image_facts *facts, const uint8_t *bytes, size_t size,
                             tare_arena *arena, tare_error *err) {
    reader *r = tare_arena_alloc(arena, 1, sizeof *r);
    if (r == NULL) return tare_fail_memory(err, sizeof *r);
    r->facts = facts;
    r->out = out;
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->jpeg.client_data = r;
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_message;
    r->errors.output_message = on_output;
    r->progress.progress_monitor = on_progress;
    tare_status status = decode(r, bytes, size, arena, err);
    jpeg_destroy_decompress(&r->jpeg);
    return status;
}
