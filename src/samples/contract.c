/* The contract of an input in words, with what its first sample came to, and what looks wrong about it. */
#include <math.h>
#include <stdio.h>

#include "samples/data.h"

static void find_extremes(tare_contract *c, const tare_tensor *tensor) {
    const size_t count = tensor->size / tare_dtype_size(tensor->dtype);
    double sum = 0;
    c->lo = INFINITY, c->hi = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double x = tare_dtype_f64_at(tensor->dtype, tensor->data, i);
        if (x < c->lo) c->lo = x;
        if (x > c->hi) c->hi = x;
        sum += x;
    }
    c->average = count ? sum / (double)count : 0;
}

tare_status tare_feed_contract(tare_contract *out, const tare_feed *feed, const tare_tensor *first, tare_arena *arena,
                               tare_error *err) {
    const tare_data *data = feed->data;
    const bool is_picture = data->kind == TARE_DATA_IMAGE || data->kind == TARE_DATA_NV12;
    const tare_dtype dtype = data->kind == TARE_DATA_RAW ? data->raw_dtype : feed->npy.dtype;
    const bool has_pixels = is_picture || dtype == TARE_U8 || data->kind == TARE_DATA_RANDOM;
    tare_text text = { .arena = arena };
    tare_picture_shape picture;
    char shape[128], doubt[TARE_DOUBT_SIZE];
    tare_shape_print(shape, sizeof shape, &first->shape, NULL);
    if (data->kind == TARE_DATA_RANDOM) tare_text_puts(&text, "synthetic, ");
    const bool has_picture = is_picture && tare_picture_shape_of(&picture, &first->shape, &feed->plan);
    tare_preplan *plan = tare_arena_alloc(arena, 1, sizeof *plan); /* the contract points into it */
    if (plan == NULL) return tare_fail_memory(err, sizeof *plan);
    *plan = feed->plan;
    if (has_picture && picture.channels == 1 && plan->color == TARE_COLOR_AS_IS) plan->color = TARE_COLOR_GRAY;
    tare_preplan_print(&text, plan, is_picture, has_pixels);
    *out = (tare_contract){ .input = feed->value->name,
                            .type = tare_dtype_name(first->dtype),
                            .shape = tare_arena_strdup(arena, shape),
                            .source = data->text,
                            .text = text.at,
                            .ignored = data->ignored,
                            .dims = first->shape };
    if (has_picture) out->layout = picture.is_last ? "nhwc" : "nchw";
    tare_preplan_list(out, plan, is_picture, has_pixels, arena);
    find_extremes(out, first);
    const bool has_doubt = tare_feed_doubt(feed, doubt);
    if (has_doubt) out->doubt = tare_arena_strdup(arena, doubt);
    return out->shape && !text.failed && (!has_doubt || out->doubt) ? TARE_OK : tare_fail_memory(err, 0);
}

/* ---- what looks wrong ---- */

static bool is_constant_but(const tare_node *node, const tare_value *value) {
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] != NULL && node->inputs[i] != value && !tare_value_is_constant(node->inputs[i]))
            return false;
    }
    return true;
}

/* The model's own first step if that may normalize; NULL: it is none. */
static const tare_node *own_step(const tare_value *input) {
    static const char *const steps[] = { "Sub", "Add", "Mul", "Div", "BatchNormalization", "InstanceNormalization" };
    if (input->uses.count != 1) return NULL;
    const tare_node *node = input->uses.at[0].node;
    if (tare_node_is(node, "Cast") && tare_value_has_one_use(tare_node_output(node, 0)))
        node = tare_node_output(node, 0)->uses.at[0].node;
    const tare_value *in = tare_node_input(node, 0);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (tare_node_is(node, steps[i]) && is_constant_but(node, in)) return node;
    return NULL;
}

/* Pixels less a mean, as wide as before. */
static bool is_undivided(const tare_normalize *n) {
    bool is_shifted = false;
    for (size_t i = 0; i < n->mean_count; i++) is_shifted |= n->mean[i] >= 1;
    return is_shifted && !n->unit && n->std_count == 0 && n->scale == 0;
}

bool tare_feed_doubt(const tare_feed *feed, char text[TARE_DOUBT_SIZE]) {
    const bool is_picture = feed->data->kind == TARE_DATA_IMAGE || feed->data->kind == TARE_DATA_NV12;
    const tare_value *input = feed->value;
    const tare_node *step = own_step(input);
    if (feed->plan.normalize.is_given && step)
        snprintf(text, TARE_DOUBT_SIZE,
                 "input '%s': the model begins with node '%s' (%s), which may normalize already, and mean, std or "
                 "scale do it before; leave them out if so",
                 input->name, step->name, step->type);
    else if (is_picture && !feed->plan.normalize.is_given && !step && tare_dtype_is_float(input->dtype))
        snprintf(text, TARE_DOUBT_SIZE,
                 "input '%s': pixels go in as they are, 0...255: pass the --mean and --std that the model was "
                 "trained with, --scale 1/255 for 0...1, or --scale 1 if 0...255 is right",
                 input->name);
    else if (is_picture && is_undivided(&feed->plan.normalize) && tare_dtype_is_float(input->dtype))
        snprintf(
            text, TARE_DOUBT_SIZE,
            "input '%s': pixels go in less their mean, and still 255 wide: pass the --std that the model was trained "
            "with, or --std 1 if it had none",
            input->name);
    else
        return false;
    return true;
}
