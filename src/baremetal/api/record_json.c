/* Values are written one by one, by the kind of their field. Any thread. */
#include "baremetal/api/record_json.h"

#include "base/clock.h"
#include "base/json_write.h"

static bool is_shown(const struct record_field *field)
{
    return (field->flags & RECORD_INTERNAL) == 0;
}

struct record_fields record_fields_all(const struct record_shape *shape, unsigned minor)
{
    struct record_fields fields = {{false}};
    for (unsigned i = 0; i < shape->count; i++)
        fields.has[i] = is_shown(&shape->fields[i]) && minor >= shape->fields[i].since;
    return fields;
}

bool record_fields_check_version(const struct record_shape *shape, unsigned minor,
                                 const struct argument_words *words, struct err *err)
{
    for (size_t i = 0; i < words->count; i++) {
        int field = record_find(shape, words->words[i]);
        if (field >= 0 && minor < shape->fields[field].since)
            return err_set(err, 406, NULL, "Request not acceptable.");
    }
    return true;
}

static bool is_known(const void *with, struct slice name)
{
    return record_find(with, name) >= 0;
}

bool record_fields_read(const struct record_shape *shape, const struct argument_words *words,
                        struct record_fields *fields, struct err *err)
{
    *fields = (struct record_fields){{false}};
    if (!argument_check_fields(words, is_known, shape, err))
        return false;
    for (size_t i = 0; i < words->count; i++)
        fields->has[record_find(shape, words->words[i])] = true;
    int links = record_find(shape, SLICE_LIT("links"));
    check(links >= 0);
    fields->has[links] = true;
    return true;
}

void record_write_time(struct buf *out, int64_t at_us)
{
    enum { TO_SECONDS = 19 };
    char text[CLOCK_ISO_BYTES];
    if (at_us == 0) {
        buf_append_lit(out, "null");
        return;
    }
    clock_format_iso(at_us, text);
    text[10] = 'T';
    buf_printf(out, "\"%.*s+00:00\"", (int)TO_SECONDS, text);
}

void record_write_words(struct buf *out, struct slice words)
{
    struct slice word;
    bool is_first = true;
    buf_append_char(out, '[');
    while (record_next_word(&words, &word)) {
        if (!is_first)
            buf_append_lit(out, ", ");
        json_write_string(out, word);
        is_first = false;
    }
    buf_append_char(out, ']');
}

static void record_json_write_text(struct buf *out, struct slice text)
{
    if (text.data == NULL)
        buf_append_lit(out, "null");
    else
        json_write_string(out, text);
}

void record_write_value(struct buf *out, const struct record_shape *shape,
                        const struct record *record, unsigned field)
{
    switch ((enum record_kind)shape->fields[field].kind) {
    case RECORD_TEXT:
        record_json_write_text(out, record_text(record, field));
        return;
    case RECORD_BOOL:
        buf_append_slice(out, record_is_null(record, field) ? SLICE_LIT("null")
                              : record_bool(record, field)  ? SLICE_LIT("true")
                                                            : SLICE_LIT("false"));
        return;
    case RECORD_TIME:
        record_write_time(out, record_number(record, field));
        return;
    case RECORD_JSON:
        buf_append_slice(out, record_text(record, field));
        return;
    case RECORD_WORDS:
        record_write_words(out, record_text(record, field));
        return;
    case RECORD_REFERENCE:
    case RECORD_DERIVED:
        break;
    }
    check(false);
}

void record_write_field(struct buf *out, const struct record_shape *shape,
                        const struct record *record, unsigned field)
{
    buf_printf(out, "\"%s\": ", shape->fields[field].name);
    record_write_value(out, shape, record, field);
}
