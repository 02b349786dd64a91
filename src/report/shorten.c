/* Names too long for their column, shortened so that what tells them apart stays: the beginning that all have goes, then the
 * middle; names that look alike after that are shown from where they differ. */
#include <stdlib.h>
#include <string.h>

#include "report/items.h"

enum { LEAST_PREFIX = 4 }; /* columns: a shorter one would win nothing by its ellipsis */

typedef struct name {
    const char *whole, *shown;
    size_t index; /* among the cells */
} name;

typedef struct shortener {
    tare_arena *arena;
    name *names; /* those that are too long */
    size_t count, width;
    bool failed;
} shortener;

static bool is_boundary(char c) { return c && strchr("/.:;_- ", c); }

/* The beginning that both have, in bytes, up to and with a separator. */
static size_t common(const char *a, const char *b, size_t limit) {
    size_t same = 0;
    for (size_t i = 0; i < limit && a[i] && a[i] == b[i]; i++)
        if (is_boundary(a[i])) same = i + 1;
    return same;
}

static const char *joined(shortener *s, const char *head, size_t head_bytes, const char *tail, size_t tail_bytes,
                          const char *end) {
    tare_text text = { .arena = s->arena };
    tare_text_append(&text, head, head_bytes);
    tare_text_puts(&text, "…");
    tare_text_append(&text, tail, tail_bytes);
    tare_text_puts(&text, end);
    s->failed |= text.failed;
    return text.failed ? head : text.at;
}

/* The text without its first bytes. */
static const char *behind(shortener *s, const char *text, size_t from) {
    return from ? joined(s, "", 0, text + from, strlen(text + from), "") : text;
}

static const char *without_middle(shortener *s, const char *text) {
    const size_t own = tare_text_columns(text, strlen(text));
    if (own <= s->width) return text;
    const size_t head = (s->width - 1) / 2, from = tare_text_bytes(text, own - (s->width - 1 - head));
    return joined(s, text, tare_text_bytes(text, head), text + from, strlen(text + from), "");
}

static void drop_beginning(shortener *s) {
    size_t same = SIZE_MAX;
    for (size_t i = 1; i < s->count; i++) same = common(s->names[0].whole, s->names[i].whole, same);
    if (s->count < 2 || tare_text_columns(s->names[0].whole, same) < LEAST_PREFIX) same = 0;
    for (size_t i = 0; i < s->count; i++) s->names[i].shown = without_middle(s, behind(s, s->names[i].whole, same));
}

/* From the separator before `at` if it is near, or further back when there is room. */
static const char *window(shortener *s, const char *text, size_t at) {
    const size_t own = tare_text_columns(text, strlen(text)), here = tare_text_columns(text, at);
    const size_t least = tare_text_bytes(text, here > s->width / 3 ? here - s->width / 3 : 0);
    while (at > least && !is_boundary(text[at - 1])) at--;
    const size_t before = tare_text_columns(text, at);
    if (own - before < s->width) return behind(s, text, tare_text_bytes(text, own - (s->width - 1)));
    return joined(s, "", 0, text + at, tare_text_bytes(text + at, s->width - 2), "…");
}

static void tell_apart(shortener *s, name *group, size_t count) {
    size_t same = strlen(group[0].whole);
    for (size_t i = 1; i < count; i++) {
        size_t k = 0;
        while (k < same && group[i].whole[k] == group[0].whole[k]) k++;
        same = k;
    }
    if (s->width < 3 || !group[0].whole[same]) return; /* one is the others' beginning */
    for (size_t i = 0; i < count; i++) group[i].shown = window(s, group[i].whole, same);
}

static int by_shown(const void *a, const void *b) {
    const name *x = a, *y = b;
    const int order = strcmp(x->shown, y->shown);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static bool differ(const name *group, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (strcmp(group[0].whole, group[i].whole) != 0) return true;
    return false;
}

bool tare_text_shorten(tare_arena *arena, const char **cells, size_t count, size_t width) {
    shortener s = { .arena = arena, .width = width };
    s.names = tare_arena_alloc(arena, count + 1, sizeof *s.names);
    if (!s.names) return false;
    for (size_t i = 0; i < count; i++)
        if (tare_text_columns(cells[i], strlen(cells[i])) > width && !strpbrk(cells[i], TARE_MARKS))
            s.names[s.count++] = (name){ .whole = cells[i], .index = i };
    if (!s.count) return true;
    drop_beginning(&s);
    qsort(s.names, s.count, sizeof *s.names, by_shown);
    for (size_t i = 0, end; i < s.count; i = end) {
        for (end = i + 1; end < s.count && !strcmp(s.names[i].shown, s.names[end].shown); end++) continue;
        if (differ(s.names + i, end - i)) tell_apart(&s, s.names + i, end - i);
    }
    for (size_t i = 0; i < s.count && !s.failed; i++) cells[s.names[i].index] = s.names[i].shown;
    return !s.failed;
}
