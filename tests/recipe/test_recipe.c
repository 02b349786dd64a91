/* The machinery of recipes: values, lists, sections, defaults, and every error with its line and column. */
#include <string.h>

#include "recipe/support/garden.h"
#include "support/fail_nth.h"
#include "support/support.h"

static tare_arena *arena;

static int set_up(void **state) {
    (void)state;
    arena = tare_arena_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tare_arena_free(arena);
    return 0;
}

static tare_status read_text(garden *g, const char *text, tare_error *err) {
    return tare_section_read_bytes(&garden_section, g, "books/garden.yaml", text, strlen(text), arena, err);
}

static void test_defaults(void **state) {
    (void)state;
    garden g;
    assert_ok(read_text(&g, "{}", &err));
    assert_null(g.owner);
    assert_int_equal(g.soil.kind, 1);
    assert_true(g.soil.acidity == 7.0f && g.soil.layers.at == NULL && g.soil.beds.count == 0);
    assert_int_equal(g.plants.count, 0);
    assert_string_equal(g.weather.station, "roof");
}

static const char full[] = "# all of it\n"
                           "owner: Ada L.\n"
                           "plan: plan.pdf\n"
                           "photos: [a.png, /b.png, 'random:3', \"c d.png\"]\n"
                           "soil:\n"
                           "  kind: clay\n"
                           "  acidity: 6.5\n"
                           "  layers: [1, 2.5, 3e1]\n"
                           "  beds: 4,5\n"
                           "  worms:\n"
                           "  - long, thin\n"
                           "  - short\n"
                           "plants:\n"
                           "- name: rose\n"
                           "  climbs: yes\n"
                           "  how_many: 3\n"
                           "- {name: \"o\\u0061k\", height: 12}\n"
                           "- ivy\n"
                           "weather: {station: hill, rain: {most: 3.25}}\n";

static void test_everything(void **state) {
    (void)state;
    garden g;
    assert_ok(read_text(&g, full, &err));
    assert_string_equal(g.owner, "Ada L.");
    assert_string_equal(g.plan, "books/plan.pdf");
    static const char *const photos[] = { "books/a.png", "/b.png", "random:3", "books/c d.png" };
    assert_int_equal(g.photos.count, 4);
    for (size_t i = 0; i < 4; i++) assert_string_equal(g.photos.at[i], photos[i]);
    assert_int_equal(g.soil.kind, 2);
    assert_true(g.soil.acidity == 6.5f);
    assert_int_equal(g.soil.layers.count, 3);
    assert_true(g.soil.layers.at[0] == 1 && g.soil.layers.at[1] == 2.5f && g.soil.layers.at[2] == 30);
    assert_int_equal(g.soil.beds.count, 2);
    assert_true(g.soil.beds.at[0] == 4 && g.soil.beds.at[1] == 5);
    assert_int_equal(g.soil.worms.count, 2);
    assert_string_equal(g.soil.worms.at[0], "long, thin");
    const plant *plants = g.plants.at;
    assert_int_equal(g.plants.count, 3);
    assert_string_equal(plants[0].name, "rose");
    assert_true(plants[0].climbs && plants[0].count == 3 && plants[0].height == .5);
    assert_string_equal(plants[1].name, "oak");
    assert_true(!plants[1].climbs && plants[1].height == 12);
    assert_string_equal(plants[2].name, "ivy");
    assert_string_equal(g.weather.station, "hill");
    assert_true(g.weather.rain.most == 3.25);
}

static void test_short_forms(void **state) {
    (void)state;
    garden g;
    assert_ok(read_text(&g, "weather: sea\nplants: {name: fern}\nsoil: {layers: 3, worms: one, beds: []}\n", &err));
    assert_string_equal(g.weather.station, "sea");
    assert_int_equal(g.plants.count, 1);
    assert_int_equal(g.soil.layers.count, 1);
    assert_string_equal(g.soil.worms.at[0], "one");
    assert_true(g.soil.beds.at != NULL && g.soil.beds.count == 0);
    assert_ok(read_text(&g, "plants: moss\n", &err));
    assert_string_equal(((plant *)g.plants.at)->name, "moss");
    assert_ok(read_text(&g, "plants: []\n", &err));
    assert_int_equal(g.plants.count, 0);
}

typedef struct fault {
    const char *text;
    tare_status status;
    const char *message; /* all of it, behind the path */
} fault;

