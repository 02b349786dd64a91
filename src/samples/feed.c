/* An input and its data: what is checked before anything is read, and how one item is read, by kind of data. */
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "samples/data.h"

/* ORDER: none; bits of data->told */
enum { TOLD_ORIENTATION = 1, TOLD_DEEP = 2, TOLD_ALPHA = 4, TOLD_DAMAGE = 8, TOLD_GRAY = 16 };

/* An array as the input sees it: transposed when the layout that was declared is not the input's. */
static tare_status set_layout(tare_array *array, const tare_feed *feed, tare_error *err) {
    tare_sample_layout layout = feed->plan.layout;
    if (layout == TARE_SAMPLE_LAYOUT_MODEL) return TARE_OK;
    const tare_shape *input = &feed->value->shape;
    if ((input->rank != 3 && input->rank != 4) || array->shape.rank < 3) {
        return tare_fail(err, TARE_E_USAGE,
                         "layout is for arrays of pictures, of 3 or 4 dimensions; leave --layout out");
    }
    bool data_last = layout == TARE_SAMPLE_NHWC, model_last = tare_channels_are_last(input, TARE_SAMPLE_LAYOUT_MODEL);
    if (data_last && !model_last) tare_array_channels_first(array);
    if (!data_last && model_last) tare_array_channels_last(array);
    return TARE_OK;
}

/* Where an array lacks a dimension that the input has as 1, so that it would fit with it; -1: nowhere. */
static int find_missing_axis(const tare_shape *array, const tare_shape *input, bool whole) {
    tare_cut cut;
    if (input->rank <= 0 || array->rank >= input->rank) return -1;
    for (int axis = array->rank; axis >= 0; axis--) {
        if (input->dim[input->rank - array->rank - 1 + axis] != 1) continue;
        tare_shape with = *array;
        for (int d = with.rank++; d > axis; d--) with.dim[d] = with.dim[d - 1];
        with.dim[axis] = 1;
        if (tare_array_cut(&cut, &with, input, whole)) return axis;
    }
    return -1;
}

static tare_status refuse_axis(const tare_shape *array, int axis, const tare_value *input, tare_error *err) {
    static const char before[] = ":, :, :, :, :, :, :, "; /* of at most TARE_RANK_MAX - 1 dimensions */
    const bool is_last = axis == array->rank && axis > 0;
    char want[256], got[256];
    tare_shape_print(want, sizeof want, &input->shape, input->graph->model->symbols.at);
    tare_shape_print(got, sizeof got, array, NULL);
    return tare_fail(err, TARE_E_USAGE,
                     "it wants %s, the array has %s: axis %d is missing, of one number; save x[%.*sNone] instead of x",
                     want, got, axis, is_last ? 5 : 3 * axis, is_last ? "..., " : before);
}

static tare_status cut_array(tare_cut *cut, tare_array *array, const tare_feed *feed, bool whole, tare_error *err) {
    tare_shape as_read = array->shape;
    TARE_TRY(set_layout(array, feed, err));
    if (tare_array_cut(cut, &array->shape, &feed->value->shape, whole)) return TARE_OK;
    bool is_moved = feed->plan.layout != TARE_SAMPLE_LAYOUT_MODEL;
    if (is_moved && tare_array_cut(cut, &as_read, &feed->value->shape, whole))
        return tare_fail(err, TARE_E_USAGE, "the array fits the input as it is: leave --layout out");
    const int axis = is_moved ? -1 : find_missing_axis(&as_read, &feed->value->shape, whole);
    if (axis >= 0) return refuse_axis(&as_read, axis, feed->value, err);
    return tare_array_refuse(is_moved ? &array->shape : &as_read, feed->value, whole, err);
}

/* The dimension of a sample that mean and std count along; -1: one number does for all. */
static tare_status find_channels(int *axis, const tare_feed *feed, const tare_shape *sample, tare_error *err) {
    const tare_normalize *n = &feed->plan.normalize;
    *axis = -1;
    if (n->mean_count <= 1 && n->std_count <= 1) return TARE_OK;
    if (sample->rank == 3 || sample->rank == 4) {
        bool last = tare_channels_are_last(sample, TARE_SAMPLE_LAYOUT_MODEL);
        *axis = sample->rank - (last ? 1 : 3);
        if (sample->dim[*axis] == 3) return TARE_OK;
    }
    char shape[128];
    tare_shape_print(shape, sizeof shape, sample, NULL);
    return tare_fail(err, TARE_E_USAGE,
                     "mean or std has 3 numbers, one per channel, but %s has no 3 channels; pass one number", shape);
}

