/* The schemas of query strings. */
#include "api/schema/words.h"

#define ANY    &SCHEMA_ANY_STRING
#define OBJECT TYPE(SCHEMA_OBJECT)

#define PROVIDERS_1_0                                                                              \
    {"name", ANY},                                                                                 \
    {                                                                                              \
        "uuid", &QUERY_UUID                                                                        \
    }

/* With hyphens, as the newest release requires. */
static const struct schema QUERY_UUID = SCHEMA(TYPE(SCHEMA_STRING), FORMAT_DASHED_UUID);

const struct schema SCHEMA_PROVIDERS_QUERY_1_0 =
    SCHEMA(OBJECT, PROPERTIES(PROVIDERS_1_0), NO_ADDITIONAL);

const struct schema SCHEMA_PROVIDERS_QUERY_1_3 =
    SCHEMA(OBJECT, PROPERTIES(PROVIDERS_1_0, {"member_of", ANY}), NO_ADDITIONAL);

const struct schema SCHEMA_PROVIDERS_QUERY_1_4 = SCHEMA(
    OBJECT, PROPERTIES(PROVIDERS_1_0, {"member_of", ANY}, {"resources", ANY}), NO_ADDITIONAL);

const struct schema SCHEMA_PROVIDERS_QUERY_1_14 = SCHEMA(
    OBJECT,
    PROPERTIES(PROVIDERS_1_0, {"member_of", ANY}, {"resources", ANY}, {"in_tree", &QUERY_UUID}),
    NO_ADDITIONAL);

const struct schema SCHEMA_PROVIDERS_QUERY_1_18 =
    SCHEMA(OBJECT,
           PROPERTIES(PROVIDERS_1_0, {"member_of", ANY}, {"resources", ANY},
                      {"in_tree", &QUERY_UUID}, {"required", ANY}),
           NO_ADDITIONAL);

const struct schema SCHEMA_TRAITS_QUERY =
    SCHEMA(OBJECT, PROPERTIES({"name", ANY}, {"associated", ANY}), NO_ADDITIONAL);

const struct schema SCHEMA_USAGES_QUERY_1_9 =
    SCHEMA(OBJECT, PROPERTIES({"project_id", &SCHEMA_TEXT_255}, {"user_id", &SCHEMA_TEXT_255}),
           REQUIRED("project_id"), NO_ADDITIONAL);

static const struct schema CONSUMER_TYPE =
    SCHEMA(TYPE(SCHEMA_STRING), PATTERN(PATTERN_CONSUMER_TYPE_GET), MIN_LENGTH(1), MAX_LENGTH(255));

const struct schema SCHEMA_USAGES_QUERY_1_38 =
    SCHEMA(OBJECT,
           PROPERTIES({"project_id", &SCHEMA_TEXT_255}, {"user_id", &SCHEMA_TEXT_255},
                      {"consumer_type", &CONSUMER_TYPE}),
           REQUIRED("project_id"), NO_ADDITIONAL);

static const struct schema LIMIT =
    SCHEMA(TYPE(SCHEMA_INTEGER | SCHEMA_STRING), PATTERN(PATTERN_LIMIT), MINIMUM(1), MIN_LENGTH(1));
static const struct schema GROUP_POLICY = SCHEMA(TYPE(SCHEMA_STRING), ENUM("none", "isolate"));

const struct schema SCHEMA_CANDIDATES_QUERY_1_10 =
    SCHEMA(OBJECT, PROPERTIES({"resources", ANY}), REQUIRED("resources"), NO_ADDITIONAL);

const struct schema SCHEMA_CANDIDATES_QUERY_1_16 =
    SCHEMA(OBJECT, PROPERTIES({"resources", ANY}, {"limit", &LIMIT}), REQUIRED("resources"),
           NO_ADDITIONAL);

const struct schema SCHEMA_CANDIDATES_QUERY_1_17 =
    SCHEMA(OBJECT, PROPERTIES({"resources", ANY}, {"limit", &LIMIT}, {"required", ANY}),
           REQUIRED("resources"), NO_ADDITIONAL);

const struct schema SCHEMA_CANDIDATES_QUERY_1_21 =
    SCHEMA(OBJECT,
           PROPERTIES({"resources", ANY}, {"limit", &LIMIT}, {"required", ANY}, {"member_of", ANY}),
           REQUIRED("resources"), NO_ADDITIONAL);

#define GROUPED PROPERTIES({"limit", &LIMIT}, {"group_policy", &GROUP_POLICY}), NO_ADDITIONAL

#define SUFFIXED                                                                                   \
    NO_ADDITIONAL,                                                                                 \
        PATTERN_PROPERTIES({&PATTERN_RESOURCES_1_33, ANY}, {&PATTERN_REQUIRED_1_33, ANY},          \
                           {&PATTERN_MEMBER_OF_1_33, ANY}, {&PATTERN_IN_TREE_1_33, ANY})

const struct schema SCHEMA_CANDIDATES_QUERY_1_25 =
    SCHEMA(OBJECT, GROUPED,
           PATTERN_PROPERTIES({&PATTERN_RESOURCES_1_25, ANY}, {&PATTERN_REQUIRED_1_25, ANY},
                              {&PATTERN_MEMBER_OF_1_25, ANY}));

const struct schema SCHEMA_CANDIDATES_QUERY_1_31 =
    SCHEMA(OBJECT, GROUPED,
           PATTERN_PROPERTIES({&PATTERN_RESOURCES_1_25, ANY}, {&PATTERN_REQUIRED_1_25, ANY},
                              {&PATTERN_MEMBER_OF_1_25, ANY}, {&PATTERN_IN_TREE_1_25, ANY}));

const struct schema SCHEMA_CANDIDATES_QUERY_1_33 =
    SCHEMA(OBJECT, PROPERTIES({"limit", &LIMIT}, {"group_policy", &GROUP_POLICY}), SUFFIXED);

const struct schema SCHEMA_CANDIDATES_QUERY_1_35 = SCHEMA(
    OBJECT, PROPERTIES({"limit", &LIMIT}, {"group_policy", &GROUP_POLICY}, {"root_required", ANY}),
    SUFFIXED);

const struct schema SCHEMA_CANDIDATES_QUERY_1_36 =
    SCHEMA(OBJECT,
           PROPERTIES({"limit", &LIMIT}, {"group_policy", &GROUP_POLICY}, {"root_required", ANY},
                      {"same_subtree", ANY}),
           SUFFIXED);
