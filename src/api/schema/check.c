/* Validation of values and their parts. Every keyword of every schema is checked, and of all
 * failures the one with the greatest weight is kept: shortest path first, then any keyword except
 * anyOf, then a failure on a value of the wrong type; of equals the first. If anyOf fails and one
 * of its alternatives comes clearly closest, the failure of that alternative is reported instead.
 * The recursion is bounded by the depth of the tables. Any thread. */
#include <stdint.h>

#include "api/schema/internal.h"
#include "base/check.h"

/* The weight of a failure. */
struct weight {
    unsigned path_len;
    bool is_weak;
    bool type_matches;
};

struct checker {
    bool partial;
    bool in_order;    /* the first failure is reported */
    bool wants_least; /* inside anyOf: keep the failure with the least weight, not the greatest */
    bool failed;
    bool tied; /* wants_least: another failure has the same weight */
    struct weight weight;
    struct schema_failure *best;
    /* the position of the check */
    unsigned path_len;
    unsigned schema_path_len;
    struct schema_step path[SCHEMA_PATH_MAX];
    struct schema_step schema_path[SCHEMA_DEPTH_MAX];
};

/* Negative if a has less weight. */
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

/* Returns whether this failure is the one to report so far. */
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

static bool check_fail(struct checker *c, const struct schema *schema,
                       const struct schema_keyword *keyword, const json_t *value)
{
    return fail_missing(c, schema, keyword, value, NULL);
}

static struct schema_step step_of(const char *name)
{
    return (struct schema_step){.name = name, .len = strlen(name)};
}

static void check_value(struct checker *c, const struct schema *schema, const json_t *value);

/* Checks a part of the value: `at` is its position in the value; word and name are the position of
 * its schema. */
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
    if (check_fail(c, schema, keyword, value) && !inner.tied)
        *c->best = closest; /* its paths begin at the alternative, as jsonschema prints them */
}

static bool is_done(const struct checker *c)
{
    return c->in_order && c->failed;
}

static bool has_name(const struct schema_keyword *keyword, const char *name)
{
    for (size_t i = 0; keyword != NULL && keyword->names[i] != NULL; i++)
        if (strcmp(keyword->names[i], name) == 0)
            return true;
    return false;
}

static void check_properties(struct checker *c, const struct schema *schema,
                             const struct schema_keyword *keyword, const json_t *value)
{
    const struct schema_keyword *required =
        c->in_order ? schema_keyword_of(schema, SCHEMA_REQUIRED) : NULL;
    for (const struct schema_property *p = keyword->properties; p->name != NULL && !is_done(c);
         p++) {
        const json_t *part = json_object_get(value, p->name);
        if (part != NULL)
            check_part(c, p->schema, part, step_of(p->name), "properties", p->name);
        else if (has_name(required, p->name))
            fail_missing(c, schema, required, value, p->name);
    }
}

static void check_pattern_properties(struct checker *c, const struct schema_keyword *keyword,
                                     const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators do not accept const */
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

static void check_required(struct checker *c, const struct schema *schema,
                           const struct schema_keyword *keyword, const json_t *value)
{
    for (size_t i = 0; !c->partial && !is_done(c) && keyword->names[i] != NULL; i++)
        if (json_object_get(value, keyword->names[i]) == NULL)
            fail_missing(c, schema, keyword, value, keyword->names[i]);
}

static void check_items(struct checker *c, const struct schema_keyword *keyword,
                        const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value) && !is_done(c); i++)
        check_part(c, keyword->schema, json_array_get(value, i), (struct schema_step){.index = i},
                   "items", NULL);
}

static void check_value(struct checker *c, const struct schema *schema, const json_t *value)
{
    bool is_object = json_is_object(value);
    for (unsigned i = 0;
         i < SCHEMA_KEYWORDS_MAX && schema->keywords[i].kind != SCHEMA_END && !is_done(c); i++) {
        const struct schema_keyword *keyword = &schema->keywords[i];
        if (keyword->kind == SCHEMA_ANY_OF) {
            check_any_of(c, schema, keyword, value);
        } else if (keyword->kind == SCHEMA_PROPERTIES && is_object) {
            check_properties(c, schema, keyword, value);
        } else if (keyword->kind == SCHEMA_PATTERN_PROPERTIES && is_object) {
            check_pattern_properties(c, keyword, value);
        } else if (keyword->kind == SCHEMA_NO_ADDITIONAL_PROPERTIES && is_object) {
            if (has_unknown_property(schema, value))
                check_fail(c, schema, keyword, value);
        } else if (keyword->kind == SCHEMA_REQUIRED && is_object) {
            check_required(c, schema, keyword, value);
        } else if (keyword->kind == SCHEMA_ITEMS) {
            check_items(c, keyword, value);
        } else if (keyword->kind != SCHEMA_MIN_PROPERTIES || !c->partial) {
            if (!schema_keyword_holds(keyword, value))
                check_fail(c, schema, keyword, value);
        }
    }
}

static void start(struct checker *c, bool partial, struct schema_failure *failure)
{
    c->partial = partial;
    c->in_order = false;
    c->wants_least = false;
    c->failed = false;
    c->tied = false;
    c->best = failure;
    c->path_len = 0;
    c->schema_path_len = 0;
}

bool schema_check(const struct schema *schema, const json_t *value, bool partial,
                  struct schema_failure *failure)
{
    struct checker c;
    start(&c, partial, failure);
    check_value(&c, schema, value);
    return !c.failed;
}

bool schema_check_in_order(const struct schema *schema, const json_t *value,
                           struct schema_failure *failure)
{
    struct checker c;
    start(&c, false, failure);
    c.in_order = true;
    check_value(&c, schema, value);
    return !c.failed;
}

bool schema_root_cause(const struct schema_failure *failure, struct schema_failure *cause)
{
    if (failure->keyword->kind != SCHEMA_ANY_OF)
        return false;
    struct schema_failure at = *failure;
    while (at.keyword->kind == SCHEMA_ANY_OF) {
        struct checker c;
        start(&c, false, cause);
        for (size_t i = 0; at.keyword->schemas[i] != NULL; i++)
            check_value(&c, at.keyword->schemas[i], at.value);
        check(c.failed);
        at = *cause;
    }
    return true;
}
