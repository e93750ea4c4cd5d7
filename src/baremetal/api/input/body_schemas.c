/* The tables. Keywords and properties are in the order in which Ironic checks them, so that the
 * same error is reported. */
#include "baremetal/api/input/body_schemas.h"

#include "api/schema/words.h"
#include "baremetal/api/input/standard_traits.h"

#define OR_NULL(type) SCHEMA(TYPE((type) | SCHEMA_NULL))

static const struct schema STRING = SCHEMA(TYPE(SCHEMA_STRING));
static const struct schema SHORT = SCHEMA(TYPE(SCHEMA_STRING), MAX_LENGTH(255));
static const struct schema NULL_ONLY = SCHEMA(TYPE(SCHEMA_NULL));
static const struct schema OBJECT = SCHEMA(TYPE(SCHEMA_OBJECT));
static const struct schema STRING_OR_NULL = OR_NULL(SCHEMA_STRING);
static const struct schema OBJECT_OR_NULL = OR_NULL(SCHEMA_OBJECT);
static const struct schema TRUTH_OR_NULL = OR_NULL(SCHEMA_STRING | SCHEMA_BOOLEAN);
static const struct schema CLASS_OR_NULL =
    SCHEMA(TYPE(SCHEMA_STRING | SCHEMA_NULL), MAX_LENGTH(80));
static const struct schema SHORT_OR_NULL =
    SCHEMA(TYPE(SCHEMA_STRING | SCHEMA_NULL), MAX_LENGTH(255));

/* Stands for the list of names, which no message shows. */
static const struct schema_pattern STANDARD_TRAIT = {"a standard trait", standard_traits_have};

static const struct schema IS_CUSTOM = SCHEMA(PATTERN(PATTERN_CUSTOM));
static const struct schema IS_STANDARD = SCHEMA(PATTERN(STANDARD_TRAIT));

const struct schema BAREMETAL_TRAIT =
    SCHEMA(TYPE(SCHEMA_STRING), MIN_LENGTH(1), MAX_LENGTH(255), ANY_OF(&IS_CUSTOM, &IS_STANDARD));

static const struct schema STRINGS_OR_NULL =
    SCHEMA(TYPE(SCHEMA_ARRAY | SCHEMA_NULL), ITEMS(STRING));
static const struct schema TRAIT_LIST = SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(BAREMETAL_TRAIT));
static const struct schema TRAITS_OR_NULL =
    SCHEMA(TYPE(SCHEMA_ARRAY | SCHEMA_NULL), ITEMS(BAREMETAL_TRAIT));

const struct schema BAREMETAL_ALLOCATION =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"candidate_nodes", &STRINGS_OR_NULL}, {"extra", &OBJECT_OR_NULL},
                      {"name", &STRING_OR_NULL}, {"node", &STRING_OR_NULL},
                      {"owner", &SHORT_OR_NULL}, {"resource_class", &CLASS_OR_NULL},
                      {"traits", &TRAITS_OR_NULL}, {"uuid", &STRING_OR_NULL}),
           NO_ADDITIONAL);

const struct schema BAREMETAL_TRAITS =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES({"traits", &TRAIT_LIST}), NO_ADDITIONAL);

/* The items of its lists are not checked further: they are stored, and nothing is deployed with
 * them. */
static const struct schema OBJECTS = SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(OBJECT));
static const struct schema NETWORK =
    SCHEMA(TYPE(SCHEMA_OBJECT), REQUIRED("links", "networks", "services"),
           PROPERTIES({"links", &OBJECTS}, {"networks", &OBJECTS}, {"services", &OBJECTS}));
static const struct schema EMPTY_OBJECT = SCHEMA(TYPE(SCHEMA_OBJECT), NO_ADDITIONAL);
static const struct schema NETWORK_DATA = SCHEMA(ANY_OF(&NULL_ONLY, &EMPTY_OBJECT, &NETWORK));

static const struct schema DESCRIPTION =
    SCHEMA(TYPE(SCHEMA_STRING | SCHEMA_NULL), MAX_LENGTH(4096));

/* clang-format off */
#define NODE_PROPERTIES                                                                            \
    {"automated_clean", &TRUTH_OR_NULL},                                                           \
    {"bios_interface", &SHORT_OR_NULL},                                                            \
    {"boot_interface", &SHORT_OR_NULL},                                                            \
    {"chassis_uuid", &STRING_OR_NULL},                                                             \
    {"conductor_group", &SHORT_OR_NULL},                                                           \
    {"console_interface", &SHORT_OR_NULL},                                                         \
    {"deploy_interface", &SHORT_OR_NULL},                                                          \
    {"description", &DESCRIPTION},                                                                 \
    {"driver", &SHORT},                                                                            \
    {"driver_info", &OBJECT_OR_NULL},                                                              \
    {"extra", &OBJECT_OR_NULL},                                                                    \
    {"inspect_interface", &SHORT_OR_NULL},                                                         \
    {"instance_info", &OBJECT_OR_NULL},                                                            \
    {"instance_uuid", &STRING_OR_NULL},                                                            \
    {"lessee", &SHORT_OR_NULL},                                                                    \
    {"management_interface", &SHORT_OR_NULL},                                                      \
    {"maintenance", &TRUTH_OR_NULL},                                                               \
    {"name", &STRING_OR_NULL},                                                                     \
    {"network_data", &NETWORK_DATA},                                                               \
    {"network_interface", &SHORT_OR_NULL},                                                         \
    {"owner", &SHORT_OR_NULL},                                                                     \
    {"power_interface", &SHORT_OR_NULL},                                                           \
    {"properties", &OBJECT_OR_NULL},                                                               \
    {"raid_interface", &SHORT_OR_NULL},                                                            \
    {"rescue_interface", &SHORT_OR_NULL},                                                          \
    {"resource_class", &CLASS_OR_NULL},                                                            \
    {"retired", &TRUTH_OR_NULL},                                                                   \
    {"retired_reason", &STRING_OR_NULL},                                                           \
    {"shard", &SHORT_OR_NULL},                                                                     \
    {"storage_interface", &SHORT_OR_NULL},                                                         \
    {"uuid", &STRING_OR_NULL},                                                                     \
    {"vendor_interface", &SHORT_OR_NULL}
