/* Keywords of a schema that concern the value alone: whether they are satisfied can be decided
 * without the value's parts. Pure; any thread. */
#include <math.h>
#include <stdlib.h>

#include "api/schema/internal.h"
#include "api/text/uuid_like.h"
#include "base/check.h"

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
        return (types & SCHEMA_BOOLEAN) != 0;
    }
    return false;
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

static struct slice keywords_text_of(const json_t *string)
{
    return (struct slice){json_string_value(string), json_string_length(string)};
}

/* A value in a form in which equal values have equal texts. */
struct canonical {
    json_type kind;
    double number;
    struct slice text;
    char *owned; /* allocated by jansson, or NULL */
};

static struct canonical canonical_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return (struct canonical){.kind = JSON_STRING, .text = keywords_text_of(value)};
    case JSON_INTEGER: /* integers and floats are compared alike: 1 equals 1.0 */
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
        if (slice_equal(slice_of(names[i]), keywords_text_of(value)))
            return true;
    return false;
}

/* Keywords about strings, numbers, arrays and objects are satisfied by values of other types. */
bool schema_keyword_holds(const struct schema_keyword *keyword, const json_t *value)
{
    bool is_string = json_is_string(value);
    switch (keyword->kind) {
    case SCHEMA_TYPE:
        return schema_is_type(value, keyword->types);
    case SCHEMA_MINIMUM:
        return !json_is_number(value) || json_number_value(value) >= keyword->limit;
    case SCHEMA_MAXIMUM:
        return !json_is_number(value) || json_number_value(value) <= keyword->limit;
    case SCHEMA_MIN_LENGTH:
        return !is_string || count_characters(value) >= keyword->count;
    case SCHEMA_MAX_LENGTH:
        return !is_string || json_string_length(value) <= keyword->count ||
               count_characters(value) <= keyword->count;
    case SCHEMA_PATTERN:
        return !is_string || keyword->pattern->matches(keywords_text_of(value));
    case SCHEMA_FORMAT_UUID:
        return is_string && uuid_like_read(keywords_text_of(value), NULL);
    case SCHEMA_FORMAT_DASHED_UUID:
        return is_string && uuid_like_is_dashed(keywords_text_of(value));
    case SCHEMA_ENUM:
        return is_one_of(value, keyword->names);
    case SCHEMA_MIN_ITEMS:
        return !json_is_array(value) || json_array_size(value) >= keyword->count;
    case SCHEMA_MAX_ITEMS:
        return !json_is_array(value) || json_array_size(value) <= keyword->count;
    case SCHEMA_UNIQUE_ITEMS:
        return !json_is_array(value) || is_unique(value);
    case SCHEMA_MIN_PROPERTIES:
        return !json_is_object(value) || json_object_size(value) >= keyword->count;
    default:
        return true; /* concerns the parts */
    }
}
