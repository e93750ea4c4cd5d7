/* The caller has limited the depth of the value. Pure; any thread. */
#include "baremetal/write/json_text.h"

#include <stdint.h>
#include <string.h>

#include "base/json_write.h"

static void append_array(struct buf *out, const json_t *value)
{
    buf_append_char(out, '[');
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i > 0)
            buf_append_char(out, ',');
        json_text_append(out, json_array_get(value, i));
    }
    buf_append_char(out, ']');
}

static void append_object(struct buf *out, const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators are not const */
    bool is_first = true;
    buf_append_char(out, '{');
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        if (!is_first)
            buf_append_char(out, ',');
        is_first = false;
        json_write_string(out,
                          (struct slice){json_object_iter_key(at), json_object_iter_key_len(at)});
        buf_append_char(out, ':');
        json_text_append(out, json_object_iter_value(at));
    }
    buf_append_char(out, '}');
}

void json_text_append(struct buf *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        append_object(out, value);
        return;
    case JSON_ARRAY:
        append_array(out, value);
        return;
    case JSON_STRING:
        json_write_string(out, (struct slice){json_string_value(value), json_string_length(value)});
        return;
    case JSON_INTEGER:
        buf_append_int(out, json_integer_value(value));
        return;
    case JSON_REAL:
        json_write_double(out, json_real_value(value));
        return;
    case JSON_TRUE:
        buf_append_lit(out, "true");
        return;
    case JSON_FALSE:
        buf_append_lit(out, "false");
        return;
    case JSON_NULL:
        buf_append_lit(out, "null");
        return;
    }
    check(false);
}

struct slice json_text(const json_t *value, struct arena *arena)
{
    struct buf text = {0};
    json_text_append(&text, value);
    struct slice copy = arena_copy(arena, buf_slice(&text));
    buf_free(&text);
    return copy;
}

/* Measured with the worst texts: lists of small numbers and objects of small members. */
enum { STEPS_OF_A_BYTE = 4, STEPS_OF_A_VALUE = 30, BYTES_OF_A_VALUE = 160 };

struct json_text_cost json_text_cost(struct slice text, size_t most_values)
{
    size_t values = 1;
    const char *at = text.data;
    const char *end = text.data + text.len;
    while (values < most_values && at < end && (at = memchr(at, ',', (size_t)(end - at))) != NULL) {
        values++;
        at++;
    }
    return (struct json_text_cost){
        .steps = (int64_t)(text.len * STEPS_OF_A_BYTE + values * STEPS_OF_A_VALUE),
        .bytes = text.len + values * BYTES_OF_A_VALUE,
    };
}
