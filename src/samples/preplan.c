/* The texts and numbers of a preprocessing contract, understood and said back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples/preprocess.h"

/* ORDER: color, yuv range, layout, resize method, fit */
static const char *const color_names[] = { "as-is", "rgb", "bgr", "gray", "nv12", "nv12-bgr", "yuv444", NULL };
static const char *const range_names[] = { "limited", "full", NULL };
static const char *const layout_names[] = { "model", "nchw", "nhwc", NULL };
static const char *const method_names[] = { "pillow", "opencv", "skimage", NULL };
static const char *const fit_names[] = { "", "fit", "fit-center", NULL };

#define AT(member) offsetof(tare_preprocess, member)
const tare_field tare_preprocess_fields[] = {
    { .name = "resize",
      .type = TARE_FIELD_STRING,
      .offset = AT(resize),
      .help =
          "resize pictures: WxH, or S for the shorter side; then :pillow (default), :opencv or :skimage, and :fit or "
          ":fit-center to keep the aspect and pad",
      .metavar = "WxH" },
    { .name = "crop",
      .type = TARE_FIELD_STRING,
      .offset = AT(crop),
      .help = "cut WxH from the centre, after the resize",
      .metavar = "WxH" },
    { .name = "color",
      .type = TARE_FIELD_ENUM,
      .offset = AT(color),
      .names = color_names,
      .help = "what the model wants of a picture; nv12: the RGB that an NV12 camera frame gives" },
    { .name = "yuv-range",
      .type = TARE_FIELD_ENUM,
      .offset = AT(yuv_range),
      .names = range_names,
      .help = "BT.601 range of NV12 and YUV: limited (video, Y 16...235) or full" },
    { .name = "layout",
      .type = TARE_FIELD_ENUM,
      .offset = AT(layout),
      .names = layout_names,
      .help = "order of dimensions: the model's, for pictures when its shape does not say; the data's, for arrays" },
    { .name = "mean",
      .type = TARE_FIELD_FLOATS,
      .offset = AT(mean),
      .help = "subtracted, one number or one per channel, in pixel values 0...255",
      .metavar = "M,..." },
    { .name = "std",
      .type = TARE_FIELD_FLOATS,
      .offset = AT(std),
      .help = "divided by after the mean; when all of mean and std are below 1, pixels are taken as 0...1",
      .metavar = "S,..." },
    { .name = "scale",
      .type = TARE_FIELD_DOUBLE,
      .offset = AT(scale),
      .help = "multiplied by after the mean, in place of --std: 1/255, or 1 for pixels as they are",
      .metavar = "X" },
    { .name = "pad",
      .type = TARE_FIELD_FLOATS,
      .offset = AT(pad),
      .help = "what :fit puts around a picture, 0...255, one number or one per channel (default: 114)",
      .metavar = "P,..." },
    { .type = TARE_FIELD_END },
};

enum { SIDE_MAX = 16384 };

/* "WxH", or "S" when alone is allowed (then *height is 0). The text ends at `end`. */
static bool parse_size(const char *text, const char *end, bool alone, int *width, int *height) {
    char *stop;
    long numbers[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        if (text >= end || *text < '0' || *text > '9') return false;
        numbers[i] = strtol(text, &stop, 10);
        if (numbers[i] < 1 || numbers[i] > SIDE_MAX) return false;
        text = stop;
        if (i == 0 && text == end && alone) break;
        if (i == 0 && (text >= end || *text++ != 'x')) return false;
    }
    *width = (int)numbers[0];
    *height = (int)numbers[1];
    return text == end;
}

static int index_in(const char *const *names, const char *text, size_t length) {
    for (int i = 0; names[i] != NULL; i++) {
        if (length > 0 && strlen(names[i]) == length && memcmp(names[i], text, length) == 0) return i;
    }
    return -1;
}

