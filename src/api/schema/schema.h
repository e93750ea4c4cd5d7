/* JSON Schema as declarative tables, for as much of it as the APIs use.
 *
 * A schema is its keywords in the order in which the Python service writes them down: where several
 * errors weigh the same, the first one is reported. */
#ifndef BERTH_API_SCHEMA_SCHEMA_H
#define BERTH_API_SCHEMA_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/slice.h"

struct arena;
struct schema;

enum schema_keyword_kind {
    SCHEMA_END,
    SCHEMA_TYPE,
    SCHEMA_MINIMUM,
    SCHEMA_MAXIMUM,
    SCHEMA_MIN_LENGTH, /* in characters, not bytes */
    SCHEMA_MAX_LENGTH,
    SCHEMA_PATTERN,
    SCHEMA_FORMAT_UUID,
    SCHEMA_FORMAT_DASHED_UUID,
    SCHEMA_ENUM,
    SCHEMA_ANY_OF,
    SCHEMA_ITEMS,
    SCHEMA_MIN_ITEMS,
    SCHEMA_MAX_ITEMS,
    SCHEMA_UNIQUE_ITEMS,
    SCHEMA_PROPERTIES,
    SCHEMA_PATTERN_PROPERTIES,
    SCHEMA_NO_ADDITIONAL_PROPERTIES,
    SCHEMA_REQUIRED,
    SCHEMA_MIN_PROPERTIES,
};

enum schema_type {
    SCHEMA_INTEGER = 1, /* 4.0 is one, true is none */
    SCHEMA_NUMBER = 2,
    SCHEMA_OBJECT = 4,
    SCHEMA_ARRAY = 8,
    SCHEMA_STRING = 16,
    SCHEMA_BOOLEAN = 32,
    SCHEMA_NULL = 64,
};

/* A pattern: what it accepts, and how it reads. "$" is the end here; the Python service lets a line
 * break follow (docs/differences.md, line-break). */
struct schema_pattern {
    const char *text;
    bool (*matches)(struct slice text);
};

/* Lists end with a NULL name, pattern or schema. */
struct schema_property {
    const char *name;
    const struct schema *schema;
};

struct schema_pattern_property {
    const struct schema_pattern *pattern;
    const struct schema *schema;
};

struct schema_keyword {
    enum schema_keyword_kind kind;
    union {
        unsigned types; /* of enum schema_type, in the order of its values in messages */
        double limit;
        size_t count;
        const struct schema_pattern *pattern;
        const char *const *names; /* enum, required; NULL-terminated */
        const struct schema *schema;
        const struct schema *const *schemas; /* NULL-terminated */
        const struct schema_property *properties;
        const struct schema_pattern_property *pattern_properties;
    };
};

enum { SCHEMA_KEYWORDS_MAX = 7 };

struct schema {
    struct schema_keyword keywords[SCHEMA_KEYWORDS_MAX]; /* up to the first SCHEMA_END */
};

/* The keyword of that kind in the schema, or NULL. */
const struct schema_keyword *schema_keyword_of(const struct schema *schema,
                                               enum schema_keyword_kind kind);

/* Whether the value is of one of the types (of enum schema_type). */
bool schema_is_type(const json_t *value, unsigned types);

/* Whether the schema has a property, or a pattern, for that key. */
bool schema_allows_property(const struct schema *schema, struct slice key);

enum {
    SCHEMA_PATH_MAX = 12,
    SCHEMA_DEPTH_MAX = 2 * SCHEMA_PATH_MAX,
};

/* A step of a path: a name or an index. */
struct schema_step {
    const char *name; /* NULL: index */
    size_t len;
    size_t index;
};

/* One failure: which keyword of which schema, on which value, and where both stand. */
struct schema_failure {
    const struct schema *schema;
    const struct schema_keyword *keyword;
    const json_t *value;
    const char *missing; /* of SCHEMA_REQUIRED */
    unsigned path_len;
    unsigned schema_path_len;
    struct schema_step path[SCHEMA_PATH_MAX];
    struct schema_step schema_path[SCHEMA_DEPTH_MAX];
};

/* Whether the value is valid. If not, *failure is the one that jsonschema's best_match chooses.
 * partial: required properties and counts of properties are not asked for. */
bool schema_check(const struct schema *schema, const json_t *value, bool partial,
                  struct schema_failure *failure);

/* The same for objects that are read member by member: *failure is the first one, keywords and
 * properties taken in their order; a required property is found missing where its turn is among the
 * properties. The check ends there. */
bool schema_check_in_order(const struct schema *schema, const json_t *value,
                           struct schema_failure *failure);

/* Of a failed anyOf none of whose alternatives comes closest: the failure within them that weighs
 * most, down to one that is no anyOf. False if the failure is not of that kind. */
bool schema_root_cause(const struct schema_failure *failure, struct schema_failure *cause);

/* "0 is less than the minimum of 1" */
struct slice schema_failure_message(struct arena *arena, const struct schema_failure *failure);

/* The same and "  Failed validating 'minimum' in schema[...]  On instance[...]" */
struct slice schema_failure_text(struct arena *arena, const struct schema_failure *failure);

#endif
