/* Reads what members have, one at a time: bodies here are small, or lists of one kind. */
#include "valet/api/body.h"

#include "api/schema/body_schema.h"

bool body_refuse(const char *name, struct slice what, struct err *err)
{
    return err_set_join(err, 400, NULL, SLICE_LIT("-> "), slice_of(name), SLICE_LIT(" -> "), what);
}

json_t *body_parse(struct slice bytes, struct json_heap *heap, struct err *err)
{
    if (bytes.len == 0) {
        err_set(err, 400, NULL, "The body is empty, and a JSON object is needed.");
        return NULL;
    }
    json_t *document = body_schema_load_wide(bytes, heap, err);
    if (document == NULL)
        return NULL;
    if (!json_is_object(document))
        err_set(err, 400, NULL, "The body is no JSON object.");
    else if (body_schema_nesting(document) > BODY_NESTING_MAX)
        err_set(err, 400, NULL, "The body is nested deeper than %d.", BODY_NESTING_MAX);
    else
        return document;
    json_decref(document);
    return NULL;
}

json_t *body_read(struct api_request *request)
{
    check(request->body == NULL);
    request->body = body_parse(request->http->body, body_schema_heap(request), &request->err);
    return request->body;
}

bool body_check_keys(json_t *object, const char *const *names, struct err *err)
{
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        struct slice key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const char *const *name = names;
        while (*name != NULL && !slice_equal(slice_of(*name), key))
            name++;
        if (*name == NULL)
            return err_set_join(err, 400, NULL, SLICE_LIT("-> "), key,
                                SLICE_LIT(" is not known here"));
    }
    return true;
}

size_t body_text_length(struct slice text)
{
    size_t characters = 0;
    for (size_t i = 0; i < text.len; i++)
        characters += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return characters;
}

static bool check_length(const char *name, struct slice text, unsigned min, unsigned max,
                         struct err *err)
{
    size_t length = body_text_length(text);
    if (length < min)
        return body_refuse(name, SLICE_LIT("is empty"), err);
    return length <= max ||
           body_refuse(name, arena_printf(err->arena, "has more than %u characters", max), err);
}

/* Missing members pass only where they may. */
static bool is_there(const char *name, const json_t *value, bool is_optional, struct err *err)
{
    return value != NULL || is_optional || body_refuse(name, SLICE_LIT("is missing"), err);
}

bool body_get_text(const json_t *object, const struct body_text *rule, struct slice *text,
                   struct err *err)
{
    const json_t *value = json_object_get(object, rule->name);
    *text = (struct slice){0};
    if (!is_there(rule->name, value, rule->is_optional, err))
        return false;
    if (value == NULL)
        return true;
    if (!json_is_string(value))
        return body_refuse(rule->name, SLICE_LIT("is not a string"), err);
    *text = body_schema_text(value);
    return check_length(rule->name, *text, rule->min, rule->max, err);
}

bool body_get_list(const json_t *object, const char *name, bool is_optional, const json_t **value,
                   struct err *err)
{
    *value = json_object_get(object, name);
    if (!is_there(name, *value, is_optional, err))
        return false;
    return *value == NULL || json_is_array(*value) ||
           body_refuse(name, SLICE_LIT("is not a list"), err);
}

bool body_get_object(const json_t *object, const char *name, bool is_optional, const json_t **value,
                     struct err *err)
{
    *value = json_object_get(object, name);
    if (!is_there(name, *value, is_optional, err))
        return false;
    return *value == NULL || json_is_object(*value) ||
           body_refuse(name, SLICE_LIT("is not an object"), err);
}