static tare_status parse_resize(tare_preplan *out, const char *text, tare_error *err) {
    const char *end = text + strcspn(text, ":");
    if (!parse_size(text, end, true, &out->resize_width, &out->resize_height)) {
        return tare_fail(err, TARE_E_USAGE, "resize '%s': WxH or S in pixels is wanted, 1...%d a side", text,
                         (int)SIDE_MAX);
    }
    while (*end == ':') {
        const char *word = end + 1;
        end = word + strcspn(word, ":");
        size_t length = (size_t)(end - word);
        int method = index_in(method_names, word, length), fit = index_in(fit_names, word, length);
        if (method >= 0) {
            out->method = (tare_resize_method)method;
        } else if (fit > 0) {
            out->fit = (tare_fit)fit;
        } else {
            return tare_fail(
                err, TARE_E_USAGE,
                "resize '%s': after the size pillow, opencv, skimage, fit and fit-center are possible, not "
                "'%.*s'",
                text, (int)(length < 64 ? length : 64), word);
        }
    }
    if (out->fit != TARE_FIT_NONE && out->resize_height == 0) {
        return tare_fail(err, TARE_E_USAGE, "resize '%s': fit needs both sides, WxH", text);
    }
    return TARE_OK;
}

static tare_status check_list(const char *name, const tare_floats *list, double lo, double hi, bool whole,
                              tare_error *err) {
    if (list->count != 0 && list->count != 1 && list->count != 3) {
        return tare_fail(err, TARE_E_USAGE, "%s has %zu numbers; one, or one per channel (3), is wanted", name,
                         list->count);
    }
    for (size_t i = 0; i < list->count; i++) {
        double x = (double)list->at[i];
        if (!isfinite(x) || x < lo || x > hi || (whole && x != floor(x))) {
            return tare_fail(err, TARE_E_USAGE, "%s: %g is %s", name, x,
                             whole ? "no pixel value, whole and 0...255" : "not possible here");
        }
    }
    return TARE_OK;
}

static bool all_within(const tare_floats *list, float least, float most) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->at[i] < least || list->at[i] > most) return false;
    }
    return list->count > 0;
}

static tare_status parse_numbers(tare_preplan *out, const tare_preprocess *p, tare_error *err) {
    TARE_TRY(check_list("mean", &p->mean, -1e30, 1e30, false, err));
    TARE_TRY(check_list("std", &p->std, -1e30, 1e30, false, err));
    TARE_TRY(check_list("pad", &p->pad, 0, 255, true, err));
    for (size_t i = 0; i < p->std.count; i++) {
        if (p->std.at[i] == 0)
            return tare_fail(err, TARE_E_USAGE,
                             "std has a 0, by which nothing can be divided: pass 1 where there was none");
    }
    if (!isfinite(p->scale)) return tare_fail(err, TARE_E_USAGE, "scale is not a finite number");
    if (p->scale != 0 && p->std.count > 0) {
        return tare_fail(
            err, TARE_E_USAGE,
            "both scale and std are given; (x - mean) / std in pixel values needs no scale, so leave one out");
    }
    out->normalize = (tare_normalize){
        .is_given = p->mean.count > 0 || p->std.count > 0 || p->scale != 0,
        .unit = all_within(&p->mean, 0.0f, 1.0f) && all_within(&p->std, 1e-6f, 0.999f),
        .mean = p->mean.at,
        .mean_count = p->mean.count,
        .std = p->std.at,
        .std_count = p->std.count,
        .scale = (float)p->scale,
    };
    out->pad_count = p->pad.count;
    for (size_t c = 0; c < 3; c++) out->pad[c] = p->pad.count == 0 ? 114.0f : p->pad.at[p->pad.count == 3 ? c : 0];
    return TARE_OK;
}

