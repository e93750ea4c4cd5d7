/* Validation. Every keyword of every schema is tried, and of all failures the one that weighs most
 * is kept: shortest path first, then anything but anyOf, then a failure on a value of the wrong
 * type; of equals the first. Where anyOf fails and one of its alternatives comes clearly closest,
 * its failure is told instead. Recursion is bounded by the depth of the tables. Any thread. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "api/schema.h"
#include "api/uuid_like.h"
#include "base/check.h"

/* How much a failure weighs. */
struct weight {
    unsigned path_len;
    bool is_weak;
    bool type_matches;
};

struct checker {
    bool partial;
    bool wants_least; /* inside anyOf: keep the least failure, not the greatest */
    bool failed;
    bool tied; /* wants_least: another one weighs the same */
    struct weight weight;
    struct schema_failure *best;
    /* where the check stands */
    unsigned path_len;
    unsigned schema_path_len;
    struct schema_step path[SCHEMA_PATH_MAX];
    struct schema_step schema_path[SCHEMA_DEPTH_MAX];
};

const struct schema_keyword *schema_keyword_of(const struct schema *schema,
                                               enum schema_keyword_kind kind)
{
    for (unsigned i = 0; i < SCHEMA_KEYWORDS_MAX && schema->keywords[i].kind != SCHEMA_END; i++)
        if (schema->keywords[i].kind == kind)
            return &schema->keywords[i];
    return NULL;
}

bool schema_is_type(const json_t *value, unsigned types)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return (types & SCHEMA_OBJECT) != 0;
    case JSON_ARRAY:
        return (types & SCHEMA_ARRAY) != 0;
    case JSON_STRING:
        return (types & SCHEMA_STRING) != 0;
    case JSON_INTEGER:
        return (types & (SCHEMA_INTEGER | SCHEMA_NUMBER)) != 0;
    case JSON_REAL:
        if ((types & SCHEMA_NUMBER) != 0)
            return true;
        return (types & SCHEMA_INTEGER) != 0 &&
               floor(json_real_value(value)) == json_real_value(value);
    case JSON_NULL:
        return (types & SCHEMA_NULL) != 0;
    case JSON_TRUE:
    case JSON_FALSE:
        return false;
    }
    return false;
}

/* Negative if a is the lesser match. */
static int compare_weights(const struct weight *a, const struct weight *b)
{
    if (a->path_len != b->path_len)
        return a->path_len < b->path_len ? 1 : -1;
    if (a->is_weak != b->is_weak)
        return a->is_weak ? -1 : 1;
    if (a->type_matches != b->type_matches)
        return a->type_matches ? -1 : 1;
    return 0;
}

/* Returns whether this failure is the one to tell so far. */
static bool fail_missing(struct checker *c, const struct schema *schema,
                         const struct schema_keyword *keyword, const json_t *value,
                         const char *missing)
{
    const struct schema_keyword *type = schema_keyword_of(schema, SCHEMA_TYPE);
    struct weight weight = {
        .path_len = c->path_len,
        .is_weak = keyword->kind == SCHEMA_ANY_OF,
        .type_matches = type != NULL && schema_is_type(value, type->types),
    };
    if (c->failed) {
        int order = compare_weights(&weight, &c->weight);
        if (c->wants_least && order == 0)
            c->tied = true;
        if (c->wants_least ? order >= 0 : order <= 0)
            return false;
    }
    c->failed = true;
    c->tied = false;
    c->weight = weight;
    struct schema_failure *best = c->best;
    best->schema = schema;
    best->keyword = keyword;
    best->value = value;
    best->missing = missing;
    best->path_len = c->path_len;
    best->schema_path_len = c->schema_path_len;
    memcpy(best->path, c->path, c->path_len * sizeof(c->path[0]));
    memcpy(best->schema_path, c->schema_path, c->schema_path_len * sizeof(c->schema_path[0]));
    return true;
}

static bool fail(struct checker *c, const struct schema *schema,
                 const struct schema_keyword *keyword, const json_t *value)
{
    return fail_missing(c, schema, keyword, value, NULL);
}

static struct schema_step step_of(const char *name)
{
    return (struct schema_step){.name = name, .len = strlen(name)};
}

static void check_value(struct checker *c, const struct schema *schema, const json_t *value);

/* Checks a part of the value: `at` is where it stands in the value, word and name where its schema
 * stands. */
static void check_part(struct checker *c, const struct schema *schema, const json_t *value,
                       struct schema_step at, const char *word, const char *name)
{
    unsigned schema_path_len = c->schema_path_len;
    check(c->path_len < SCHEMA_PATH_MAX && c->schema_path_len + 2 <= SCHEMA_DEPTH_MAX);
    c->path[c->path_len++] = at;
    c->schema_path[c->schema_path_len++] = step_of(word);
    if (name != NULL)
        c->schema_path[c->schema_path_len++] = step_of(name);
    check_value(c, schema, value);
    c->path_len--;
    c->schema_path_len = schema_path_len;
}

