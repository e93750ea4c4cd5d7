/* The bodies of allocations and of the reshaper. */
#include "api/schema/words.h"

static const struct schema AMOUNT = SCHEMA(TYPE(SCHEMA_INTEGER), MINIMUM(1));

static const struct schema RESOURCES =
    SCHEMA(TYPE(SCHEMA_OBJECT), MIN_PROPERTIES(1), PATTERN_PROPERTIES({&PATTERN_CLASS, &AMOUNT}),
           NO_ADDITIONAL);

/* before 1.12: a list of providers */
static const struct schema PROVIDER_OF_ITEM = SCHEMA(
    TYPE(SCHEMA_OBJECT), PROPERTIES({"uuid", &SCHEMA_UUID}), NO_ADDITIONAL, REQUIRED("uuid"));

static const struct schema ALLOCATION_ITEM =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"resource_provider", &PROVIDER_OF_ITEM}, {"resources", &RESOURCES}),
           REQUIRED("resource_provider", "resources"), NO_ADDITIONAL);

static const struct schema ALLOCATION_LIST =
    SCHEMA(TYPE(SCHEMA_ARRAY), MIN_ITEMS(1), ITEMS(ALLOCATION_ITEM));

const struct schema SCHEMA_ALLOCATION_1_0 =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES({"allocations", &ALLOCATION_LIST}),
           REQUIRED("allocations"), NO_ADDITIONAL);

const struct schema SCHEMA_ALLOCATION_1_8 =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"allocations", &ALLOCATION_LIST}, {"project_id", &SCHEMA_TEXT_255},
                      {"user_id", &SCHEMA_TEXT_255}),
           REQUIRED("allocations", "project_id", "user_id"), NO_ADDITIONAL);

/* from 1.12: an object by provider */
static const struct schema ALLOCATION_OF_PROVIDER = SCHEMA(
    TYPE(SCHEMA_OBJECT), PROPERTIES({"generation", &SCHEMA_ANY_INTEGER}, {"resources", &RESOURCES}),
    REQUIRED("resources"), NO_ADDITIONAL);

static const struct schema ALLOCATION_MAP_FILLED =
    SCHEMA(TYPE(SCHEMA_OBJECT), MIN_PROPERTIES(1),
           PATTERN_PROPERTIES({&PATTERN_UUID_CHARACTERS, &ALLOCATION_OF_PROVIDER}), NO_ADDITIONAL);

static const struct schema ALLOCATION_MAP =
    SCHEMA(TYPE(SCHEMA_OBJECT), MIN_PROPERTIES(0),
           PATTERN_PROPERTIES({&PATTERN_UUID_CHARACTERS, &ALLOCATION_OF_PROVIDER}), NO_ADDITIONAL);

const struct schema SCHEMA_ALLOCATION_1_12 =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"allocations", &ALLOCATION_MAP_FILLED}, {"project_id", &SCHEMA_TEXT_255},
                      {"user_id", &SCHEMA_TEXT_255}),
           NO_ADDITIONAL, REQUIRED("allocations", "project_id", "user_id"));

static const struct schema CONSUMER_GENERATION =
    SCHEMA(TYPE(SCHEMA_INTEGER | SCHEMA_NULL), NO_ADDITIONAL);

static const struct schema MAPPING = SCHEMA(TYPE(SCHEMA_ARRAY), MIN_ITEMS(1), ITEMS(SCHEMA_UUID));

static const struct schema MAPPINGS = SCHEMA(TYPE(SCHEMA_OBJECT), MIN_PROPERTIES(1),
                                             PATTERN_PROPERTIES({&PATTERN_GROUP_SUFFIX, &MAPPING}));

static const struct schema CONSUMER_TYPE =
    SCHEMA(TYPE(SCHEMA_STRING), PATTERN(PATTERN_CLASS), MIN_LENGTH(1), MAX_LENGTH(255));