static const fault faults[] = {
    { "", TARE_E_USAGE, "1:1: the recipe is empty" },
    { "# nothing\n", TARE_E_USAGE, "2:1: the recipe is empty" },
    { "just text", TARE_E_USAGE, "1:1: wants keys, not a value" },
    { "- a\n", TARE_E_USAGE, "1:1: wants keys, not a list" },
    { "ownr: x\n", TARE_E_USAGE, "1:1: no key 'ownr'; did you mean 'owner'?" },
    { "a: 1\nzzz: x\n", TARE_E_USAGE, "1:1: no key 'a'; there are: owner plan photos soil plants weather" },
    { "soil:\n  kin: sand\n", TARE_E_USAGE, "2:3: soil: no key 'kin'; did you mean 'kind'?" },
    { "soil:\n  secret: 1\n", TARE_E_USAGE, "2:3: soil: no key 'secret'; there are: kind acidity layers beds worms" },
    { "soil: {kind: lom}\n", TARE_E_USAGE, "1:14: soil.kind: no 'lom'; did you mean 'loam'?" },
    { "soil: {kind: x}\n", TARE_E_USAGE, "1:14: soil.kind: no 'x'; there are: sand loam clay" },
    { "soil: {acidity: sour}\n", TARE_E_USAGE, "1:17: soil.acidity: 'sour' is not a number" },
    { "soil: {acidity: .inf}\n", TARE_E_USAGE, "1:17: soil.acidity: '.inf' is not a number" },
    { "soil: {acidity: inf}\n", TARE_E_USAGE, "1:17: soil.acidity: 'inf' is not a finite number" },
    { "soil: {acidity: [7]}\n", TARE_E_USAGE, "1:17: soil.acidity: wants one value, not a list" },
    { "soil: {acidity: {a: 7}}\n", TARE_E_USAGE, "1:17: soil.acidity: wants one value, not a mapping" },
    { "soil: {acidity: }\n", TARE_E_USAGE, "1:17: soil.acidity: has no value; leave the key out for the default" },
    { "soil: {acidity: null}\n", TARE_E_USAGE, "1:17: soil.acidity: has no value; leave the key out for the default" },
    { "soil: {layers: [1, [2]]}\n", TARE_E_USAGE, "1:20: soil.layers: its items are values, not a list" },
    { "soil: {layers: {a: 1}}\n", TARE_E_USAGE, "1:16: soil.layers: wants a value or a list of values, not a mapping" },
    { "soil: {layers: [1, x]}\n", TARE_E_USAGE, "1:20: soil.layers: 'x' is not a number" },
    { "soil:\n", TARE_E_USAGE, "1:6: soil: is empty; leave the key out" },
    { "soil: 7\n", TARE_E_USAGE, "1:7: soil: wants keys, not a value" },
    { "owner: a\nplan: b\nowner: c\n", TARE_E_USAGE, "3:1: owner: is here twice; the first is on line 1" },
    { "plants:\n- name: a\n- climbs: on\n", TARE_E_USAGE, "3:3: plants[1]: 'name' is needed: it has no default" },
    { "plants:\n- name: a\n  how_many: 0\n", TARE_E_USAGE, "3:13: plants[0].how-many: 0 is outside 1 to 99" },
    { "plants:\n- name: a\n  how-many: 1.5\n", TARE_E_USAGE, "3:13: plants[0].how-many: '1.5' is not a whole number" },
    { "plants:\n- name: a\n  how-many: 1\n  how_many: 1\n", TARE_E_USAGE,
      "4:3: plants[0].how-many: is here twice; the first is on line 3" },
    { "plants: [a, [b]]\n", TARE_E_USAGE, "1:13: plants[1]: wants keys, not a list" },
    { "plants: [{name: a, climbs: maybe}]\n", TARE_E_USAGE, "1:28: plants[0].climbs: 'maybe' is not on or off" },
    { "weather: {rain: {mst: 1}}\n", TARE_E_USAGE, "1:18: weather.rain: no key 'mst'; did you mean 'most'?" },
    { "owner: &a x\nplan: *a\n", TARE_E_USAGE, "1:8: anchors are not read; write the value out where it is needed" },
    { "owner: *a\n", TARE_E_USAGE, "1:8: aliases are not read; write the value out" },
    { "owner: !!str x\n", TARE_E_USAGE, "1:8: tags are not read; leave 'tag:yaml.org,2002:str' out" },
    { "owner: \"a\\0b\"\n", TARE_E_USAGE, "1:8: a value holds a NUL character" },
    { "[a]: b\n", TARE_E_USAGE, "1:1: a key is a word, not a list" },
    { "owner: a\n---\nowner: b\n", TARE_E_USAGE, "2:1: a second document follows; a recipe is one" },
    { "owner: [a\n", TARE_E_USAGE, "1:8: owner: wants one value, not a list" },
    { "photos: [a\n", TARE_E_MALFORMED, "2:1: did not find expected ',' or ']' while parsing a flow sequence" },
    { "owner: a\n bad\n  worse: b\n", TARE_E_MALFORMED, "3:8: mapping values are not allowed in this context" },
    { "owner: 'a\n", TARE_E_MALFORMED, "2:1: found unexpected end of stream while scanning a quoted scalar" },
    { "\towner: a\n", TARE_E_MALFORMED,
      "1:1: found character that cannot start any token while scanning for the next token; YAML is indented by "
      "spaces, not by tabs" },
    { "owner: \xff\n", TARE_E_MALFORMED, "byte 7: invalid leading UTF-8 octet; a recipe is text, save it as UTF-8" },
    { "\xff\xfeo", TARE_E_MALFORMED, "byte 0: invalid leading UTF-8 octet; a recipe is text, save it as UTF-8" },
    { "\xef\xbb\xbfmissing: a\n", TARE_E_USAGE,
      "1:1: no key 'missing'; there are: owner plan photos soil plants weather" },
};

