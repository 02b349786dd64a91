/* Pictures to tensors, in the order that samples.h declares. */
#include "samples/preprocess.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"

static bool is_channels(int64_t dim) { return dim == 1 || dim == 3; }

/* Are the channels last? Known dimensions decide, then the plan, then ONNX's habit. */
static bool channels_last(int64_t first, int64_t last, tare_sample_layout layout) {
    if (layout != TARE_SAMPLE_LAYOUT_MODEL) return layout == TARE_SAMPLE_NHWC;
    if (is_channels(first) != is_channels(last)) return is_channels(last);
    return !is_channels(first) && first >= 0 && last < 0;
}

bool tare_channels_are_last(const tare_shape *shape, tare_sample_layout layout) {
    return channels_last(shape->dim[shape->rank - 3], shape->dim[shape->rank - 1], layout);
}

bool tare_picture_shape_of(tare_picture_shape *out, const tare_shape *input, const tare_preplan *plan) {
    int rank = input->rank;
    if (rank == TARE_RANK_UNKNOWN) {
        bool last = plan->layout == TARE_SAMPLE_NHWC;
        *out = (tare_picture_shape){ .is_last = last, .width = -1, .height = -1, .channel_axis = last ? 3 : 1 };
        return true;
    }
    if (rank != 3 && rank != 4) return false;
    const int64_t *dim = input->dim + rank - 3;
    if (rank == 4 && input->dim[0] >= 0 && input->dim[0] != 1) return false;
    bool last = tare_channels_are_last(input, plan->layout);
    int64_t channels = dim[last ? 2 : 0];
    if (channels >= 0 && !is_channels(channels)) return false;
    *out = (tare_picture_shape){ .is_last = last,
                                 .channels = channels < 0 ? 0 : (int)channels,
                                 .height = dim[last ? 0 : 1],
                                 .width = dim[last ? 1 : 2],
                                 .channel_axis = rank - 3 + (last ? 2 : 0) };
    return true;
}

tare_status tare_picture_refuse(const tare_value *input, const tare_preplan *plan, tare_error *err) {
    char want[256];
    tare_shape_print(want, sizeof want, &input->shape, input->graph->model->symbols.at);
    if (input->shape.rank == 4 && input->shape.dim[0] > 1) {
        return tare_fail(err, TARE_E_USAGE,
                         "it wants %s, pictures come one at a time: pass --input-shape with a batch of 1, or arrays",
                         want);
    }
    if (input->shape.rank != 3 && input->shape.rank != 4) {
        return tare_fail(err, TARE_E_USAGE,
                         "it wants %s, which pictures (1x3xHxW or 1xHxWx3) do not make: pass arrays, .npy or "
                         ".npz",
                         want);
    }
    return tare_fail(err, TARE_E_USAGE,
                     "it wants %s, in which %s has neither 1 nor 3 channels: pass arrays, .npy or .npz%s", want,
                     plan->layout == TARE_SAMPLE_NHWC ? "the last dimension" : "the second dimension",
                     plan->layout == TARE_SAMPLE_LAYOUT_MODEL ? "" : ", or another --layout");
}

/* What is asked for has as many channels as the input. */
static tare_status check_channels(const tare_picture_shape *shape, const tare_preplan *plan, bool is_gray,
                                  tare_error *err) {
    int made = plan->color == TARE_COLOR_GRAY ? 1 : plan->color != TARE_COLOR_AS_IS ? 3 : 0;
    if (made != 0 && shape->channels != 0 && made != shape->channels) {
        return tare_fail(err, TARE_E_USAGE, "--color gives %d channel%s, it wants %d; leave --color out, or pass %s",
                         made, tare_plural((size_t)made, "", "s"), shape->channels,
                         shape->channels == 1 ? "gray" : "rgb or bgr");
    }
    if (made == 0 && shape->channels == 1 && !is_gray) {
        return tare_fail(err, TARE_E_USAGE, "it wants one channel, the picture has colours; pass --color gray");
    }
    size_t channels = (size_t)(made != 0 ? made : shape->channels != 0 ? shape->channels : 3);
    const tare_normalize *n = &plan->normalize;
    if ((n->mean_count > 1 && n->mean_count != channels) || (n->std_count > 1 && n->std_count != channels)) {
        return tare_fail(err, TARE_E_USAGE, "it has %zu channel%s, mean or std 3 numbers; pass one number", channels,
                         tare_plural(channels, "", "s"));
    }
    return TARE_OK;
}