tare_status tare_preprocess_parse(tare_preplan *out, const tare_preprocess *p, tare_error *err) {
    *out = (tare_preplan){ .color = (tare_color)p->color,
                           .yuv_range = (tare_yuv_range)p->yuv_range,
                           .layout = (tare_sample_layout)p->layout };
    if (p->resize != NULL) TARE_TRY(parse_resize(out, p->resize, err));
    if (p->crop != NULL &&
        !parse_size(p->crop, p->crop + strlen(p->crop), false, &out->crop_width, &out->crop_height)) {
        return tare_fail(err, TARE_E_USAGE, "crop '%s': WxH in pixels is wanted, 1...%d a side", p->crop,
                         (int)SIDE_MAX);
    }
    if (p->pad.count > 0 && out->fit == TARE_FIT_NONE) {
        return tare_fail(err, TARE_E_USAGE, "pad is given, but resize has no :fit that would leave room for it");
    }
    return parse_numbers(out, p, err);
}

/* Pixels that no mean of 0...1 shows to be smaller already. */
static bool is_lifted(const tare_normalize *n) {
    const tare_floats mean = { n->mean, n->mean_count };
    return !all_within(&mean, 0.0f, 1.0f) || all_within(&mean, 0.0f, 0.0f);
}

tare_status tare_preplan_check_pixels(const tare_preplan *plan, const char **doubt, tare_error *err) {
    const tare_normalize *n = &plan->normalize;
    const tare_floats mean = { n->mean, n->mean_count }, std = { n->std, n->std_count };
    const bool is_unit_mean = all_within(&mean, 0.0f, 1.0f) && !all_within(&mean, 0.0f, 0.0f);
    const bool is_unit_std = all_within(&std, 1e-6f, 0.999f), is_inverse = all_within(&std, 1e-6f, 1.0f / 16);
    *doubt = n->scale >= 2 && is_lifted(n)
                 ? "scale multiplies pixels of 0...255, and so large a one makes them huge; for 0...1 pass 1/255"
                 : NULL;
    if (n->unit || *doubt) return TARE_OK;
    if (is_unit_mean && std.count > 0)
        return tare_fail(err, TARE_E_USAGE,
                         "mean %g is of pixels 0...1, std %g of pixels 0...255: give both on one scale; mean * 255 "
                         "is %g",
                         (double)mean.at[0], (double)std.at[0], (double)mean.at[0] * 255);
    if (mean.count > 0 && is_inverse && !all_within(&mean, 0.0f, 0.0f))
        return tare_fail(err, TARE_E_USAGE, "std divides, and %g makes pixels huge: pass %g", (double)std.at[0],
                         1 / (double)std.at[0]);
    if (mean.count > 0 && is_unit_std && !all_within(&mean, 0.0f, 0.0f))
        return tare_fail(
            err, TARE_E_USAGE,
            "mean %g is of pixels 0...255, std %g of pixels 0...1: give both on one scale; std * 255 is %g",
            (double)mean.at[0], (double)std.at[0], (double)std.at[0] * 255);
    if (is_unit_mean) *doubt = "mean is of pixels 0...1, and without std pixels are 0...255; give it times 255";
    if (is_inverse && mean.count == 0)
        *doubt = "std divides, and so small a one makes pixels huge; pass what it was as --scale instead";
    else if (is_unit_std && mean.count == 0)
        *doubt = "std is of pixels 0...1, and without mean pixels are 0...255; give it times 255, or --mean 0 as well";
    return TARE_OK;
}

const char *tare_preplan_wants_picture(const tare_preplan *plan) {
    return plan->resize_width > 0                ? "resize"
           : plan->crop_width > 0                ? "crop"
           : plan->color != TARE_COLOR_AS_IS     ? "color"
           : plan->yuv_range != TARE_YUV_LIMITED ? "yuv-range"
                                                 : NULL;
}

/* The shortest digits that read back as the same float. */
static void print_float(tare_text *text, float x) {
    char digits[32];
    for (int precision = 6; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, (double)x);
        if (strtof(digits, NULL) == x) break;
    }
    tare_text_puts(text, digits);
}

