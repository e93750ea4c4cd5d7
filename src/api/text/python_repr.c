/* repr() for JSON values. The length limit counts from the buffer's length at the start; once it is
 * exceeded, only the dots that mark the truncation are written. Any thread. */
#include "api/text/python_repr.h"

#include "base/json_write.h"
#include "base/python_text.h"

struct writer {
    struct buf *out;
    size_t end; /* no further value is written beyond this length */
};

static bool is_full(const struct writer *w)
{
    return w->out->len >= w->end;
}

static void write_string(struct writer *w, struct slice text)
{
    python_text_write(w->out, text, is_full(w) ? 0 : w->end - w->out->len);
}

static void write_value(struct writer *w, const json_t *value);

static void write_array(struct writer *w, const json_t *value)
{
    buf_append_char(w->out, '[');
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_lit(w->out, ", ");
        if (is_full(w)) {
            buf_append_lit(w->out, "...");
            break;
        }
        write_value(w, json_array_get(value, i));
    }
    buf_append_char(w->out, ']');
}

static void write_object(struct writer *w, const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators do not accept const */
    buf_append_char(w->out, '{');
    bool first = true;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        if (!first)
            buf_append_lit(w->out, ", ");
        first = false;
        if (is_full(w)) {
            buf_append_lit(w->out, "...");
            break;
        }
        write_string(w, (struct slice){json_object_iter_key(at), json_object_iter_key_len(at)});
        buf_append_lit(w->out, ": ");
        write_value(w, json_object_iter_value(at));
    }
    buf_append_char(w->out, '}');
}

static void write_value(struct writer *w, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(w, value);
        return;
    case JSON_ARRAY:
        write_array(w, value);
        return;
    case JSON_STRING:
        write_string(w, (struct slice){json_string_value(value), json_string_length(value)});
        return;
    case JSON_INTEGER:
        buf_append_int(w->out, json_integer_value(value));
        return;
    case JSON_REAL:
        json_write_double(w->out, json_real_value(value));
        return;
    case JSON_TRUE:
        buf_append_lit(w->out, "True");
        return;
    case JSON_FALSE:
        buf_append_lit(w->out, "False");
        return;
    case JSON_NULL:
        buf_append_lit(w->out, "None");
        return;
    }
}

void python_repr_string(struct buf *out, struct slice text)
{
    python_text_write(out, text, PYTHON_REPR_BYTES_MAX);
}

void python_repr_json(struct buf *out, const json_t *value)
{
    struct writer w = {out, out->len + PYTHON_REPR_BYTES_MAX};
    write_value(&w, value);
}

void python_str_text(struct buf *out, struct slice text)
{
    if (text.len <= PYTHON_REPR_BYTES_MAX) {
        buf_append_slice(out, text);
        return;
    }
    size_t len = PYTHON_REPR_BYTES_MAX;
    while (len > 0 && ((unsigned char)text.data[len] & 0xc0) == 0x80)
        len--;
    buf_append(out, text.data, len);
    buf_append_lit(out, "...");
}

void python_str_json(struct buf *out, const json_t *value)
{
    if (json_is_string(value))
        python_str_text(out, (struct slice){json_string_value(value), json_string_length(value)});
    else
        python_repr_json(out, value);
}
