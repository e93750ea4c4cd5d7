/* Writes the text of a validation failure as jsonschema does: message, keyword and both paths. The
 * schema and the whole instance, which jsonschema prints, too, are left out. Any thread. */
#include <stdlib.h>

#include "api/schema/schema.h"
#include "api/text/python_repr.h"
#include "base/arena.h"
#include "base/json_write.h"

static const char *const KEYWORDS[] = {
    [SCHEMA_TYPE] = "type",
    [SCHEMA_MINIMUM] = "minimum",
    [SCHEMA_MAXIMUM] = "maximum",
    [SCHEMA_MIN_LENGTH] = "minLength",
    [SCHEMA_MAX_LENGTH] = "maxLength",
    [SCHEMA_PATTERN] = "pattern",
    [SCHEMA_FORMAT_UUID] = "format",
    [SCHEMA_FORMAT_DASHED_UUID] = "format",
    [SCHEMA_ENUM] = "enum",
    [SCHEMA_ANY_OF] = "anyOf",
    [SCHEMA_ITEMS] = "items",
    [SCHEMA_MIN_ITEMS] = "minItems",
    [SCHEMA_MAX_ITEMS] = "maxItems",
    [SCHEMA_UNIQUE_ITEMS] = "uniqueItems",
    [SCHEMA_PROPERTIES] = "properties",
    [SCHEMA_PATTERN_PROPERTIES] = "patternProperties",
    [SCHEMA_NO_ADDITIONAL_PROPERTIES] = "additionalProperties",
    [SCHEMA_REQUIRED] = "required",
    [SCHEMA_MIN_PROPERTIES] = "minProperties",
};

static void message_append(struct buf *out, const char *text)
{
    buf_append(out, text, strlen(text));
}

static void append_repr(struct buf *out, const char *text)
{
    python_repr_string(out, slice_of(text));
}

static void write_types(struct buf *out, unsigned types)
{
    static const char *const names[] = {"integer", "number",  "object", "array",
                                        "string",  "boolean", "null"};
    bool first = true;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((types & 1u << i) == 0)
            continue;
        if (!first)
            buf_append_lit(out, ", ");
        first = false;
        append_repr(out, names[i]);
    }
}

/* Limits that are whole numbers are integers in the Python service's tables, the others floats. */
static void write_limit(struct buf *out, double limit)
{
    if (limit <= 0x1p53)
        buf_append_int(out, (int64_t)limit);
    else
        json_write_double(out, limit);
}

/* The sorted texts as reprs, separated by ", ", limited to the maximum length of a single one. */
static void write_sorted(struct buf *out, struct slice *texts, size_t count)
{
    qsort(texts, count, sizeof(*texts), slice_compare);
    size_t end = out->len + PYTHON_REPR_BYTES_MAX;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        if (out->len >= end) {
            buf_append_lit(out, "...");
            return;
        }
        python_repr_string(out, texts[i]);
    }
}

static void write_additional(struct buf *out, struct arena *arena,
                             const struct schema_failure *failure)
{
    json_t *object = (json_t *)(uintptr_t)failure->value; /* jansson's iterators do not accept
                                                           * const */
    struct slice *extras = arena_array(arena, json_object_size(object), sizeof(*extras));
    size_t count = 0;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        struct slice key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        if (!schema_allows_property(failure->schema, key))
            extras[count++] = key;
    }
    const struct schema_keyword *keyword =
        schema_keyword_of(failure->schema, SCHEMA_PATTERN_PROPERTIES);
    if (keyword == NULL) {
        buf_append_lit(out, "Additional properties are not allowed (");
        write_sorted(out, extras, count);
        message_append(out, count == 1 ? " was unexpected)" : " were unexpected)");
        return;
    }
    write_sorted(out, extras, count);
    message_append(out, count == 1 ? " does" : " do");
    buf_append_lit(out, " not match any of the regexes: ");
    struct slice patterns[8];
    size_t pattern_count = 0;
    for (const struct schema_pattern_property *p = keyword->pattern_properties; p->pattern != NULL;
         p++) {
        check(pattern_count < sizeof(patterns) / sizeof(patterns[0]));
        patterns[pattern_count++] = slice_of(p->pattern->text);
    }
    write_sorted(out, patterns, pattern_count);
}