static void print_list(tare_text *text, const char *name, const float *at, size_t count) {
    tare_text_printf(text, " %s", name);
    for (size_t i = 0; i < count; i++) {
        tare_text_puts(text, i == 0 ? " " : ",");
        print_float(text, at[i]);
    }
}

static void print_normalize(tare_text *text, const tare_normalize *n, bool is_picture, bool has_pixels) {
    if (!n->is_given) {
        if (is_picture) tare_text_puts(text, ", values 0...255 as they are");
        return;
    }
    const char *x = n->unit && has_pixels ? "x/255" : "x";
    const char *step = n->std_count > 0 ? " / std," : n->scale != 0 ? " * scale," : ",";
    tare_text_printf(text, n->mean_count > 0 ? ", (%s - mean)%s" : ", %s%s", x, step);
    if (n->mean_count > 0) print_list(text, "mean", n->mean, n->mean_count);
    if (n->std_count > 0) print_list(text, "std", n->std, n->std_count);
    if (n->scale != 0) print_list(text, "scale", &n->scale, 1);
}

void tare_preplan_print(tare_text *text, const tare_preplan *plan, bool is_picture, bool has_pixels) {
    if (is_picture) {
        tare_text_printf(text, "color %s", color_names[plan->color == TARE_COLOR_AS_IS ? TARE_COLOR_RGB : plan->color]);
        if (plan->color >= TARE_COLOR_NV12) tare_text_printf(text, " (BT.601 %s)", range_names[plan->yuv_range]);
        if (plan->resize_width > 0) {
            tare_text_printf(text, ", resize %d", plan->resize_width);
            if (plan->resize_height > 0) tare_text_printf(text, "x%d", plan->resize_height);
            tare_text_printf(text, " (%s, bilinear)%s", method_names[plan->method],
                             plan->resize_height == 0 ? " of the shorter side" : "");
        }
        if (plan->fit != TARE_FIT_NONE) {
            tare_text_printf(text, " %s", fit_names[plan->fit]);
            print_list(text, "pad", plan->pad, plan->pad_count == 3 ? 3 : 1);
        }
        if (plan->crop_width > 0) tare_text_printf(text, ", crop %dx%d", plan->crop_width, plan->crop_height);
    } else {
        tare_text_puts(text, plan->normalize.is_given ? "numbers" : "numbers as they are");
    }
    if (plan->layout != TARE_SAMPLE_LAYOUT_MODEL) tare_text_printf(text, ", layout %s", layout_names[plan->layout]);
    print_normalize(text, &plan->normalize, is_picture, has_pixels);
}

void tare_preplan_list(tare_contract *c, const tare_preplan *plan, bool is_picture, bool has_pixels,
                       tare_arena *arena) {
    const tare_normalize *n = &plan->normalize;
    c->mean = (tare_floats){ n->mean, n->mean_count }, c->std = (tare_floats){ n->std, n->std_count };
    c->scale = (double)n->scale;
    c->is_unit = n->is_given && n->unit && has_pixels;
    if (plan->layout != TARE_SAMPLE_LAYOUT_MODEL) c->layout = layout_names[plan->layout];
    if (!is_picture) return;
    c->color = color_names[plan->color == TARE_COLOR_AS_IS ? TARE_COLOR_RGB : plan->color];
    if (plan->color >= TARE_COLOR_NV12) c->yuv_range = range_names[plan->yuv_range];
    if (plan->resize_width > 0) {
        c->resize = plan->resize_height > 0 ? tare_arena_printf(arena, "%dx%d", plan->resize_width, plan->resize_height)
                                            : tare_arena_printf(arena, "%d", plan->resize_width);
        c->resize_by = method_names[plan->method];
    }
    if (plan->crop_width > 0) c->crop = tare_arena_printf(arena, "%dx%d", plan->crop_width, plan->crop_height);
    if (plan->fit == TARE_FIT_NONE) return;
    c->fit = fit_names[plan->fit];
    c->pad = (tare_floats){ plan->pad, plan->pad_count == 3 ? 3 : 1 };
}
