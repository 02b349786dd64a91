/* The operators that tare knows. */
#include <tare/check.h>

#include "report/flows.h"

const tare_field tare_ops_fields[] = {
    { "markdown", TARE_FIELD_BOOL, offsetof(tare_ops_options, markdown), .help = "as a Markdown table" },
    { .type = TARE_FIELD_END },
};

tare_status tare_list_ops(const tare_ops_options *options, tare_report **out, tare_error *err) {
    tare_report *report = tare_report_new("tare-ops/1");
    if (!report) return tare_fail_memory(err, 0);
    tare_report_ops(report, options && options->markdown);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return TARE_OK;
}
