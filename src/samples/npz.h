/* .npz archives: .npy files in a zip. Read stored or deflated; written stored, with a fixed time, whole or not at all,
 * so that equal tensors give equal bytes. */
#ifndef TARE_SAMPLES_NPZ_H
#define TARE_SAMPLES_NPZ_H

#include "base/file.h"
#include "samples/npy.h"

/* ---- reading; an open archive is not for two threads at once ---- */
typedef struct tare_npz tare_npz;

/* Opens a file, or bytes that outlive it. Entries that do not end in .npy are left out. */
tare_status tare_npz_open(tare_npz **out, const char *path, tare_error *err);
tare_status tare_npz_open_bytes(tare_npz **out, const uint8_t *bytes, size_t size, tare_error *err);
/* The .npy files of a directory, as if they lay in one archive; at least one. Each is opened when it is read. */
tare_status tare_npz_open_directory(tare_npz **out, const char *path, tare_error *err);
bool tare_npz_is_directory(const tare_npz *npz);
void tare_npz_close(tare_npz *npz); /* NULL is fine */

size_t tare_npz_count(const tare_npz *npz);
const char *tare_npz_name(const tare_npz *npz, size_t index); /* without .npy; any text: '/', ':' too */
/* The index of a name, SIZE_MAX when there is none. */
size_t tare_npz_find(const tare_npz *npz, const char *name);
bool tare_npz_is_stored(const tare_npz *npz, size_t index); /* not deflated: parts can be read on their own */

tare_status tare_npz_read_header(tare_npz *npz, size_t index, tare_npy *out, tare_error *err);
/* `size` bytes of the numbers from byte `offset` of them on. When it reads to the end, the checksum is checked. */
tare_status tare_npz_read_numbers(tare_npz *npz, size_t index, const tare_npy *npy, size_t offset, size_t size,
                                  void *to, tare_error *err);
/* A whole array, row-major. */
tare_status tare_npz_read(tare_npz *npz, size_t index, tare_arena *arena, tare_tensor **out, tare_error *err);

/* ---- writing ---- */
typedef struct tare_npz_array {
    const char *name; /* valid UTF-8, at most 4 KiB; no name twice */
    const tare_tensor *tensor;
} tare_npz_array;

/* bf16 is written as f32, which holds it exactly, s4 and u4 as s8 and u8; strings are refused. At least one array. The
 * file is read back and compared before it gets its name. */
tare_status tare_npz_write(const char *path, const tare_npz_array *arrays, size_t count, tare_error *err);

#endif
