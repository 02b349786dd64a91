/* What calibration saw: files of it added up, and told. */
#include <tare/quantize.h>

#include "base/file.h"
#include "report/flows.h"

static tare_status check_paths(const char *const *paths, size_t count, const char *to, tare_error *err) {
    tare_file_id id, target;
    if (!tare_path_identify(to, &target)) return TARE_OK;
    for (size_t i = 0; i < count; i++)
        if (tare_path_identify(paths[i], &id) && !tare_file_id_compare(&id, &target))
            return tare_fail(err, TARE_E_USAGE,
                             "%s: is one of the files that are merged; inputs are never touched, so name "
                             "another",
                             to);
    return TARE_OK;
}

static tare_status add_file(tare_ranges *into, const char *path, tare_error *err) {
    tare_ranges *more;
    TARE_TRY(tare_ranges_read(&more, path, err));
    const tare_status status = tare_ranges_merge(into, more, err);
    tare_ranges_free(more);
    return status == TARE_OK ? TARE_OK : tare_within(err, "%s", path);
}

tare_status tare_ranges_merge_files(tare_ranges **out, const char *const *paths, size_t count, const char *to,
                                    tare_error *err) {
    tare_ranges *ranges;
    tare_status status = TARE_OK;
    *out = NULL;
    if (!count) return tare_fail(err, TARE_E_USAGE, "no ranges to merge");
    TARE_TRY(check_paths(paths, count, to, err));
    TARE_TRY(tare_ranges_read(&ranges, paths[0], err));
    for (size_t i = 1; status == TARE_OK && i < count; i++) status = add_file(ranges, paths[i], err);
    if (status == TARE_OK)
        *out = ranges;
    else
        tare_ranges_free(ranges);
    return status;
}

tare_status tare_ranges_tell(const tare_ranges *ranges, const char *path, tare_report **out, tare_error *err) {
    *out = NULL;
    tare_arena *arena = tare_arena_new();
    tare_report *report = arena ? tare_report_new("tare-ranges-seen/1") : NULL;
    if (report) tare_report_ranges(report, ranges, path, arena);
    tare_arena_free(arena);
    if (!report) return tare_fail_memory(err, 0);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return TARE_OK;
}
