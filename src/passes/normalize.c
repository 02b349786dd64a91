/* What every model goes through when it is read. */
#include "passes/normalize.h"

tare_status tare_passes_normalize(tare_model *model, const tare_normalize_options *options, tare_log *log,
                                  tare_error *err) {
    static const tare_normalize_options none;
    TARE_TRY(tare_graph_sort(model->graph, log, err));
    TARE_TRY(tare_upgrade_graph(model->graph, err));
    TARE_TRY(tare_absorb_qdq(model->graph, options ? options : &none, log, err));
    TARE_TRY(tare_graph_infer(model->graph, err));
#ifndef NDEBUG
    TARE_TRY(tare_graph_verify(model->graph, err));
#endif
    return TARE_OK;
}