#define CONSUMER_PROPERTIES                                                                        \
    {"allocations", &ALLOCATION_MAP}, {"project_id", &SCHEMA_TEXT_255},                            \
    {                                                                                              \
        "user_id", &SCHEMA_TEXT_255                                                                \
    }

static const struct schema DELETABLE_1_13 =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES(CONSUMER_PROPERTIES), NO_ADDITIONAL,
           REQUIRED("allocations", "project_id", "user_id"));

const struct schema SCHEMA_ALLOCATION_1_28 =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES(CONSUMER_PROPERTIES, {"consumer_generation", &CONSUMER_GENERATION}),
           NO_ADDITIONAL, REQUIRED("allocations", "project_id", "user_id", "consumer_generation"));

const struct schema SCHEMA_ALLOCATION_1_34 =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES(CONSUMER_PROPERTIES, {"consumer_generation", &CONSUMER_GENERATION},
                      {"mappings", &MAPPINGS}),
           NO_ADDITIONAL, REQUIRED("allocations", "project_id", "user_id", "consumer_generation"));

const struct schema SCHEMA_ALLOCATION_1_38 = SCHEMA(
    TYPE(SCHEMA_OBJECT),
    PROPERTIES(CONSUMER_PROPERTIES, {"consumer_generation", &CONSUMER_GENERATION},
               {"mappings", &MAPPINGS}, {"consumer_type", &CONSUMER_TYPE}),
    NO_ADDITIONAL,
    REQUIRED("allocations", "project_id", "user_id", "consumer_generation", "consumer_type"));

#define BY_CONSUMER(least, of)                                                                     \
    SCHEMA(TYPE(SCHEMA_OBJECT), MIN_PROPERTIES(least), NO_ADDITIONAL,                              \
           PATTERN_PROPERTIES({&PATTERN_UUID_CHARACTERS, &(of)}))

const struct schema SCHEMA_ALLOCATIONS_1_13 = BY_CONSUMER(1, DELETABLE_1_13);
const struct schema SCHEMA_ALLOCATIONS_1_28 = BY_CONSUMER(1, SCHEMA_ALLOCATION_1_28);
const struct schema SCHEMA_ALLOCATIONS_1_34 = BY_CONSUMER(1, SCHEMA_ALLOCATION_1_34);
const struct schema SCHEMA_ALLOCATIONS_1_38 = BY_CONSUMER(1, SCHEMA_ALLOCATION_1_38);

/* the reshaper: inventories by provider, and allocations by consumer, which may be empty */
static const struct schema RESHAPED_INVENTORIES =
    SCHEMA(TYPE(SCHEMA_OBJECT), PATTERN_PROPERTIES({&PATTERN_UUID_CHARACTERS, &SCHEMA_INVENTORIES}),
           MIN_PROPERTIES(1), NO_ADDITIONAL);

static const struct schema RESHAPED_1_30 = BY_CONSUMER(0, SCHEMA_ALLOCATION_1_28);
static const struct schema RESHAPED_1_34 = BY_CONSUMER(0, SCHEMA_ALLOCATION_1_34);
static const struct schema RESHAPED_1_38 = BY_CONSUMER(0, SCHEMA_ALLOCATION_1_38);

#define RESHAPER(allocations_schema)                                                               \
    SCHEMA(TYPE(SCHEMA_OBJECT),                                                                    \
           PROPERTIES({"inventories", &RESHAPED_INVENTORIES},                                      \
                      {"allocations", &(allocations_schema)}),                                     \
           REQUIRED("inventories", "allocations"), NO_ADDITIONAL)

const struct schema SCHEMA_RESHAPER_1_30 = RESHAPER(RESHAPED_1_30);
const struct schema SCHEMA_RESHAPER_1_34 = RESHAPER(RESHAPED_1_34);
const struct schema SCHEMA_RESHAPER_1_38 = RESHAPER(RESHAPED_1_38);
