/* The tables. Members are in the order in which they are checked, which decides which of several
 * errors is reported. Constant data: any thread. */
#include "valet/api/body_schemas.h"

#include "api/schema/words.h"
#include "valet/write/plan_groups.h"

enum { TEXT_MAX = 255, DESCRIPTION_MAX = 4096 };

/* RFC 3986, section 2.3: characters that need no encoding in a URL. */
static bool is_group_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '.' && c != '_' && c != '~')
            return false;
    }
    return name.len > 0;
}

static const struct schema_pattern GROUP_NAME = {
    "group_name_type (must contain only uppercase and lowercase letters, decimal digits, hyphens, "
    "periods, underscores, and tildes [RFC 3986, Section 2.3])",
    is_group_name,
};

static const struct schema ANY_TEXT = SCHEMA(TYPE(SCHEMA_STRING));
static const struct schema TEXT = SCHEMA(TYPE(SCHEMA_STRING), MIN_LENGTH(1), MAX_LENGTH(TEXT_MAX));
static const struct schema DESCRIPTION = SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(DESCRIPTION_MAX));
static const struct schema OBJECT = SCHEMA(TYPE(SCHEMA_OBJECT));
static const struct schema LIST = SCHEMA(TYPE(SCHEMA_ARRAY));

const struct schema BODY_NAME = SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(TEXT_MAX));
const struct schema BODY_NAMES = SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(BODY_NAME));

static const struct schema NAME =
    SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(TEXT_MAX), PATTERN(GROUP_NAME));
const struct schema BODY_GROUP_TYPE =
    SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(TEXT_MAX), ENUM("exclusivity"));

const struct schema BODY_GROUP_CREATE =
    SCHEMA(NO_ADDITIONAL,
           PROPERTIES({"name", &NAME}, {"type", &BODY_GROUP_TYPE}, {"description", &DESCRIPTION}),
           REQUIRED("name", "type"));

const struct schema BODY_GROUP_UPDATE =
    SCHEMA(NO_ADDITIONAL, PROPERTIES({"description", &DESCRIPTION}), REQUIRED("description"));

static const struct schema MEMBER = SCHEMA(MAX_LENGTH(TEXT_MAX));
static const struct schema MEMBER_LIST =
    SCHEMA(TYPE(SCHEMA_ARRAY), MAX_ITEMS(PLAN_GROUP_MEMBERS_MAX), ITEMS(MEMBER));

const struct schema BODY_MEMBERS =
    SCHEMA(NO_ADDITIONAL, PROPERTIES({"members", &MEMBER_LIST}), REQUIRED("members"));

const struct schema BODY_PLAN_CREATE =
    SCHEMA(NO_ADDITIONAL,
           PROPERTIES({"plan_name", &TEXT}, {"stack_id", &TEXT}, {"resources", &OBJECT},
                      {"locations", &LIST}, {"timeout", &ANY_TEXT}),
           REQUIRED("plan_name", "stack_id", "resources"));

const struct schema BODY_PLAN_CHOICE =
    SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(TEXT_MAX), ENUM("migrate", "update"));

const struct schema BODY_PLAN_ACTION =
    SCHEMA(PROPERTIES({"action", &BODY_PLAN_CHOICE}), REQUIRED("action"));

const struct schema BODY_PLAN_UPDATE =
    SCHEMA(NO_ADDITIONAL,
           PROPERTIES({"action", &BODY_PLAN_CHOICE}, {"resources", &OBJECT}, {"plan_name", &TEXT},
                      {"timeout", &ANY_TEXT}),
           REQUIRED("action", "resources"));

static const struct schema ONE_NAME =
    SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(BODY_NAME), MIN_ITEMS(1), MAX_ITEMS(1));

const struct schema BODY_PLAN_MIGRATE = SCHEMA(
    NO_ADDITIONAL,
    PROPERTIES({"action", &BODY_PLAN_CHOICE}, {"resources", &ONE_NAME},
               {"excluded_hosts", &BODY_NAMES}, {"plan_name", &ANY_TEXT}, {"timeout", &ANY_TEXT}),
    REQUIRED("action", "resources"));

const struct schema BODY_RESERVE_CHOICE =
    SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(TEXT_MAX), ENUM("reserve", "replan"));

const struct schema BODY_RESERVE =
    SCHEMA(NO_ADDITIONAL, PROPERTIES({"locations", &BODY_NAMES}, {"resource_id", &TEXT},
                                     {"action", &BODY_RESERVE_CHOICE}));
