/* Text from strangers: what is escaped is valid, fits, shows no control byte and is not escaped again; and the distance
 * of two names is a distance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true, const char *what) {
    if (is_true) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check_escape(const char *from, size_t room) {
    char *to = malloc(room), *again = malloc(room);
    if (to != NULL && again != NULL) {
        tare_text_escape(to, room, from);
        size_t length = strlen(to);
        expect(length < room, "does not fit");
        expect(tare_utf8_is_valid(to, length), "is not valid");
        for (size_t i = 0; i < length; i++) expect((unsigned char)to[i] >= 0x20 && to[i] != 0x7f, "has a control byte");
        tare_text_escape(again, room, to);
        expect(strcmp(to, again) == 0, "is escaped again");
    }
    free(to);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 4096) return 0;
    size_t room = 1 + data[0];
    char *from = malloc(size);
    if (from == NULL) return 0;
    memcpy(from, data + 1, size - 1);
    from[size - 1] = '\0';
    check_escape(from, room);
    check_escape(from, 4 * size);
    const char *other = from + strlen(from) / 2;
    size_t distance = tare_text_distance(from, other);
    expect(distance == tare_text_distance(other, from), "is not symmetric");
    expect((distance == 0) == (strncmp(from, other, 64) == 0), "is 0 for what differs");
    free(from);
    return 0;
}
