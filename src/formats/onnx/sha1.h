/* SHA-1 of bytes as 40 hexadecimal digits: the `checksum` of ONNX's external data, and nothing else. No library that tare
 * stands on has it. */
#ifndef TARE_FORMATS_ONNX_SHA1_H
#define TARE_FORMATS_ONNX_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { TARE_SHA1_TEXT = 41 };
void tare_sha1_print(char to[TARE_SHA1_TEXT], const uint8_t *bytes, size_t size);

#endif
