/* The tables of the made-up recipe. */
#include "recipe/support/garden.h"

static const char *const kinds[] = { "sand", "loam", "clay", NULL };

static const tare_field plant_fields[] = {
    { .name = "name", .type = TARE_FIELD_STRING, .offset = offsetof(plant, name), .flags = TARE_FIELD_REQUIRED },
    { .name = "height",
      .type = TARE_FIELD_DOUBLE,
      .offset = offsetof(plant, height),
      .fallback.f = .5,
      .lo = .1,
      .hi = 20 },
    { .name = "climbs", .type = TARE_FIELD_BOOL, .offset = offsetof(plant, climbs), .help = "holds on to walls" },
    { .name = "how-many",
      .type = TARE_FIELD_INT,
      .offset = offsetof(plant, count),
      .fallback.i = 1,
      .lo = 1,
      .hi = 99 },
    { .type = TARE_FIELD_END },
};

static const tare_field soil_fields[] = {
    { .name = "kind", .type = TARE_FIELD_ENUM, .offset = offsetof(soil, kind), .names = kinds, .fallback.i = 1 },
    { .name = "acidity", .type = TARE_FIELD_FLOAT, .offset = offsetof(soil, acidity), .fallback.f = 7 },
    { .name = "layers", .type = TARE_FIELD_FLOATS, .offset = offsetof(soil, layers) },
    { .name = "beds", .type = TARE_FIELD_INTS, .offset = offsetof(soil, beds) },
    { .name = "worms", .type = TARE_FIELD_STRINGS, .offset = offsetof(soil, worms) },
    { .name = "secret", .type = TARE_FIELD_INT, .offset = offsetof(soil, secret) },
    { .type = TARE_FIELD_END },
};
static const char *const no_secret[] = { "secret", NULL };

static const tare_field weather_fields[] = {
    { .name = "station", .type = TARE_FIELD_STRING, .offset = offsetof(struct weather, station), .fallback.s = "roof" },
    { .type = TARE_FIELD_END },
};

static const tare_field rain_fields[] = {
    { .name = "most", .type = TARE_FIELD_DOUBLE, .offset = offsetof(struct rain, most) },
    { .type = TARE_FIELD_END },
};

static const tare_section weather_sections[] = {
    { .name = "rain", .fields = rain_fields, .offset = offsetof(struct weather, rain) },
    { .name = NULL },
};

static const tare_field garden_fields[] = {
    { .name = "owner", .type = TARE_FIELD_STRING, .offset = offsetof(garden, owner), .help = "whose it is" },
    { .name = "plan", .type = TARE_FIELD_STRING, .offset = offsetof(garden, plan), .flags = TARE_FIELD_PATH },
    { .name = "photos", .type = TARE_FIELD_STRINGS, .offset = offsetof(garden, photos), .flags = TARE_FIELD_PATH },
    { .type = TARE_FIELD_END },
};

static const tare_section garden_sections[] = {
    { .name = "soil",
      .help = "what it stands on",
      .fields = soil_fields,
      .without = no_secret,
      .offset = offsetof(garden, soil) },
    { .name = "plants",
      .fields = plant_fields,
      .offset = offsetof(garden, plants),
      .item_size = sizeof(plant),
      .alone = "name" },
    { .name = "weather",
      .fields = weather_fields,
      .inner = weather_sections,
      .offset = offsetof(garden, weather),
      .alone = "station" },
    { .name = NULL },
};

const tare_section garden_section = { .help = "a garden", .fields = garden_fields, .inner = garden_sections };