/* clang-format on */

const struct schema BAREMETAL_NODE =
    SCHEMA(TYPE(SCHEMA_OBJECT), PROPERTIES(NODE_PROPERTIES), REQUIRED("driver"), NO_ADDITIONAL);

const struct schema BAREMETAL_NODE_PATCHED =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES(NODE_PROPERTIES, {"protected", &TRUTH_OR_NULL},
                      {"protected_reason", &STRING_OR_NULL}),
           REQUIRED("driver"), NO_ADDITIONAL);

/* Letters, digits, "_" and "-" between slashes. All characters outside ASCII pass: a table of
 * Unicode letters would serve nothing else. */
static bool matches_path(struct slice text)
{
    if (text.len < 2 || text.data[0] != '/' || text.data[text.len - 1] == '/')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
        bool is_other = (c >= '0' && c <= '9') || c == '_' || c == '-';
        bool is_slash = c == '/' && (i == 0 || text.data[i - 1] != '/');
        if (!is_letter && !is_other && !is_slash)
            return false;
    }
    return true;
}

static const struct schema_pattern PATH_PATTERN = {"^(/[\\w-]+)+$", matches_path};
static const struct schema PATH = SCHEMA(TYPE(SCHEMA_STRING), PATTERN(PATH_PATTERN));
static const struct schema OPERATION_NAME =
    SCHEMA(TYPE(SCHEMA_STRING), ENUM("add", "replace", "remove"));
static const struct schema ANYTHING = SCHEMA({.kind = SCHEMA_END});

static const struct schema OPERATION = SCHEMA(
    TYPE(SCHEMA_OBJECT), PROPERTIES({"path", &PATH}, {"op", &OPERATION_NAME}, {"value", &ANYTHING}),
    NO_ADDITIONAL, REQUIRED("op", "path"));

const struct schema BAREMETAL_PATCH = SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(OPERATION));

static const struct schema USER_DATA =
    SCHEMA(TYPE(SCHEMA_OBJECT | SCHEMA_ARRAY | SCHEMA_STRING | SCHEMA_NULL));
static const struct schema BUILT_CONFIGDRIVE =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"meta_data", &OBJECT}, {"network_data", &OBJECT}, {"user_data", &USER_DATA},
                      {"vendor_data", &OBJECT}),
           NO_ADDITIONAL);

const struct schema BAREMETAL_CONFIGDRIVE = SCHEMA(ANY_OF(&BUILT_CONFIGDRIVE, &STRING_OR_NULL));

static const struct schema STEP_NAME = SCHEMA(TYPE(SCHEMA_STRING), MIN_LENGTH(1));

static const struct schema CLEAN_INTERFACE =
    SCHEMA(ENUM("power", "management", "deploy", "bios", "raid"));
static const struct schema CLEAN_STEP =
    SCHEMA(TYPE(SCHEMA_OBJECT), REQUIRED("interface", "step"),
           PROPERTIES({"interface", &CLEAN_INTERFACE}, {"step", &STEP_NAME}, {"args", &OBJECT}),
           NO_ADDITIONAL);

const struct schema BAREMETAL_CLEAN_STEPS = SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(CLEAN_STEP));

static bool matches_digits(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.len > 0;
}

static const struct schema_pattern DIGITS = {"^[0-9]+$", matches_digits};
static const struct schema DEPLOY_INTERFACE =
    SCHEMA(TYPE(SCHEMA_STRING), ENUM("power", "management", "deploy", "bios", "raid"));
static const struct schema PRIORITY_NUMBER = SCHEMA(TYPE(SCHEMA_INTEGER), MINIMUM(0));
static const struct schema PRIORITY_TEXT =
    SCHEMA(TYPE(SCHEMA_STRING), MIN_LENGTH(1), PATTERN(DIGITS));
static const struct schema PRIORITY = SCHEMA(ANY_OF(&PRIORITY_NUMBER, &PRIORITY_TEXT));
static const struct schema DEPLOY_STEP =
    SCHEMA(TYPE(SCHEMA_OBJECT),
           PROPERTIES({"args", &OBJECT}, {"interface", &DEPLOY_INTERFACE}, {"priority", &PRIORITY},
                      {"step", &STEP_NAME}),
           REQUIRED("interface", "step", "args", "priority"), NO_ADDITIONAL);

const struct schema BAREMETAL_DEPLOY_STEPS = SCHEMA(TYPE(SCHEMA_ARRAY), ITEMS(DEPLOY_STEP));