/* Mean and std against pixels of 0...255. */
static tare_status check_pixels(const tare_feed *feed, tare_log *log, tare_error *err) {
    const char *doubt;
    TARE_TRY(tare_preplan_check_pixels(&feed->plan, &doubt, err));
    if (doubt) tare_log_warn(log, "input '%s': %s", feed->value->name, doubt);
    for (size_t i = 0; i < feed->plan.normalize.std_count; i++)
        if (feed->plan.normalize.std[i] < 0)
            return tare_fail(err, TARE_E_USAGE, "std %g is below 0, as no deviation is",
                             (double)feed->plan.normalize.std[i]);
    return TARE_OK;
}

/* Checks type, options and shape of an array, and says how it is cut. */
static tare_status check_array(tare_feed *feed, const tare_array *as_read, bool whole, tare_log *log, tare_error *err) {
    const char *option = tare_preplan_wants_picture(&feed->plan);
    if (option != NULL) {
        return tare_fail(err, TARE_E_USAGE, "%s works on pictures, but the data are arrays; leave --%s out", option,
                         option);
    }
    bool rounds;
    int axis;
    TARE_TRY(tare_convert_check(as_read->dtype, feed->value->dtype, feed->plan.normalize.is_given, &rounds, err));
    tare_array array = *as_read, sample;
    TARE_TRY(cut_array(&feed->cut, &array, feed, whole, err));
    if (feed->cut.count == 0) return tare_fail(err, TARE_E_USAGE, "the array has no samples, its first dimension is 0");
    tare_array_slice(&sample, &array, &feed->cut, 0);
    TARE_TRY(find_channels(&axis, feed, &sample.shape, err));
    if (array.dtype == TARE_U8) TARE_TRY(check_pixels(feed, log, err));
    if (rounds) {
        tare_log_note(log, "input '%s': %s numbers are rounded to %s", feed->value->name, tare_dtype_name(array.dtype),
                      tare_dtype_name(feed->value->dtype));
    }
    if (feed->cut.add) {
        tare_log_note(log, "input '%s': each sample lacks the first dimension, 1 is put there", feed->value->name);
    }
    return TARE_OK;
}

/* The array's number of samples goes to the only file, or one to each. */
static void count_items(tare_data *data, size_t single) {
    data->item_count = 0;
    for (size_t i = 0; i < data->files.count; i++) {
        tare_data_file *file = &data->files.at[i];
        file->first = data->item_count;
        file->count = data->is_single ? single : 1;
        data->item_count += file->count;
    }
}

static bool is_whole(const tare_data *data) { return data->whole || !data->is_single; }

static void count_cut(tare_feed *feed) {
    count_items(feed->data, feed->cut.count);
    feed->data->is_indexed = feed->data->is_single && feed->cut.take > 0;
}

/* The bytes of a file: the single one that is open, or the file's own, with where a list names it in errors. */
static tare_status open_file(tare_file *out, const tare_data *data, const tare_data_file *file, tare_error *err) {
    *out = data->map;
    if (out->data != NULL || tare_file_open(out, file->path, err) == TARE_OK) return TARE_OK;
    return file->line == 0 ? err->status : tare_within(err, "%s: line %zu", data->list, file->line);
}

/* The single file stays open. */
static void close_file(tare_file *file, const tare_data *data) {
    if (data->map.data == NULL) tare_file_close(file);
}

/* Puts file and input before the error's text; the file is not known when it is NULL. */
static tare_status fail_in(const tare_feed *feed, const tare_data_file *file, tare_error *err) {
    tare_within(err, "input '%s'", feed->value->name);
    return file == NULL ? tare_within(err, "%s", feed->data->text) : tare_data_within(feed->data, file, err);
}

