/* JSON Schema as declarative tables, limited to the parts that the APIs use.
 *
 * The keywords of a schema have the order of the Python service's schema: if several errors have
 * the same weight, the first one is reported. */
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
    SCHEMA_INTEGER = 1, /* 4.0 is an integer, true is not */
    SCHEMA_NUMBER = 2,
    SCHEMA_OBJECT = 4,
    SCHEMA_ARRAY = 8,
    SCHEMA_STRING = 16,
    SCHEMA_BOOLEAN = 32,
    SCHEMA_NULL = 64,
};

/* A pattern: the function that matches it, and its text. "$" matches only at the end; the Python
 * service accepts a line break there (docs/differences.md, line-break). */
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
        unsigned types; /* of enum schema_type; messages list them in the order of its values */
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

/* Whether the schema has a property, or a pattern, that matches the key. */
bool schema_allows_property(const struct schema *schema, struct slice key);

enum {
    SCHEMA_PATH_MAX = 12,
    SCHEMA_DEPTH_MAX = 2 * SCHEMA_PATH_MAX,
};

/* A step of a path: a name or an index. */
struct schema_step {
    const char *name; /* NULL: an index */
    size_t len;
    size_t index;
};

/* One failure: the keyword, its schema, the value, and the positions of both. */
struct schema_failure {
    const struct schema *schema;
    const struct schema_keyword *keyword;
    const json_t *value;
    const char *missing; /* for SCHEMA_REQUIRED */
    unsigned path_len;
    unsigned schema_path_len;
    struct schema_step path[SCHEMA_PATH_MAX];
    struct schema_step schema_path[SCHEMA_DEPTH_MAX];
};

/* Whether the value is valid. If not, *failure is the one that jsonschema's best_match chooses.
 * partial: required properties and numbers of properties are not checked. */
bool schema_check(const struct schema *schema, const json_t *value, bool partial,
                  struct schema_failure *failure);

/* The same for objects that are validated member by member: *failure is the first failure, with
 * keywords and properties in their order; a missing required property is found at its position
 * among the properties. The check ends at the first failure. */
bool schema_check_in_order(const struct schema *schema, const json_t *value,
                           struct schema_failure *failure);

/* For a failed anyOf none of whose alternatives comes closest: finds the failure within them that
 * has the greatest weight and is not itself an anyOf. False: the failure is not of that kind. */
bool schema_root_cause(const struct schema_failure *failure, struct schema_failure *cause);

/* "0 is less than the minimum of 1" */
struct slice schema_failure_message(struct arena *arena, const struct schema_failure *failure);

/* The same and "  Failed validating 'minimum' in schema[...]  On instance[...]" */
struct slice schema_failure_text(struct arena *arena, const struct schema_failure *failure);

#endif
