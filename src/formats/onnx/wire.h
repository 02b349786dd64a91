/* Reading the protobuf wire format: fields one after another out of mapped bytes, nothing copied, every error with its
 * offset in the file. nanopb decodes the numbers; what a field means is the caller's business. */
#ifndef TARE_FORMATS_ONNX_WIRE_H
#define TARE_FORMATS_ONNX_WIRE_H

#include <pb_decode.h>

#include "base/status.h"

typedef struct tare_span {
    const uint8_t *at;
    size_t size;
} tare_span;

/* A message being walked. */
typedef struct tare_wire {
    pb_istream_t stream;
    const uint8_t *base, *end; /* the file's first byte, and the byte after the message */
    const char *message;       /* its type, for errors: "GraphProto" */
    uint64_t seen;             /* bit n: the singular field n was there */
} tare_wire;

typedef struct tare_wire_field {
    uint32_t number; /* 0: the message is at its end */
    pb_wire_type_t type;
    uint64_t bits;     /* VARINT; 32BIT and 64BIT as they stand */
    tare_span payload; /* STRING: the bytes of a message, text or packed list */
    tare_span whole;   /* from the tag to the end of the field */
} tare_wire_field;

void tare_wire_open(tare_wire *wire, const uint8_t *base, tare_span bytes, const char *message);
tare_status tare_wire_next(tare_wire *wire, tare_wire_field *field, tare_error *err);

/* TARE_E_MALFORMED: "byte N: field F of M: text". */
tare_status tare_wire_fail(const tare_wire *wire, const tare_wire_field *field, tare_error *err, const char *format,
                           ...) TARE_PRINTF(4, 5);

/* Singular fields: of this wire type, and there once at most. */
tare_status tare_wire_bytes(tare_wire *wire, const tare_wire_field *field, tare_span *to, tare_error *err);
tare_status tare_wire_s64(tare_wire *wire, const tare_wire_field *field, int64_t *to, tare_error *err);
tare_status tare_wire_f32(tare_wire *wire, const tare_wire_field *field, float *to, tare_error *err);

/* An item of a repeated field of messages or text. */
tare_status tare_wire_item(const tare_wire *wire, const tare_wire_field *field, tare_span *to, tare_error *err);

/* Items of a repeated field of numbers, packed or not. Fixed-size ones are `size` (4 or 8) bytes each and lie at
 * *to; varints are counted here and handed to take() in order. */
tare_status tare_wire_fixed(const tare_wire *wire, const tare_wire_field *field, size_t size, tare_span *to,
                            tare_error *err);
tare_status tare_wire_varint_count(const tare_wire *wire, const tare_wire_field *field, size_t *count, tare_error *err);
typedef tare_status tare_wire_take(void *context, uint64_t bits, tare_error *err);
tare_status tare_wire_varints(const tare_wire *wire, const tare_wire_field *field, tare_wire_take *take, void *context,
                              tare_error *err);

#endif
