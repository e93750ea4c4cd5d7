/* The bodies of providers, inventories, aggregates, traits and resource classes. */
#include "api/schema/words.h"

#define INT32_LIMIT 2147483647.0
#define RATIO_LIMIT 3.40282e+38

const struct schema SCHEMA_ANY_STRING = SCHEMA(TYPE(SCHEMA_STRING));
const struct schema SCHEMA_ANY_INTEGER = SCHEMA(TYPE(SCHEMA_INTEGER));
const struct schema SCHEMA_UUID = SCHEMA(TYPE(SCHEMA_STRING), FORMAT_UUID);
const struct schema SCHEMA_TEXT_255 = SCHEMA(TYPE(SCHEMA_STRING), MIN_LENGTH(1), MAX_LENGTH(255));

static const struct schema PROVIDER_NAME = SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(200));
static const struct schema NULL_ONLY = SCHEMA(TYPE(SCHEMA_NULL));
static const struct schema PARENT = SCHEMA(ANY_OF(&SCHEMA_UUID, &NULL_ONLY));

const struct schema SCHEMA_PROVIDER_CREATE_1_0 =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES({"name", &PROVIDER_NAME}, {"uuid", &SCHEMA_UUID}),
           REQUIRED("name"), NO_ADDITIONAL);

const struct schema SCHEMA_PROVIDER_CREATE_1_14 = SCHEMA(
    TYPE(SCHEMA_OBJECT),
    PROPERTIES({"name", &PROVIDER_NAME}, {"uuid", &SCHEMA_UUID}, {"parent_provider_uuid", &PARENT}),
    REQUIRED("name"), NO_ADDITIONAL);

const struct schema SCHEMA_PROVIDER_UPDATE_1_0 = SCHEMA(
    TYPE(SCHEMA_OBJECT), PROPERTIES({"name", &PROVIDER_NAME}), REQUIRED("name"), NO_ADDITIONAL);

const struct schema SCHEMA_PROVIDER_UPDATE_1_14 = SCHEMA(
    TYPE(SCHEMA_OBJECT), PROPERTIES({"name", &PROVIDER_NAME}, {"parent_provider_uuid", &PARENT}),
    REQUIRED("name"), NO_ADDITIONAL);

const struct schema SCHEMA_AGGREGATES_1_1 =
    SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(SCHEMA_UUID), UNIQUE_ITEMS);

const struct schema SCHEMA_AGGREGATES_1_19 =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"aggregates", &SCHEMA_AGGREGATES_1_1},
                      {"resource_provider_generation", &SCHEMA_ANY_INTEGER}),
           REQUIRED("aggregates", "resource_provider_generation"), NO_ADDITIONAL);

static const struct schema TRAITS = SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(SCHEMA_TEXT_255));

const struct schema SCHEMA_PROVIDER_TRAITS =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"traits", &TRAITS}, {"resource_provider_generation", &SCHEMA_ANY_INTEGER}),
           REQUIRED("traits", "resource_provider_generation"), NO_ADDITIONAL);

const struct schema SCHEMA_CUSTOM_TRAIT =
    SCHEMA(TYPE(SCHEMA_STRING), MIN_LENGTH(1), MAX_LENGTH(255), PATTERN(PATTERN_CUSTOM));

static const struct schema CUSTOM_CLASS =
    SCHEMA(TYPE(SCHEMA_STRING), PATTERN(PATTERN_CUSTOM), MAX_LENGTH(255));

const struct schema SCHEMA_CLASS = SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES({"name", &CUSTOM_CLASS}),
                                          REQUIRED("name"), NO_ADDITIONAL);

static const struct schema FROM_ZERO =
    SCHEMA(TYPE(SCHEMA_INTEGER), MAXIMUM(INT32_LIMIT), MINIMUM(0));
static const struct schema FROM_ONE =
    SCHEMA(TYPE(SCHEMA_INTEGER), MAXIMUM(INT32_LIMIT), MINIMUM(1));
static const struct schema RATIO = SCHEMA(TYPE(SCHEMA_NUMBER), MAXIMUM(RATIO_LIMIT));
static const struct schema CLASS_NAME = SCHEMA(TYPE(SCHEMA_STRING), PATTERN(PATTERN_CLASS));

#define INVENTORY_PROPERTIES                                                                       \
    {"resource_provider_generation", &SCHEMA_ANY_INTEGER}, {"total", &FROM_ONE},                   \
        {"reserved", &FROM_ZERO}, {"min_unit", &FROM_ONE}, {"max_unit", &FROM_ONE},                \
        {"step_size", &FROM_ONE},                                                                  \
    {                                                                                              \
        "allocation_ratio", &RATIO                                                                 \
    }

const struct schema SCHEMA_INVENTORY_UPDATE =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES(INVENTORY_PROPERTIES),
           REQUIRED("total", "resource_provider_generation"), NO_ADDITIONAL);

const struct schema SCHEMA_INVENTORY_CREATE =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES(INVENTORY_PROPERTIES, {"resource_class", &CLASS_NAME}),
           REQUIRED("total", "resource_class"), NO_ADDITIONAL);

static const struct schema INVENTORY =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES(INVENTORY_PROPERTIES), REQUIRED("total"), NO_ADDITIONAL);

/* Keys that are not class names are accepted here: later no such class is found. */
static const struct schema INVENTORY_MAP =
    SCHEMA(TYPE(SCHEMA_OBJECT), PATTERN_PROPERTIES({&PATTERN_CLASS, &INVENTORY}));

const struct schema SCHEMA_INVENTORIES =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"resource_provider_generation", &SCHEMA_ANY_INTEGER},
                      {"inventories", &INVENTORY_MAP}),
           REQUIRED("resource_provider_generation", "inventories"), NO_ADDITIONAL);
