/* Reading and writing .npy headers. The dictionary is read by a strict parser of the forms that numpy has written. */
#include "samples/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers in files are little endian, as here");

enum { PREFIX_SIZE = 8, RANK_IN_HEADER_MAX = 64 };

/* ORDER: none; numpy's letter and size of an element. */
static const struct {
    tare_dtype dtype;
    char text[3];
} types[] = {
    { TARE_F32, "f4" }, { TARE_F16, "f2" }, { TARE_F64, "f8" }, { TARE_S8, "i1" },
    { TARE_U8, "u1" },  { TARE_S16, "i2" }, { TARE_U16, "u2" }, { TARE_S32, "i4" },
    { TARE_U32, "u4" }, { TARE_S64, "i8" }, { TARE_U64, "u8" }, { TARE_BOOL, "b1" },
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')) c->at++;
}

static bool take(cursor *c, char wanted) {
    skip_space(c);
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word) {
    size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
    c->at += length;
    return true;
}

/* A quoted text without escapes, cut to the size of `to`. */
static bool take_text(cursor *c, char *to, size_t size) {
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
    char quote = *c->at++;
    size_t length = 0;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (*c->at == '\\') return false;
        if (length + 1 < size) to[length++] = *c->at;
    }
    to[length] = '\0';
    return take(c, quote);
}

/* A number without sign, with Python 2's L allowed behind it. */
static bool take_number(cursor *c, int64_t *number) {
    skip_space(c);
    const char *start = c->at;
    *number = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (!tare_i64_mul(*number, 10, number) || !tare_i64_add(*number, *c->at - '0', number)) return false;
    }
    if (c->at == start) return false;
    if (c->at < c->end && *c->at == 'L') c->at++;
    return true;
}

static tare_status parse_shape(tare_npy *npy, cursor *c, tare_error *err) {
    tare_status bad = TARE_E_MALFORMED;
    if (!take(c, '(')) return tare_fail(err, bad, "its shape is not a tuple of numbers");
    int rank = 0;
    while (!take(c, ')')) {
        int64_t dim;
        if (rank == RANK_IN_HEADER_MAX) return tare_fail(err, bad, "its shape has more than 64 dimensions");
        if (!take_number(c, &dim)) return tare_fail(err, bad, "its shape is not a tuple of numbers");
        if (dim > INT32_MAX) {
            return tare_fail(err, TARE_E_LIMIT, "dimension %d of its shape is %lld, at most 2^31 - 1 is possible", rank,
                             (long long)dim);
        }
        if (rank < TARE_RANK_MAX) npy->shape.dim[rank] = dim;
        rank++;
        if (!take(c, ',')) {
            if (!take(c, ')')) return tare_fail(err, bad, "its shape is not a tuple of numbers");
            break;
        }
    }
    if (rank > TARE_RANK_MAX) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "its shape has %d dimensions, at most %d are possible", rank,
                         (int)TARE_RANK_MAX);
    }
    npy->shape.rank = rank;
    return TARE_OK;
}

static tare_status parse_type(tare_npy *npy, cursor *c, tare_error *err) {
    char text[32];
    skip_space(c);
    if (c->at < c->end && *c->at == '[') {
        return tare_fail(err, TARE_E_UNSUPPORTED, "its elements are records; save each field as an array of its own");
    }
    if (!take_text(c, text, sizeof text)) return tare_fail(err, TARE_E_MALFORMED, "its 'descr' is not a text");
    const char *letter = text;
    char order = strchr("<>|=", text[0]) != NULL && text[0] != '\0' ? *letter++ : '=';
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(letter, types[i].text) != 0) continue;
        npy->dtype = types[i].dtype;
        npy->swap = order == '>' && tare_dtype_size(npy->dtype) > 1;
        return TARE_OK;
    }
    if (letter[0] == 'O') {
        return tare_fail(err, TARE_E_UNSUPPORTED,
                         "its elements are Python objects ('%s'); save numbers: numpy.stack the samples, dtype float32",
                         text);
    }
    return tare_fail(err, TARE_E_UNSUPPORTED,
                     "its element type is '%s'; possible are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, of either byte order",
                     text);
}

static tare_status parse_order(tare_npy *npy, cursor *c, tare_error *err) {
    npy->fortran = take_word(c, "True");
    if (npy->fortran || take_word(c, "False")) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "its 'fortran_order' is neither True nor False");
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (3, 224, 224), } in any order, each key once, no other. */
static tare_status parse_dictionary(tare_npy *npy, const char *text, size_t length, tare_error *err) {
    static const char *const keys[] = { "descr", "fortran_order", "shape" };
    static tare_status (*const parsers[])(tare_npy *, cursor *, tare_error *) = { parse_type, parse_order,
                                                                                  parse_shape };
    cursor c = { text, text + length };
    unsigned seen = 0;
    if (!take(&c, '{')) return tare_fail(err, TARE_E_MALFORMED, "its header is not a dictionary");
    while (!take(&c, '}')) {
        char key[32];
        if (!take_text(&c, key, sizeof key) || !take(&c, ':')) {
            return tare_fail(err, TARE_E_MALFORMED, "byte %zu of its header: a key and ':' are wanted",
                             (size_t)(c.at - text));
        }
        unsigned k = 0;
        while (k < 3 && strcmp(key, keys[k]) != 0) k++;
        if (k == 3) return tare_fail(err, TARE_E_MALFORMED, "its header has the unknown key '%s'", key);
        if (seen & 1u << k) return tare_fail(err, TARE_E_MALFORMED, "its header has the key '%s' twice", key);
        seen |= 1u << k;
        TARE_TRY(parsers[k](npy, &c, err));
        if (!take(&c, ',')) {
            if (take(&c, '}')) break;
            return tare_fail(err, TARE_E_MALFORMED, "byte %zu of its header: ',' or '}' is wanted",
                             (size_t)(c.at - text));
        }
    }
    for (unsigned k = 0; k < 3; k++) {
        if (!(seen & 1u << k)) return tare_fail(err, TARE_E_MALFORMED, "its header lacks '%s'", keys[k]);
    }
    skip_space(&c);
    if (c.at != c.end) {
        return tare_fail(err, TARE_E_MALFORMED, "byte %zu of its header: nothing more is wanted",
                         (size_t)(c.at - text));
    }
    return TARE_OK;
}