static tare_status bind_npy_file(tare_feed *feed, const tare_file *file, tare_log *log, tare_error *err) {
    TARE_TRY(tare_npy_parse(&feed->npy, file->data, file->size, file->size, err));
    tare_array array = tare_npy_array(&feed->npy, file->data + feed->npy.offset);
    TARE_TRY(check_array(feed, &array, is_whole(feed->data), log, err));
    size_t end = feed->npy.offset + feed->npy.size;
    if (end < file->size) {
        tare_log_warn(log, "%s: %zu bytes after the array are left out", feed->data->files.at[0].path,
                      file->size - end);
    }
    return TARE_OK;
}

static tare_status bind_npy(tare_feed *feed, tare_log *log, tare_error *err) {
    tare_data *data = feed->data;
    tare_file first;
    TARE_TRY(open_file(&first, data, &data->files.at[0], err));
    tare_status status = bind_npy_file(feed, &first, log, err);
    close_file(&first, data);
    if (status != TARE_OK) return fail_in(feed, &data->files.at[0], err);
    count_cut(feed);
    return TARE_OK;
}

/* The archive's array for this input: by name, or the only one where it has this input alone to feed. */
static tare_status find_key(const tare_npz *npz, const tare_feed *feed, size_t *index, tare_error *err) {
    *index = tare_npz_find(npz, feed->key != NULL ? feed->key : feed->value->name);
    if (*index != SIZE_MAX) return TARE_OK;
    if (feed->key == NULL && feed->is_alone && tare_npz_count(npz) == 1) {
        *index = 0;
        return TARE_OK;
    }
    return tare_fail(err, TARE_E_USAGE, "the archive has no array '%s'; it has %zu%s%s%s",
                     feed->key != NULL ? feed->key : feed->value->name, tare_npz_count(npz),
                     tare_npz_count(npz) > 0 ? ", the first '" : "",
                     tare_npz_count(npz) > 0 ? tare_npz_name(npz, 0) : "", tare_npz_count(npz) > 0 ? "'" : "");
}

