/* Texts about samples; the first byte picks: a list of files, a table, the end of a raw source, a resize. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples/csv.h"
#include "samples/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_list(const char *bytes, size_t size, tare_arena *arena, tare_error *err) {
    tare_data list = { .kind = TARE_DATA_KIND_COUNT };
    tare_file file = { .data = (const uint8_t *)bytes, .size = size };
    tare_data_add_list(&list, "no/such/folder/list.txt", &file, arena, NULL, err);
}

static void read_table(const char *bytes, size_t size, tare_arena *arena, tare_error *err) {
    tare_csv csv;
    if (tare_csv_init(&csv, bytes, size, arena, err) != TARE_OK) return;
    size_t line = 0;
    while (tare_csv_next(&csv, err)) {
        if (csv.line <= line || csv.fields.count == 0) abort();
        line = csv.line;
        tare_csv_find(&csv, "label");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tare_arena *arena = tare_arena_new();
    char *text = malloc(size + 1);
    if (size > 0 && arena != NULL && text != NULL) {
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        tare_error err = { 0 };
        tare_data raw = { 0 };
        tare_preplan plan;
        tare_preprocess contract = { .resize = text, .crop = text };
        size_t count;
        switch (data[0]) {
        case '0': read_list(text, size - 1, arena, &err); break;
        case '1': read_table(text, size - 1, arena, &err); break;
        case '2':
            if (tare_raw_parse(&raw, text)) tare_raw_count(&raw, 4096, &count, &err);
            break;
        default: tare_preprocess_parse(&plan, &contract, &err); break;
        }
    }
    free(text);
    tare_arena_free(arena);
    return 0;
}