static void test_faults(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        garden g;
        tare_error err = { 0 };
        tare_status status = read_text(&g, faults[i].text, &err);
        if (status != faults[i].status)
            fail_msg("'%s': status %d, not %d: %s", faults[i].text, status, faults[i].status, err.text);
        assert_memory_equal(err.text, "books/garden.yaml: ", 19);
        assert_string_equal(err.text + 19, faults[i].message);
    }
}

static void test_limits(void **state) {
    (void)state;
    static char text[TARE_RECIPE_BYTES_MAX + 1];
    garden g;
    memset(text, ' ', sizeof text);
    assert_error(tare_section_read_bytes(&garden_section, &g, "g", text, sizeof text, arena, &err), TARE_E_LIMIT,
                 "has 1048577 bytes, a recipe has at most 1048576");
    memset(text, '[', 100000);
    assert_int_not_equal(tare_section_read_bytes(&garden_section, &g, "g", text, 100000, arena, &(tare_error){ 0 }),
                         TARE_OK);
    static const char head[] = "plants: [";
    memcpy(text, head, sizeof head - 1);
    for (size_t i = 0; i < 20000; i++) memcpy(text + sizeof head - 1 + 2 * i, "a,", 2);
    assert_error(tare_section_read_bytes(&garden_section, &g, "g", text, 40008, arena, &err), TARE_E_USAGE,
                 "more than 10000 items");
}

static tare_status read_whole(void *context, tare_error *err) {
    (void)context;
    tare_arena *own = tare_arena_new();
    garden g;
    tare_status status = own == NULL
                             ? tare_fail_memory(err, 0)
                             : tare_section_read_bytes(&garden_section, &g, "g", full, sizeof full - 1, own, err);
    tare_arena_free(own);
    return status;
}

static void test_failures(void **state) {
    (void)state;
    assert_true(test_fail_allocations(read_whole, NULL) > 1);
    garden g;
    const char *path = test_path(test_directory(), "r.yaml");
    assert_error(tare_section_read(&garden_section, &g, path, arena, &err), TARE_E_IO, "r.yaml: open: No such file");
    test_write_file(path, "owner: x", 8);
    assert_ok(tare_section_read(&garden_section, &g, path, arena, &err));
    assert_string_equal(g.owner, "x");
}

/* Every prefix of a good recipe is read or refused, with a place. */
static void test_prefixes(void **state) {
    (void)state;
    for (size_t size = 0; size < sizeof full - 1; size++) {
        garden g;
        tare_error err = { 0 };
        tare_status status = tare_section_read_bytes(&garden_section, &g, "g", full, size, arena, &err);
        if (status != TARE_OK) assert_true(status == TARE_E_USAGE || status == TARE_E_MALFORMED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_short_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prefixes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