static tare_status bind_npz_open(tare_feed *feed, tare_npz *npz, tare_arena *arena, tare_log *log, tare_error *err) {
    size_t index;
    TARE_TRY(find_key(npz, feed, &index, err));
    TARE_TRY(tare_npz_read_header(npz, index, &feed->npy, err));
    static const uint8_t unread[1];
    tare_array array = tare_npy_array(&feed->npy, unread);
    TARE_TRY(check_array(feed, &array, is_whole(feed->data), log, err));
    feed->is_held = feed->cut.count > 1 && (!tare_npz_is_stored(npz, index) || feed->npy.fortran);
    if (strcmp(tare_npz_name(npz, index), feed->value->name) == 0) return TARE_OK;
    feed->key = tare_arena_strdup(arena, tare_npz_name(npz, index));
    tare_log_note(log, "input '%s': is fed with the array '%s'", feed->value->name, feed->key);
    return feed->key != NULL ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status bind_npz(tare_feed *feed, tare_arena *arena, tare_log *log, tare_error *err) {
    tare_data *data = feed->data;
    tare_file first;
    tare_npz *npz = NULL;
    TARE_TRY(open_file(&first, data, &data->files.at[0], err));
    tare_status status = tare_npz_open_bytes(&npz, first.data, first.size, err);
    if (status == TARE_OK) status = bind_npz_open(feed, npz, arena, log, err);
    tare_npz_close(npz);
    close_file(&first, data);
    if (status != TARE_OK) return fail_in(feed, &data->files.at[0], err);
    count_cut(feed);
    return TARE_OK;
}

static tare_array raw_array(const tare_data *data, const uint8_t *bytes) {
    tare_array array = { .dtype = data->raw_dtype, .shape = data->raw_shape, .data = bytes };
    tare_array_set_strides(&array, false);
    return array;
}

static tare_status check_picture(const tare_feed *feed, tare_log *log, tare_error *err) {
    tare_picture_shape shape;
    bool rounds;
    tare_dtype dtype = feed->value->dtype;
    if (!tare_picture_shape_of(&shape, &feed->value->shape, &feed->plan)) {
        return tare_picture_refuse(feed->value, &feed->plan, err);
    }
    bool declared = feed->plan.normalize.is_given || tare_dtype_is_float(dtype);
    TARE_TRY(check_pixels(feed, log, err));
    return tare_convert_check(TARE_U8, dtype, declared, &rounds, err);
}

static tare_status check_raw(tare_feed *feed, tare_log *log, tare_error *err) {
    static const uint8_t unread[1];
    if (feed->data->kind == TARE_DATA_NV12) return check_picture(feed, log, err);
    tare_array array = raw_array(feed->data, unread);
    return check_array(feed, &array, feed->data->whole, log, err);
}

static tare_status bind_raw(tare_feed *feed, tare_log *log, tare_error *err) {
    tare_data *data = feed->data;
    feed->cut = (tare_cut){ .count = 1 };
    if (check_raw(feed, log, err) != TARE_OK) return fail_in(feed, NULL, err);
    data->item_count = 0;
    for (size_t i = 0; i < data->files.count; i++) {
        tare_data_file *file = &data->files.at[i];
        uint64_t size = 0;
        bool is_there = tare_path_is_file(file->path, &size);
        tare_status status = is_there ? tare_raw_count(data, size, &file->count, err)
                                      : tare_fail(err, TARE_E_IO, "there is no such file");
        if (status != TARE_OK) return tare_data_within(data, file, err);
        file->count *= feed->cut.count;
        file->first = data->item_count;
        data->item_count += file->count;
    }
    data->is_indexed = data->is_single && data->item_count > 1;
    return TARE_OK;
}

static tare_status bind_image(tare_feed *feed, tare_log *log, tare_error *err) {
    if (check_picture(feed, log, err) != TARE_OK) return fail_in(feed, NULL, err);
    feed->cut = (tare_cut){ .count = 1 };
    count_items(feed->data, 1);
    return TARE_OK;
}

static tare_status bind_random(tare_feed *feed, tare_arena *arena, tare_error *err) {
    tare_tensor *unused;
    bool rounds;
    tare_arena_mark mark = tare_arena_get_mark(arena);
    tare_dtype dtype = feed->value->dtype;
    tare_status status = tare_convert_check(TARE_F32, dtype, true, &rounds, err);
    if (status == TARE_OK) status = tare_random_tensor(feed, 0, &unused, arena, err);
    tare_arena_release(arena, mark);
    if (status != TARE_OK) return fail_in(feed, NULL, err);
    feed->data->item_count = feed->data->declared;
    return TARE_OK;
}

static tare_status bind(tare_feed *feed, tare_arena *arena, tare_log *log, tare_error *err) {
    switch (feed->data->kind) {
    case TARE_DATA_IMAGE: return bind_image(feed, log, err);
    case TARE_DATA_NPY: return bind_npy(feed, log, err);
    case TARE_DATA_NPZ: return bind_npz(feed, arena, log, err);
    case TARE_DATA_RAW:
    case TARE_DATA_NV12: return bind_raw(feed, log, err);
    case TARE_DATA_RANDOM: return bind_random(feed, arena, err);
    case TARE_DATA_KIND_COUNT: break;
    }
    return tare_fail(err, TARE_E_BUG, "a source of no kind");
}

/* A directory whose only file holds many samples means that file; one of a single sample keeps its name for id. */
static tare_status unfold(tare_feed *feed, tare_arena *arena, tare_error *err) {
    tare_data *data = feed->data;
    const bool is_array = data->kind == TARE_DATA_NPY || data->kind == TARE_DATA_NPZ;
    tare_error none = { 0 };
    if (!is_array || data->files.count != 1 || data->is_single || data->list || data->whole) return TARE_OK;
    data->is_single = true;
    if (bind(feed, arena, NULL, &none) == TARE_OK && data->item_count > 1)
        return tare_file_open(&data->map, data->files.at[0].path, err);
    data->is_single = data->is_indexed = false; /* what is wrong is told when it is bound */
    feed->is_held = false;
    return none.status == TARE_E_LIMIT ? (*err = none, TARE_E_LIMIT) : TARE_OK;
}

/* Files of a directory or list are a sample each, whatever their batch. */
static void warn_batches(const tare_feed *feed, tare_log *log) {
    const tare_data *data = feed->data;
    const tare_shape *input = &feed->value->shape;
    const bool is_array = data->kind == TARE_DATA_NPY || data->kind == TARE_DATA_NPZ;
    if (!is_array || data->is_single || data->whole || input->rank < 1 || input->dim[0] >= 0) return;
    if (feed->npy.shape.rank != input->rank || feed->npy.shape.dim[0] < 2) return;
    tare_log_warn(
        log,
        "input '%s': each file is one sample, and '%s' has a batch of %lld: join them to one .npy for a sample "
        "a row, or pass --whole if that is meant",
        feed->value->name, data->files.at[0].path, (long long)feed->npy.shape.dim[0]);
}

tare_status tare_feed_bind(tare_feed *feed, tare_arena *arena, tare_log *log, tare_error *err) {
    TARE_TRY(unfold(feed, arena, err));
    TARE_TRY(bind(feed, arena, log, err));
    warn_batches(feed, log);
    return TARE_OK;
}

/* ---- reading ---- */

static tare_status convert(const tare_feed *feed, tare_array *array, const tare_cut *cut, size_t slice,
                           tare_tensor **out, tare_arena *arena, tare_error *err) {
    int axis;
    tare_array sample;
    tare_array_slice(&sample, array, cut, slice);
    TARE_TRY(find_channels(&axis, feed, &sample.shape, err));
    tare_normalize normalize = feed->plan.normalize;
    normalize.unit = normalize.unit && array->dtype == TARE_U8;
    return tare_convert_array(out, &sample, feed->value->dtype, &normalize, axis, arena, err);
}

/* An array of a file that is one sample: only the first file of many was checked before. */
static tare_status convert_unchecked(const tare_feed *feed, tare_array *array, tare_tensor **out, tare_arena *arena,
                                     tare_error *err) {
    bool rounds;
    tare_cut cut;
    TARE_TRY(tare_convert_check(array->dtype, feed->value->dtype, feed->plan.normalize.is_given, &rounds, err));
    TARE_TRY(cut_array(&cut, array, feed, true, err));
    return convert(feed, array, &cut, 0, out, arena, err);
}

static tare_status get_npy(const tare_feed *feed, const tare_file *file, size_t slice, tare_tensor **out,
                           tare_arena *arena, tare_error *err) {
    tare_npy npy = feed->npy;
    if (!feed->data->is_single) TARE_TRY(tare_npy_parse(&npy, file->data, file->size, file->size, err));
    tare_array array = tare_npy_array(&npy, file->data + npy.offset);
    if (!feed->data->is_single) return convert_unchecked(feed, &array, out, arena, err);
    TARE_TRY(set_layout(&array, feed, err));
    return convert(feed, &array, &feed->cut, slice, out, arena, err);
}

/* A whole array of an archive that is one sample. */
static tare_status get_npz_whole(const tare_feed *feed, tare_npz *npz, tare_tensor **out, tare_arena *arena,
                                 tare_error *err) {
    size_t index;
    tare_npy npy;
    TARE_TRY(find_key(npz, feed, &index, err));
    TARE_TRY(tare_npz_read_header(npz, index, &npy, err));
    uint8_t *numbers = tare_arena_alloc_raw(arena, npy.size + 1, 1);
    if (numbers == NULL) return tare_fail_memory(err, npy.size);
    TARE_TRY(tare_npz_read_numbers(npz, index, &npy, 0, npy.size, numbers, err));
    tare_array array = tare_npy_array(&npy, numbers);
    return convert_unchecked(feed, &array, out, arena, err);
}

/* One sample of a stored array of many: its numbers lie together, since they were checked to be row-major. */
static tare_status get_npz_part(const tare_feed *feed, tare_npz *npz, size_t slice, tare_tensor **out,
                                tare_arena *arena, tare_error *err) {
    size_t index;
    TARE_TRY(find_key(npz, feed, &index, err));
    size_t size = feed->npy.size / feed->cut.count;
    uint8_t *numbers = tare_arena_alloc_raw(arena, size + 1, 1);
    if (numbers == NULL) return tare_fail_memory(err, size);
    TARE_TRY(tare_npz_read_numbers(npz, index, &feed->npy, slice * size, size, numbers, err));
    tare_npy part = feed->npy;
    tare_cut cut = feed->cut;
    part.shape.dim[0] = cut.take;
    cut.count = 1;
    tare_array array = tare_npy_array(&part, numbers);
    TARE_TRY(set_layout(&array, feed, err));
    return convert(feed, &array, &cut, 0, out, arena, err);
}

static tare_status get_npz(const tare_feed *feed, const tare_file *file, size_t slice, tare_tensor **out,
                           tare_arena *arena, tare_error *err) {
    if (feed->is_held) {
        tare_array array = tare_npy_array(&feed->npy, feed->numbers);
        TARE_TRY(set_layout(&array, feed, err));
        return convert(feed, &array, &feed->cut, slice, out, arena, err);
    }
    tare_npz *npz;
    TARE_TRY(tare_npz_open_bytes(&npz, file->data, file->size, err));
    tare_status status = feed->cut.count > 1 ? get_npz_part(feed, npz, slice, out, arena, err)
                                             : get_npz_whole(feed, npz, out, arena, err);
    tare_npz_close(npz);
    return status;
}

static tare_status hold(tare_feed *feed, tare_npz *npz, tare_arena *arena, tare_error *err) {
    size_t index;
    TARE_TRY(find_key(npz, feed, &index, err));
    uint8_t *numbers = tare_arena_alloc_raw(arena, feed->npy.size + 1, 1);
    if (numbers == NULL) return tare_fail_memory(err, feed->npy.size);
    TARE_TRY(tare_npz_read_numbers(npz, index, &feed->npy, 0, feed->npy.size, numbers, err));
    feed->numbers = numbers;
    return TARE_OK;
}

tare_status tare_feed_hold(tare_feed *feed, tare_arena *arena, tare_error *err) {
    if (!feed->is_held || feed->numbers != NULL) return TARE_OK;
    const tare_data *data = feed->data;
    tare_npz *npz = NULL;
    tare_status status = tare_npz_open_bytes(&npz, data->map.data, data->map.size, err);
    if (status == TARE_OK) status = hold(feed, npz, arena, err);
    tare_npz_close(npz);
    return status == TARE_OK ? TARE_OK : tare_data_within(data, &data->files.at[0], err);
}

static void tell(tare_data *data, unsigned bit, tare_log *log, const tare_data_file *file, const char *what) {
    if ((atomic_fetch_or(&data->told, bit) & bit) == 0) tare_log_note(log, "%s: %s", file->path, what);
}

static void tell_facts(tare_data *data, const tare_data_file *file, const tare_image_facts *facts, tare_log *log) {
    if (facts->orientation != 1) {
        tell(data, TOLD_ORIENTATION, log, file,
             "is turned or mirrored by its EXIF orientation, which is ignored here and in like files, as Pillow "
             "ignores it");
    }
    if (facts->is_deep)
        tell(data, TOLD_DEEP, log, file, "has 16 bits a channel; the high 8 are used here and in like files");
    if (facts->has_alpha)
        tell(data, TOLD_ALPHA, log, file, "has transparency, which is dropped here and in like files");
    if (facts->warning[0] != '\0' && (atomic_fetch_or(&data->told, TOLD_DAMAGE) & TOLD_DAMAGE) == 0) {
        tare_log_warn(log, "%s: is damaged and read over: %s", file->path, facts->warning);
    }
}

static void tell_gray(const tare_feed *feed, const tare_image *image, const tare_data_file *from, tare_log *log) {
    tare_picture_shape shape;
    const bool is_gray = image->channels == 1 && feed->plan.color != TARE_COLOR_GRAY;
    if (is_gray && tare_picture_shape_of(&shape, &feed->value->shape, &feed->plan) && shape.channels == 3)
        tell(feed->data, TOLD_GRAY, log, from, "is gray; the input's three channels are alike here and in like files");
}

/* One bad picture among many is in the way of all. */
static tare_status advise_broken(const tare_feed *feed, tare_error *err) {
    const tare_error why = *err;
    if (feed->data->files.count < 2) return why.status;
    return tare_fail(err, TARE_E_MALFORMED, "%s; mend it or leave it out: move it away, or pass a list of the others",
                     why.text);
}

static tare_status get_image(const tare_feed *feed, const tare_data_file *from, const tare_file *file,
                             tare_tensor **out, tare_log *log, tare_arena *arena, tare_error *err) {
    tare_image image;
    tare_image_facts facts;
    const tare_status status = tare_image_decode(&image, &facts, file->data, file->size, arena, err);
    if (status != TARE_OK) return status == TARE_E_MALFORMED ? advise_broken(feed, err) : status;
    tell_facts(feed->data, from, &facts, log);
    tell_gray(feed, &image, from, log);
    return tare_preprocess_picture(out, &image, TARE_PICTURE_FILE, &feed->plan, feed->value, arena, err);
}

static tare_status get_frame(const tare_feed *feed, const uint8_t *frame, tare_tensor **out, tare_arena *arena,
                             tare_error *err) {
    const tare_data *data = feed->data;
    tare_image image;
    TARE_TRY(tare_image_new(&image, (int)data->raw_shape.dim[1], (int)data->raw_shape.dim[0], 3, false, arena, err));
    tare_nv12_to_yuv(&image, frame);
    return tare_preprocess_picture(out, &image, TARE_PICTURE_NV12, &feed->plan, feed->value, arena, err);
}

static tare_status get_raw(const tare_feed *feed, const tare_file *file, size_t slice, tare_tensor **out,
                           tare_arena *arena, tare_error *err) {
    size_t one = tare_raw_size(feed->data), at = slice / feed->cut.count * one;
    if (file->size < at + one) {
        return tare_fail(err, TARE_E_IO, "it has shrunk to %zu bytes since it was counted", file->size);
    }
    if (feed->data->kind == TARE_DATA_NV12) return get_frame(feed, file->data + at, out, arena, err);
    tare_array array = raw_array(feed->data, file->data + at);
    TARE_TRY(set_layout(&array, feed, err));
    return convert(feed, &array, &feed->cut, slice % feed->cut.count, out, arena, err);
}

/* Where in the single file one sample lies: its own numbers, where an array has them together, else all. */
static void find_part(const tare_feed *feed, const tare_file *file, size_t slice, size_t *offset, size_t *size) {
    *offset = 0, *size = file->size;
    if (feed->data->kind != TARE_DATA_NPY || feed->npy.fortran) return;
    *size = feed->npy.size / feed->cut.count;
    *offset = feed->npy.offset + slice * *size;
}

/* A large array that is read sample by sample does not stay in memory. */
static tare_status get_single(const tare_feed *feed, const tare_file *file, size_t slice, tare_tensor **out,
                              tare_arena *arena, tare_error *err) {
    size_t offset, size;
    find_part(feed, file, slice, &offset, &size);
    tare_file_visit(file, offset, size);
    tare_status status = feed->data->kind == TARE_DATA_NPY ? get_npy(feed, file, slice, out, arena, err)
                                                           : get_npz(feed, file, slice, out, arena, err);
    tare_file_let_go(file, offset, size);
    return status;
}

tare_status tare_feed_get(const tare_feed *feed, size_t item, tare_tensor **out, tare_log *log, tare_arena *arena,
                          tare_error *err) {
    tare_data *data = feed->data;
    assert(item < data->item_count);
    if (data->kind == TARE_DATA_RANDOM) return tare_random_tensor(feed, item, out, arena, err);
    size_t slice;
    const tare_data_file *from = tare_data_find(data, item, &slice);
    if (data->map.data != NULL) {
        tare_status status = get_single(feed, &data->map, slice, out, arena, err);
        return status == TARE_OK ? TARE_OK : fail_in(feed, from, err);
    }
    tare_file file;
    tare_status status;
    TARE_TRY(open_file(&file, data, from, err));
    switch (data->kind) {
    case TARE_DATA_IMAGE: status = get_image(feed, from, &file, out, log, arena, err); break;
    case TARE_DATA_NPY: status = get_npy(feed, &file, slice, out, arena, err); break;
    case TARE_DATA_NPZ: status = get_npz(feed, &file, slice, out, arena, err); break;
    default: status = get_raw(feed, &file, slice, out, arena, err); break;
    }
    close_file(&file, data);
    return status == TARE_OK ? TARE_OK : fail_in(feed, from, err);
}