/* To RGB, BGR, gray, or (from NV12) Y U V: what comes before the resize. */
static tare_status recolor_early(tare_image *image, tare_picture_kind kind, const tare_preplan *plan, bool wants_gray,
                                 tare_arena *arena, tare_error *err) {
    tare_image in = *image;
    if (kind == TARE_PICTURE_NV12) {
        if (plan->color == TARE_COLOR_YUV444) return TARE_OK;
        tare_color_from_yuv(image, plan->yuv_range);
    }
    if (wants_gray) return in.channels == 1 ? TARE_OK : tare_color_to_gray(image, &in, arena, err);
    if (in.channels == 1) TARE_TRY(tare_color_to_rgb(image, &in, arena, err));
    bool from_camera = kind == TARE_PICTURE_NV12 && plan->color == TARE_COLOR_NV12_BGR;
    if (plan->color == TARE_COLOR_BGR || from_camera) tare_color_swap(image);
    return TARE_OK;
}

typedef tare_status resizer(tare_image *, const tare_image *, int, int, tare_arena *, tare_error *);
/* ORDER: resize method */
static resizer *const resizers[] = { tare_resize_pillow, tare_resize_opencv, tare_resize_skimage };

/* The size of the picture itself within what resize asks for. */
static void resized_size(const tare_image *image, const tare_preplan *plan, int *width, int *height) {
    *width = plan->resize_width;
    *height = plan->resize_height;
    if (*height == 0) { /* torchvision's: the longer side is cut to a whole number */
        int side = *width, w = image->width, h = image->height;
        *width = w <= h ? side : (int)((int64_t)side * w / h);
        *height = w <= h ? (int)((int64_t)side * h / w) : side;
    } else if (plan->fit != TARE_FIT_NONE) { /* k = min(W/w, H/h); rounded, ties to even */
        double across = (double)*width / image->width, down = (double)*height / image->height;
        double k = across < down ? across : down;
        int w = (int)rint(image->width * k), h = (int)rint(image->height * k);
        *width = w < 1 ? 1 : w > *width ? *width : w;
        *height = h < 1 ? 1 : h > *height ? *height : h;
    }
}

static tare_status resize(tare_image *image, const tare_preplan *plan, tare_arena *arena, tare_error *err) {
    if (plan->resize_width == 0) return TARE_OK;
    tare_image in = *image;
    int width, height;
    resized_size(&in, plan, &width, &height);
    TARE_TRY(tare_image_check_size((uint64_t)width, (uint64_t)height, err));
    TARE_TRY(resizers[plan->method](image, &in, width, height, arena, err));
    if (plan->fit == TARE_FIT_NONE || (width == plan->resize_width && height == plan->resize_height)) return TARE_OK;
    tare_image inner = *image;
    bool centered = plan->fit == TARE_FIT_CENTER;
    int left = centered ? (plan->resize_width - width) / 2 : 0, top = centered ? (plan->resize_height - height) / 2 : 0;
    return tare_image_pad(image, &inner, left, top, plan->resize_width, plan->resize_height, plan->pad, arena, err);
}

static tare_status crop(tare_image *image, const tare_preplan *plan, tare_arena *arena, tare_error *err) {
    if (plan->crop_width == 0) return TARE_OK;
    if (plan->crop_width > image->width || plan->crop_height > image->height) {
        return tare_fail(err, TARE_E_USAGE,
                         "crop %dx%d: the picture has only %dx%d before it; pass a smaller --crop or a larger --resize",
                         plan->crop_width, plan->crop_height, image->width, image->height);
    }
    tare_image in = *image;
    int left = (int)rint((in.width - plan->crop_width) / 2.0), top = (int)rint((in.height - plan->crop_height) / 2.0);
    return tare_image_crop(image, &in, left, top, plan->crop_width, plan->crop_height, arena, err);
}

/* RGB to what a camera's frame of this size gives, or to Y U V. */
static tare_status recolor_late(tare_image *image, const tare_preplan *plan, tare_arena *arena, tare_error *err) {
    if (plan->color < TARE_COLOR_NV12) return TARE_OK;
    if (image->f32 != NULL) {
        return tare_fail(err, TARE_E_USAGE,
                         "nv12 and yuv444 are of whole pixel values, a skimage resize gives fractions; "
                         "resize with pillow or opencv");
    }
    if (plan->color == TARE_COLOR_YUV444) {
        tare_color_to_yuv(image, plan->yuv_range);
        return TARE_OK;
    }
    if (image->width % 2 != 0 || image->height % 2 != 0) {
        return tare_fail(err, TARE_E_USAGE, "NV12 needs even sides, the picture has %dx%d; pass --resize", image->width,
                         image->height);
    }
    uint8_t *frame = tare_arena_alloc_raw(arena, tare_nv12_size(image->width, image->height), 1);
    if (frame == NULL) return tare_fail_memory(err, tare_nv12_size(image->width, image->height));
    tare_nv12_from_rgb(frame, image, plan->yuv_range);
    tare_nv12_to_yuv(image, frame);
    tare_color_from_yuv(image, plan->yuv_range);
    if (plan->color == TARE_COLOR_NV12_BGR) tare_color_swap(image);
    return TARE_OK;
}

