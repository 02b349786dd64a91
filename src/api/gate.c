/* Gates. */
#include "api/gate.h"

tare_status tare_gate_output(const char *name, const tare_metrics *metrics, double least_db, tare_error *err) {
    if (!(least_db > 0) || metrics->sqnr_db >= least_db) return TARE_OK;
    return tare_fail(err, TARE_E_GATE, "output '%s': SQNR %.2f dB is below %.2f dB", name, metrics->sqnr_db, least_db);
}