static void check_any_of(struct checker *c, const struct schema *schema,
                         const struct schema_keyword *keyword, const json_t *value)
{
    struct schema_failure closest;
    struct checker inner = {.partial = c->partial, .wants_least = true, .best = &closest};
    for (size_t i = 0; keyword->schemas[i] != NULL; i++) {
        struct schema_failure unused;
        struct checker alone = {.partial = c->partial, .best = &unused};
        check_value(&alone, keyword->schemas[i], value);
        if (!alone.failed)
            return;
        inner.schema_path[0] = (struct schema_step){.index = i};
        inner.schema_path_len = 1;
        check_value(&inner, keyword->schemas[i], value);
    }
    if (fail(c, schema, keyword, value) && !inner.tied)
        *c->best = closest; /* its paths begin at the alternative, as the peer prints them */
}

static void check_properties(struct checker *c, const struct schema_keyword *keyword,
                             const json_t *value)
{
    for (const struct schema_property *p = keyword->properties; p->name != NULL; p++) {
        const json_t *part = json_object_get(value, p->name);
        if (part != NULL)
            check_part(c, p->schema, part, step_of(p->name), "properties", p->name);
    }
}

static void check_pattern_properties(struct checker *c, const struct schema_keyword *keyword,
                                     const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators take no const */
    for (const struct schema_pattern_property *p = keyword->pattern_properties; p->pattern != NULL;
         p++) {
        for (void *at = json_object_iter(object); at != NULL;
             at = json_object_iter_next(object, at)) {
            struct slice key = {json_object_iter_key(at), json_object_iter_key_len(at)};
            if (p->pattern->matches(key))
                check_part(c, p->schema, json_object_iter_value(at),
                           (struct schema_step){.name = key.data, .len = key.len},
                           "patternProperties", p->pattern->text);
        }
    }
}

bool schema_allows_property(const struct schema *schema, struct slice key)
{
    const struct schema_keyword *named = schema_keyword_of(schema, SCHEMA_PROPERTIES);
    for (const struct schema_property *p = named == NULL ? NULL : named->properties;
         p != NULL && p->name != NULL; p++)
        if (slice_equal(slice_of(p->name), key))
            return true;
    const struct schema_keyword *patterns = schema_keyword_of(schema, SCHEMA_PATTERN_PROPERTIES);
    for (const struct schema_pattern_property *p = patterns == NULL ? NULL
                                                                    : patterns->pattern_properties;
         p != NULL && p->pattern != NULL; p++)
        if (p->pattern->matches(key))
            return true;
    return false;
}

static bool has_unknown_property(const struct schema *schema, const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        struct slice key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        if (!schema_allows_property(schema, key))
            return true;
    }
    return false;
}

/* A value in a form in which equal ones are equal texts. */
struct canonical {
    json_type kind;
    double number;
    struct slice text;
    char *owned; /* from jansson, or NULL */
};

static struct canonical canonical_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return (struct canonical){.kind = JSON_STRING,
                                  .text = {json_string_value(value), json_string_length(value)}};
    case JSON_INTEGER: /* integers and floats are one kind: 1 equals 1.0 */
    case JSON_REAL:
        return (struct canonical){.kind = JSON_REAL, .number = json_number_value(value)};
    case JSON_OBJECT:
    case JSON_ARRAY: {
        char *text = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT);
        check(text != NULL);
        return (struct canonical){
            .kind = json_typeof(value), .text = slice_of(text), .owned = text};
    }
    default:
        return (struct canonical){.kind = json_typeof(value)};
    }
}

static int compare_canonical(const void *left, const void *right)
{
    const struct canonical *a = left;
    const struct canonical *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->number < b->number)
        return -1;
    if (a->number > b->number)
        return 1;
    if (a->text.len != b->text.len)
        return a->text.len < b->text.len ? -1 : 1;
    return a->text.len == 0 ? 0 : memcmp(a->text.data, b->text.data, a->text.len);
}

static bool is_unique(const json_t *array)
{
    size_t count = json_array_size(array);
    if (count < 2)
        return true;
    struct canonical *items = calloc(count, sizeof(*items));
    check(items != NULL);
    for (size_t i = 0; i < count; i++)
        items[i] = canonical_of(json_array_get(array, i));
    qsort(items, count, sizeof(*items), compare_canonical);
    bool unique = true;
    for (size_t i = 1; i < count && unique; i++)
        unique = compare_canonical(&items[i - 1], &items[i]) != 0;
    for (size_t i = 0; i < count; i++)
        free(items[i].owned);
    free(items);
    return unique;
}

