/* A made-up recipe that has every kind of field and section: the tests of the machinery read it. */
#ifndef TARE_TESTS_RECIPE_GARDEN_H
#define TARE_TESTS_RECIPE_GARDEN_H

#include "recipe/recipe.h"

typedef struct plant {
    const char *name;
    double height;
    bool climbs;
    int64_t count;
} plant;

typedef struct soil {
    int kind; /* ORDER: sand, loam, clay */
    float acidity;
    tare_floats layers;
    tare_ints beds;
    tare_strings worms;
    int64_t secret;
} soil;

typedef struct garden {
    const char *owner, *plan;
    tare_strings photos;
    soil soil;
    tare_records plants; /* plant */
    struct weather {
        const char *station;
        struct rain {
            double most;
        } rain;
    } weather;
} garden;

extern const tare_section garden_section;

#endif
