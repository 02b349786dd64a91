/* A source once opened: files, and the items (one sample each) that lie in them. */
#ifndef TARE_SAMPLES_DATA_H
#define TARE_SAMPLES_DATA_H

#include <stdatomic.h>

#include "base/file.h"
#include "samples/npz.h"
#include "samples/preprocess.h"

/* ORDER: data kind (the words in data.c) */
typedef enum tare_data_kind {
    TARE_DATA_IMAGE,
    TARE_DATA_NPY,
    TARE_DATA_NPZ,
    TARE_DATA_RAW,
    TARE_DATA_NV12,
    TARE_DATA_RANDOM,
    TARE_DATA_KIND_COUNT
} tare_data_kind;

typedef struct tare_data_file {
    const char *path;
    const char *name; /* as the directory or list has it */
    const char *id;   /* unique in its source */
    size_t line;      /* of the list that names it, from 1; 0: no list */
    size_t first;     /* the first of its items, and how many there are */
    size_t count;
} tare_data_file;

typedef struct tare_data {
    const char *text; /* as given */
    tare_data_kind kind;
    bool is_single;  /* the file itself was named: it may hold many samples. Else each file is one sample */
    bool is_indexed; /* ids are numbers */
    bool whole;
    const char *list;    /* path of the list, NULL: none */
    const char *ignored; /* what else lies in the directory, in words; NULL: nothing */
    TARE_VEC(tare_data_file) files;
    size_t item_count;
    size_t declared;      /* random:N's N */
    tare_dtype raw_dtype; /* RAW */
    tare_shape raw_shape; /* RAW: of one array; NV12: height, width */
    tare_file map;        /* the single file of NPY and NPZ, kept open */
    atomic_uint told;     /* notes that were given once: the rest of the files may be alike */
} tare_data;

/* Finds the files that a source's text names. Items are not counted yet: that needs the input (tare_feed_bind). */
tare_status tare_data_open(tare_data *out, const char *text, bool whole, tare_arena *arena, tare_log *log,
                           tare_error *err);
void tare_data_close(tare_data *data);

/* The kind that a file's name says; KIND_COUNT: none. */
tare_data_kind tare_data_kind_of_name(const char *name);
/* Adds a file, the texts on the arena; fails when its kind is not the kind of those before. */
tare_status tare_data_add_file(tare_data *data, const char *path, const char *name, size_t line, tare_data_kind kind,
                               tare_arena *arena, tare_error *err);
/* ---- directory.c, list.c ---- */
tare_status tare_data_add_directory(tare_data *data, const char *path, tare_arena *arena, tare_log *log,
                                    tare_error *err);
tare_status tare_data_add_list(tare_data *data, const char *path, const tare_file *file, tare_arena *arena,
                               tare_log *log, tare_error *err);

/* What to do with a file that is not read, by its name; NULL: nothing is known of it. */
const char *tare_data_advice(const char *name);

/* Puts where a file stands before the error's text: "LIST: line 3: PATH: ". */
tare_status tare_data_within(const tare_data *data, const tare_data_file *file, tare_error *err);

/* The file that item `item` lies in, and which of its samples it is. */
const tare_data_file *tare_data_find(const tare_data *data, size_t item, size_t *slice);
/* The item's id, printed where it is a number. */
const char *tare_data_id(const tare_data *data, size_t item, tare_arena *arena);

/* One input and what feeds it. */
typedef struct tare_feed {
    const tare_value *value;
    size_t input;  /* its index among the graph's inputs */
    bool is_alone; /* its source feeds no other input */
    tare_preplan plan;
    tare_data *data;
    const char *key;        /* NPZ: the array's name */
    tare_npy npy;           /* of the single file, or of the first */
    tare_cut cut;           /* of each array */
    bool is_held;           /* the array cannot be read in parts */
    const uint8_t *numbers; /* of a held array, once read */
} tare_feed;

/* Checks that the data can feed the input, as far as can be seen without reading all, and counts data->item_count and
 * the items of each file. Errors name file and input. */
tare_status tare_feed_bind(tare_feed *feed, tare_arena *arena, tare_log *log, tare_error *err);

/* Reads one item. Thread safe when a held array was read before. */
tare_status tare_feed_get(const tare_feed *feed, size_t item, tare_tensor **out, tare_log *log, tare_arena *arena,
                          tare_error *err);
/* Reads a held array, once; not for two threads at once. */
tare_status tare_feed_hold(tare_feed *feed, tare_arena *arena, tare_error *err);

/* The name of a file without folder and extension, and a name fit for an id: '/' is replaced. */
const char *tare_name_stem(const char *name, tare_arena *arena);
const char *tare_name_flatten(const char *name, tare_arena *arena);

/* ---- contract.c ---- */
tare_status tare_feed_contract(tare_contract *out, const tare_feed *feed, const tare_tensor *first, tare_arena *arena,
                               tare_error *err);
/* What looks wrong between the contract and the model: one that begins with a normalization of its own gets data that are
 * normalized twice; one that does not gets pixels as they are where nothing is said. False: nothing. */
enum { TARE_DOUBT_SIZE = 1024 };
bool tare_feed_doubt(const tare_feed *feed, char text[TARE_DOUBT_SIZE]);

/* ---- raw.c ---- */
/* "f32:1x3x224x224" or "nv12:320x240" after the path; false: it is no such text. */
bool tare_raw_parse(tare_data *data, const char *suffix);
/* Arrays or frames in a file of `size` bytes; an error when they do not fill it. */
tare_status tare_raw_count(const tare_data *data, uint64_t size, size_t *count, tare_error *err);
size_t tare_raw_size(const tare_data *data); /* bytes of one array or frame */

/* ---- random.c ---- */
tare_status tare_random_tensor(const tare_feed *feed, size_t item, tare_tensor **out, tare_arena *arena,
                               tare_error *err);

#endif
