/* From bytes to a validated document. Any thread. */
#include "api/body_schema.h"

#include <math.h>
#include <stdlib.h>

#include "api/query_string.h"
#include "api/request.h"
#include "api/schema.h"
#include "base/arena.h"

/* jansson takes no NULL, not even for nothing. */
static const char *text_of(struct slice text)
{
    return text.data == NULL ? "" : text.data;
}

static bool refuse(struct err *err, const char *prefix, const struct schema_failure *failure)
{
    struct slice text = schema_failure_text(err->arena, failure);
    size_t prefix_len = strlen(prefix);
    char *whole = arena_alloc(err->arena, prefix_len + text.len);
    memcpy(whole, prefix, prefix_len);
    memcpy(whole + prefix_len, text.data, text.len);
    return err_set_text(err, 400, NULL, (struct slice){whole, prefix_len + text.len});
}

bool body_schema_check(const json_t *document, const struct schema *schema, struct err *err)
{
    struct schema_failure failure;
    return schema_check(schema, document, false, &failure) ||
           refuse(err, "JSON does not validate: ", &failure);
}

json_t *body_schema_parse(struct slice body, const struct schema *schema, struct err *err)
{
    json_error_t error;
    json_t *document =
        json_loadb(text_of(body), body.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (document == NULL) {
        err_set(err, 400, NULL, "Malformed JSON: %s: line %d column %d", error.text, error.line,
                error.column);
        return NULL;
    }
    if (!body_schema_check(document, schema, err)) {
        json_decref(document);
        return NULL;
    }
    return document;
}

json_t *body_schema_read(struct api_request *request, const struct schema *schema)
{
    check(request->body == NULL);
    request->body = body_schema_parse(request->http->body, schema, &request->err);
    return request->body;
}

/* Puts the last (or, once those were checked, the next to last, ...) unchecked value of each name
 * into an object. Returns how many it took, or -1 when a text is not UTF-8. */
static int take_params(const struct query_string *query, bool *taken, json_t *object)
{
    int got = 0;
    for (size_t i = query->count; i-- > 0;) {
        const struct query_pair *param = &query->pairs[i];
        if (taken[i] || json_object_getn(object, text_of(param->name), param->name.len) != NULL)
            continue;
        json_t *value = json_stringn(text_of(param->value), param->value.len);
        if (value == NULL ||
            json_object_setn_new(object, text_of(param->name), param->name.len, value) != 0)
            return -1;
        taken[i] = true;
        got++;
    }
    return got;
}

bool body_schema_check_query(const struct query_string *query, const struct schema *schema,
                             struct err *err)
{
    bool *taken = arena_zalloc(err->arena, query->count * sizeof(bool));
    size_t left = query->count;
    bool partial = false;
    do {
        json_t *object = json_object();
        check(object != NULL);
        int got = take_params(query, taken, object);
        struct schema_failure failure;
        bool valid = false;
        if (got < 0)
            err_set(err, 400, NULL, "Invalid query string parameters: not valid UTF-8");
        else if (!schema_check(schema, object, partial, &failure))
            refuse(err, "Invalid query string parameters: ", &failure);
        else
            valid = true;
        json_decref(object);
        if (!valid)
            return false;
        left -= (size_t)got;
        partial = true;
    } while (left > 0);
    return true;
}

int64_t body_schema_integer(const json_t *value)
{
    if (json_is_integer(value))
        return json_integer_value(value);
    double real = json_real_value(value);
    if (real >= 0x1p63)
        return INT64_MAX;
    if (real <= -0x1p63)
        return INT64_MIN;
    return (int64_t)real;
}

double body_schema_number(const json_t *value)
{
    return json_number_value(value);
}

struct slice body_schema_text(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}