/* Where the dictionary lies. */
static tare_status find_header(const uint8_t *bytes, size_t available, size_t total, size_t *start, size_t *length,
                               tare_error *err) {
    static const uint8_t magic[] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };
    if (available < PREFIX_SIZE || memcmp(bytes, magic, sizeof magic) != 0) {
        return tare_fail(err, TARE_E_MALFORMED, "is no .npy file: it does not begin with \\x93NUMPY");
    }
    unsigned major = bytes[6], minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "is .npy of version %u.%u, possible are 1.0, 2.0 and 3.0", major,
                         minor);
    }
    size_t digits = major == 1 ? 2 : 4;
    *start = PREFIX_SIZE + digits;
    *length = 0;
    if (available < *start) return tare_fail(err, TARE_E_MALFORMED, "ends within its header, at byte %zu", total);
    for (size_t i = digits; i > 0; i--) *length = *length << 8 | bytes[PREFIX_SIZE + i - 1];
    if (*length > TARE_NPY_HEADER_MAX - *start) {
        return tare_fail(err, TARE_E_LIMIT, "its header has %zu bytes, at most 64 KiB are possible", *length);
    }
    if (!tare_slice_fits(available, *start, *length)) {
        return tare_fail(err, TARE_E_MALFORMED, "ends within its header, at byte %zu of %zu", total, *start + *length);
    }
    return TARE_OK;
}

tare_status tare_npy_parse(tare_npy *out, const uint8_t *bytes, size_t available, size_t total, tare_error *err) {
    *out = (tare_npy){ 0 };
    size_t start = 0, length = 0;
    TARE_TRY(find_header(bytes, available, total, &start, &length, err));
    TARE_TRY(parse_dictionary(out, (const char *)bytes + start, length, err));
    out->offset = start + length;
    char shape[128];
    tare_shape_print(shape, sizeof shape, &out->shape, NULL);
    if (!tare_tensor_size(out->dtype, &out->shape, &out->size)) {
        return tare_fail(err, TARE_E_LIMIT, "its shape %s is more than 2^40 elements", shape);
    }
    if (!tare_slice_fits(total, out->offset, out->size)) {
        return tare_fail(err, TARE_E_MALFORMED, "%s %s take %zu bytes after the header, there are %zu", shape,
                         tare_dtype_name(out->dtype), out->size, total - out->offset);
    }
    return TARE_OK;
}

tare_array tare_npy_array(const tare_npy *npy, const uint8_t *numbers) {
    tare_array array = { .dtype = npy->dtype, .swap = npy->swap, .shape = npy->shape, .data = numbers };
    tare_array_set_strides(&array, npy->fortran);
    return array;
}

size_t tare_npy_print_header(char to[TARE_NPY_WRITTEN_MAX], tare_dtype dtype, const tare_shape *shape) {
    const char *type = NULL;
    if (dtype == TARE_S4 || dtype == TARE_U4) dtype = dtype == TARE_S4 ? TARE_S8 : TARE_U8; /* a byte each */
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (types[i].dtype == dtype) type = types[i].text;
    }
    if (type == NULL) return 0;
    char dims[TARE_RANK_MAX * 22 + 1] = "";
    size_t used = 0;
    for (int i = 0; i < shape->rank; i++) {
        used += (size_t)snprintf(dims + used, sizeof dims - used, i == 0 ? "%lld" : ", %lld", (long long)shape->dim[i]);
    }
    char *text = to + PREFIX_SIZE + 2;
    size_t room = TARE_NPY_WRITTEN_MAX - PREFIX_SIZE - 2;
    size_t length = (size_t)snprintf(text, room, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s%s), }",
                                     tare_dtype_size(dtype) == 1 ? '|' : '<', type, dims, shape->rank == 1 ? "," : "");
    size_t total = (PREFIX_SIZE + 2 + length + 1 + 63) / 64 * 64;
    memset(text + length, ' ', total - PREFIX_SIZE - 2 - length);
    to[total - 1] = '\n';
    memcpy(to, "\x93NUMPY\x01\x00", PREFIX_SIZE);
    size_t header = total - PREFIX_SIZE - 2;
    to[PREFIX_SIZE] = (char)(header & 0xff);
    to[PREFIX_SIZE + 1] = (char)(header >> 8);
    return total;
}
