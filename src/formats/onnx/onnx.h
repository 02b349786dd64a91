/* The ONNX format's parts, put together in onnx.c. */
#ifndef TARE_FORMATS_ONNX_ONNX_H
#define TARE_FORMATS_ONNX_ONNX_H

#include "formats/format.h"

extern const tare_format tare_format_onnx;

tare_status tare_onnx_write(const tare_model *model, const char *path, const tare_write_options *options,
                            tare_error *err);

#endif