static tare_status check_size(const tare_image *image, const tare_picture_shape *shape, const tare_preplan *plan,
                              tare_error *err) {
    if ((shape->width < 0 || shape->width == image->width) && (shape->height < 0 || shape->height == image->height)) {
        return TARE_OK;
    }
    char want[2][24];
    snprintf(want[0], sizeof want[0], shape->width < 0 ? "W" : "%lld", (long long)shape->width);
    snprintf(want[1], sizeof want[1], shape->height < 0 ? "H" : "%lld", (long long)shape->height);
    return tare_fail(err, TARE_E_USAGE,
                     "it wants %s pixels wide and %s high, the picture has %dx%d; pass --resize %sx%s%s%s", want[0],
                     want[1], image->width, image->height, want[0], want[1],
                     plan->fit == TARE_FIT_CENTER ? ":fit-center"
                     : plan->fit                  ? ":fit"
                                                  : "",
                     plan->crop_width > 0 ? " or another --crop" : "");
}

static int64_t place_of(int64_t pixel, int64_t channel, int64_t pixels, int64_t channels, bool last) {
    return last ? pixel * channels + channel : channel * pixels + pixel;
}

static void fill_bytes(uint8_t *to, const tare_image *image, bool last) {
    int64_t pixels = (int64_t)image->width * image->height, channels = image->channels;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t i = 0; i < pixels; i++) to[place_of(i, c, pixels, channels, last)] = image->u8[i * channels + c];
    }
}

/* A table of the 256 values makes the arithmetic exact and cheap; floats after a skimage resize go one by one. */
static void fill_reals(float *to, const tare_image *image, const tare_normalize *normalize, bool last) {
    int64_t pixels = (int64_t)image->width * image->height, channels = image->channels;
    for (int64_t c = 0; c < channels; c++) {
        float table[256];
        for (int v = 0; v < 256; v++) table[v] = tare_normalize_one(normalize, (float)v, (size_t)c);
        for (int64_t i = 0; i < pixels; i++) {
            int64_t from = i * channels + c;
            to[place_of(i, c, pixels, channels, last)] =
                image->u8 != NULL ? table[image->u8[from]] : tare_normalize_one(normalize, image->f32[from], (size_t)c);
        }
    }
}

static tare_shape tensor_shape(const tare_image *image, const tare_value *input, bool last) {
    int64_t dims[4] = { 1, image->channels, image->height, image->width };
    if (last) {
        dims[1] = image->height;
        dims[2] = image->width;
        dims[3] = image->channels;
    }
    return input->shape.rank == 3 ? tare_shape_of(3, dims + 1) : tare_shape_of(4, dims);
}

static tare_status make_tensor(tare_tensor **out, const tare_image *image, const tare_preplan *plan, bool last,
                               const tare_value *input, tare_arena *arena, tare_error *err) {
    tare_dtype dtype = input->dtype == TARE_DTYPE_NONE ? TARE_F32 : input->dtype;
    tare_shape shape = tensor_shape(image, input, last);
    bool plain = image->u8 != NULL && !plan->normalize.is_given, rounds;
    if (!tare_dtype_is_float(dtype)) {
        TARE_TRY(tare_convert_check(TARE_U8, dtype, plan->normalize.is_given, &rounds, err));
    }
    if (plain && dtype == TARE_U8) {
        TARE_TRY(tare_tensor_new(arena, TARE_U8, &shape, out, err));
        fill_bytes((*out)->data, image, last);
        return TARE_OK;
    }
    tare_tensor *reals;
    TARE_TRY(tare_tensor_new(arena, TARE_F32, &shape, &reals, err));
    fill_reals(reals->data, image, &plan->normalize, last);
    if (dtype != TARE_F32) return tare_convert_reals(out, reals->data, &shape, dtype, arena, err);
    *out = reals;
    return TARE_OK;
}

tare_status tare_preprocess_picture(tare_tensor **out, tare_image *image, tare_picture_kind kind,
                                    const tare_preplan *plan, const tare_value *input, tare_arena *arena,
                                    tare_error *err) {
    tare_picture_shape shape;
    if (!tare_picture_shape_of(&shape, &input->shape, plan)) return tare_picture_refuse(input, plan, err);
    TARE_TRY(check_channels(&shape, plan, image->channels == 1, err));
    bool wants_gray = plan->color == TARE_COLOR_GRAY || (plan->color == TARE_COLOR_AS_IS && shape.channels == 1);
    TARE_TRY(recolor_early(image, kind, plan, wants_gray, arena, err));
    TARE_TRY(resize(image, plan, arena, err));
    TARE_TRY(crop(image, plan, arena, err));
    if (kind == TARE_PICTURE_FILE) TARE_TRY(recolor_late(image, plan, arena, err));
    TARE_TRY(check_size(image, &shape, plan, err));
    return make_tensor(out, image, plan, shape.is_last, input, arena, err);
}