static size_t count_characters(const json_t *string)
{
    const char *text = json_string_value(string);
    size_t len = json_string_length(string);
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        if ((text[i] & 0xc0) != 0x80)
            count++;
    return count;
}

static bool is_one_of(const json_t *value, const char *const *names)
{
    for (size_t i = 0; json_is_string(value) && names[i] != NULL; i++)
        if (slice_equal(slice_of(names[i]),
                        (struct slice){json_string_value(value), json_string_length(value)}))
            return true;
    return false;
}

/* Whether a keyword about one string holds. */
static bool string_holds(const struct schema_keyword *keyword, const json_t *value)
{
    switch (keyword->kind) {
    case SCHEMA_MIN_LENGTH:
        return count_characters(value) >= keyword->count;
    case SCHEMA_MAX_LENGTH:
        return json_string_length(value) <= keyword->count ||
               count_characters(value) <= keyword->count;
    case SCHEMA_PATTERN:
        return keyword->pattern->matches(
            (struct slice){json_string_value(value), json_string_length(value)});
    default:
        return true;
    }
}

static void check_object(struct checker *c, const struct schema *schema,
                         const struct schema_keyword *keyword, const json_t *value)
{
    switch (keyword->kind) {
    case SCHEMA_PROPERTIES:
        check_properties(c, keyword, value);
        break;
    case SCHEMA_PATTERN_PROPERTIES:
        check_pattern_properties(c, keyword, value);
        break;
    case SCHEMA_NO_ADDITIONAL_PROPERTIES:
        if (has_unknown_property(schema, value))
            fail(c, schema, keyword, value);
        break;
    case SCHEMA_REQUIRED:
        for (size_t i = 0; !c->partial && keyword->names[i] != NULL; i++)
            if (json_object_get(value, keyword->names[i]) == NULL)
                fail_missing(c, schema, keyword, value, keyword->names[i]);
        break;
    case SCHEMA_MIN_PROPERTIES:
        if (!c->partial && json_object_size(value) < keyword->count)
            fail(c, schema, keyword, value);
        break;
    default:
        break;
    }
}

static void check_array(struct checker *c, const struct schema *schema,
                        const struct schema_keyword *keyword, const json_t *value)
{
    bool holds = true;
    if (keyword->kind == SCHEMA_MIN_ITEMS)
        holds = json_array_size(value) >= keyword->count;
    else if (keyword->kind == SCHEMA_UNIQUE_ITEMS)
        holds = is_unique(value);
    else if (keyword->kind == SCHEMA_ITEMS)
        for (size_t i = 0; i < json_array_size(value); i++)
            check_part(c, keyword->schema, json_array_get(value, i),
                       (struct schema_step){.index = i}, "items", NULL);
    if (!holds)
        fail(c, schema, keyword, value);
}

/* The keywords that look at values of any type. */
static bool any_holds(const struct schema_keyword *keyword, const json_t *value)
{
    switch (keyword->kind) {
    case SCHEMA_TYPE:
        return schema_is_type(value, keyword->types);
    case SCHEMA_FORMAT_UUID:
        return json_is_string(value) &&
               uuid_like_read((struct slice){json_string_value(value), json_string_length(value)},
                              NULL);
    case SCHEMA_FORMAT_DASHED_UUID:
        return json_is_string(value) && uuid_like_is_dashed((struct slice){
                                            json_string_value(value), json_string_length(value)});
    case SCHEMA_ENUM:
        return is_one_of(value, keyword->names);
    case SCHEMA_MINIMUM:
        return !json_is_number(value) || json_number_value(value) >= keyword->limit;
    case SCHEMA_MAXIMUM:
        return !json_is_number(value) || json_number_value(value) <= keyword->limit;
    default:
        return true;
    }
}

static void check_value(struct checker *c, const struct schema *schema, const json_t *value)
{
    for (unsigned i = 0; i < SCHEMA_KEYWORDS_MAX && schema->keywords[i].kind != SCHEMA_END; i++) {
        const struct schema_keyword *keyword = &schema->keywords[i];
        if (keyword->kind == SCHEMA_ANY_OF)
            check_any_of(c, schema, keyword, value);
        else if (!any_holds(keyword, value))
            fail(c, schema, keyword, value);
        else if (json_is_object(value))
            check_object(c, schema, keyword, value);
        else if (json_is_array(value))
            check_array(c, schema, keyword, value);
        else if (json_is_string(value) && !string_holds(keyword, value))
            fail(c, schema, keyword, value);
    }
}

bool schema_check(const struct schema *schema, const json_t *value, bool partial,
                  struct schema_failure *failure)
{
    struct checker c;
    c.partial = partial;
    c.wants_least = false;
    c.failed = false;
    c.tied = false;
    c.best = failure;
    c.path_len = 0;
    c.schema_path_len = 0;
    check_value(&c, schema, value);
    return !c.failed;
}
