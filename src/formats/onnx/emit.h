/* Writing the protobuf wire format through nanopb's encoder. A message is measured first, since its length stands before
 * it; whoever writes one is called twice with the same data, once on a stream that only counts. */
#ifndef TARE_FORMATS_ONNX_EMIT_H
#define TARE_FORMATS_ONNX_EMIT_H

#include <pb_encode.h>

#include "formats/onnx/wire.h"

/* Each returns false when the stream's callback failed. */
bool tare_emit_s64(pb_ostream_t *to, uint32_t field, int64_t number);
bool tare_emit_f32(pb_ostream_t *to, uint32_t field, float number);
bool tare_emit_text(pb_ostream_t *to, uint32_t field, const char *text); /* NULL and "" are left out */
bool tare_emit_item(pb_ostream_t *to, uint32_t field, const char *text); /* "" is written */
bool tare_emit_bytes(pb_ostream_t *to, uint32_t field, const void *bytes, size_t size);
bool tare_emit_span(pb_ostream_t *to, tare_span whole); /* fields as they stood in a file */

typedef bool tare_emit_body(pb_ostream_t *to, const void *context, const void *item);
bool tare_emit_message(pb_ostream_t *to, uint32_t field, tare_emit_body *body, const void *context, const void *item);

#endif
