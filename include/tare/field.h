/* Field tables: the members of a struct said once, and from that filled, checked, written, documented. An operator's
 * attributes, a verb's options and a recipe's keys are such tables. */
#ifndef TARE_FIELD_H
#define TARE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/error.h>

TARE_C_BEGIN

typedef enum tare_field_type {
    TARE_FIELD_END,     /* closes a table */
    TARE_FIELD_BOOL,    /* bool */
    TARE_FIELD_INT,     /* int64_t */
    TARE_FIELD_FLOAT,   /* float */
    TARE_FIELD_DOUBLE,  /* double */
    TARE_FIELD_STRING,  /* const char * */
    TARE_FIELD_ENUM,    /* int, an index into `names` */
    TARE_FIELD_INTS,    /* tare_ints */
    TARE_FIELD_FLOATS,  /* tare_floats */
    TARE_FIELD_STRINGS, /* tare_strings */
    TARE_FIELD_TENSOR,  /* const tare_tensor *, NULL: absent (graph/) */
    TARE_FIELD_GRAPH    /* tare_graph *, NULL: absent (graph/) */
} tare_field_type;

typedef struct tare_ints {
    const int64_t *at;
    size_t count; /* at is NULL when the field was not given; an empty list that was given has a non-NULL at */
} tare_ints;
typedef struct tare_floats {
    const float *at;
    size_t count;
} tare_floats;
typedef struct tare_strings {
    const char *const *at;
    size_t count;
} tare_strings;

/* Records that a table fills, one after the other; whose they are says of what type. */
typedef struct tare_records {
    void *at;
    size_t count;
} tare_records;

enum {
    TARE_FIELD_REQUIRED = 1,  /* absent is an error */
    TARE_FIELD_AXIS = 2,      /* the number or numbers count dimensions of the first input */
    TARE_FIELD_ALWAYS = 4,    /* written even when it has its default */
    TARE_FIELD_SPATIAL = 8,   /* one number per spatial dimension (twice as many for pads) */
    TARE_FIELD_ONE = 16,      /* INTS, FLOATS: files have a bare number, held as a list of one; so absent can be told */
    TARE_FIELD_ANY_REAL = 32, /* FLOAT, FLOATS: NaN and infinities are fine */
    TARE_FIELD_PATH = 64      /* STRING, STRINGS: a file; in a recipe, relative to the recipe's folder */
};

typedef struct tare_field {
    const char *name; /* as the file, the recipe or the flag spells it */
    tare_field_type type;
    size_t offset; /* of the member in the struct */
    unsigned flags;
    union {
        int64_t i; /* also BOOL and ENUM */
        double f;  /* also FLOAT */
        const char *s;
    } fallback;               /* lists: empty */
    const char *const *names; /* ENUM: the words in order, ended by NULL; STRING: what it can be, to be told, or NULL */
    double lo, hi;            /* INT, FLOAT, DOUBLE: the allowed range; both 0: any */
    const char *help;         /* one line for help, man page and docs; attributes may have none */
    const char *metavar;      /* what help calls the argument; NULL: by type */
    char letter;              /* short flag, 0: none */
} tare_field;

/* A member of type STRING, or a list, points to memory that is not the record's: `store`'s, or whoever filled it.
 *
 * Fills one member from text as the command line and environment spell it ("1,3,224", "minmax", "on"). What points to
 * memory points into `store`, which lives as long as the record. A list that was given before grows. Errors name the
 * field and say what is allowed, with a "did you mean" for words. */
typedef struct tare_field_store tare_field_store;
TARE_API tare_field_store *tare_field_store_new(void); /* NULL: no memory */
TARE_API void tare_field_store_free(tare_field_store *store);
TARE_API tare_status tare_field_parse(const tare_field *field, void *record, const char *text, tare_field_store *store,
                                      tare_error *err);
/* The defaults of all fields of a table; members that it does not have stay as they are. */
TARE_API void tare_fields_set_defaults(const tare_field *fields, void *record);
/* The name in `names` (ended by NULL) that is near enough to be what was meant, or NULL. */
TARE_API const char *tare_text_nearest(const char *name, const char *const *names);

TARE_C_END

#endif