static void write_enum(struct buf *out, const char *const *names)
{
    buf_append_lit(out, " is not one of [");
    for (size_t i = 0; names[i] != NULL; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        append_repr(out, names[i]);
    }
    buf_append_char(out, ']');
}

/* Writes the text after the value. */
static void write_complaint(struct buf *out, const struct schema_keyword *keyword)
{
    switch (keyword->kind) {
    case SCHEMA_TYPE:
        buf_append_lit(out, " is not of type ");
        write_types(out, keyword->types);
        break;
    case SCHEMA_MINIMUM:
        buf_append_lit(out, " is less than the minimum of ");
        write_limit(out, keyword->limit);
        break;
    case SCHEMA_MAXIMUM:
        buf_append_lit(out, " is greater than the maximum of ");
        write_limit(out, keyword->limit);
        break;
    case SCHEMA_MIN_LENGTH:
    case SCHEMA_MIN_ITEMS:
        message_append(out, keyword->count == 1 ? " should be non-empty" : " is too short");
        break;
    case SCHEMA_MAX_LENGTH:
    case SCHEMA_MAX_ITEMS:
        buf_append_lit(out, " is too long");
        break;
    case SCHEMA_PATTERN:
        buf_append_lit(out, " does not match ");
        append_repr(out, keyword->pattern->text);
        break;
    case SCHEMA_FORMAT_UUID:
    case SCHEMA_FORMAT_DASHED_UUID:
        buf_append_lit(out, " is not a 'uuid'");
        break;
    case SCHEMA_ENUM:
        write_enum(out, keyword->names);
        break;
    case SCHEMA_ANY_OF:
        buf_append_lit(out, " is not valid under any of the given schemas");
        break;
    case SCHEMA_UNIQUE_ITEMS:
        buf_append_lit(out, " has non-unique elements");
        break;
    case SCHEMA_MIN_PROPERTIES:
        message_append(out, keyword->count == 1 ? " should be non-empty"
                                                : " does not have enough properties");
        break;
    default:
        check(false);
    }
}

static void write_path(struct buf *out, const struct schema_step *steps, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        buf_append_char(out, '[');
        if (steps[i].name != NULL)
            python_repr_string(out, (struct slice){steps[i].name, steps[i].len});
        else
            buf_append_int(out, (int64_t)steps[i].index);
        buf_append_char(out, ']');
    }
}

static void write_message(struct buf *out, struct arena *arena,
                          const struct schema_failure *failure)
{
    if (failure->keyword->kind == SCHEMA_REQUIRED) {
        append_repr(out, failure->missing);
        buf_append_lit(out, " is a required property");
    } else if (failure->keyword->kind == SCHEMA_NO_ADDITIONAL_PROPERTIES) {
        write_additional(out, arena, failure);
    } else {
        python_repr_json(out, failure->value);
        write_complaint(out, failure->keyword);
    }
}

struct slice schema_failure_message(struct arena *arena, const struct schema_failure *failure)
{
    struct buf out = {0};
    write_message(&out, arena, failure);
    struct slice text = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return text;
}

struct slice schema_failure_text(struct arena *arena, const struct schema_failure *failure)
{
    struct buf out = {0};
    write_message(&out, arena, failure);
    buf_append_lit(&out, "  Failed validating ");
    append_repr(&out, KEYWORDS[failure->keyword->kind]);
    buf_append_lit(&out, " in schema");
    write_path(&out, failure->schema_path, failure->schema_path_len);
    buf_append_lit(&out, "  On instance");
    write_path(&out, failure->path, failure->path_len);
    struct slice text = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return text;
}
