/* See value_limits.h. The numbers that planners write fit all databases: the API's schemas limit
 * them. Pure; any thread. */
#include "store/value_limits.h"

#include "base/utf8.h"
#include "store/record_tables.h"
#include "store/rows.h"

static bool nul_fits(const struct value_limits *limits, struct slice text, struct err *err)
{
    if (!limits->refuses_nul || text.len == 0 || memchr(text.data, '\0', text.len) == NULL)
        return true;
    return err_set(err, 400, NULL, "The database cannot store a text with U+0000.");
}

bool value_limits_has_more_chars(struct slice text, size_t most)
{
    size_t chars = 0;
    for (size_t at = 0; at < text.len; chars++) {
        size_t length = utf8_length(text.data + at, text.len - at);
        at += length == 0 ? 1 : length;
    }
    return chars > most;
}

size_t value_limits_find_longer(struct slice text, size_t bytes, size_t *at)
{
    for (*at = 0; *at < text.len;) {
        size_t length = utf8_length(text.data + *at, text.len - *at);
        if (length > bytes)
            return length;
        *at += length == 0 ? 1 : length;
    }
    return 0;
}

static bool characters_fit(const struct text_room *room, const struct rows_info *table,
                           const struct rows_column *column, struct slice text, struct err *err)
{
    size_t at = 0;
    size_t length =
        room->utf8_bytes == 0 ? 0 : value_limits_find_longer(text, room->utf8_bytes, &at);
    if (length == 0)
        return true;
    return err_set(err, 400, NULL, "The database cannot store the character '%.*s' in %s.%s.",
                   (int)length, text.data + at, table->name, column->name);
}

static bool length_fits(const struct value_limits *limits, const struct text_room *room,
                        const struct rows_info *table, const struct rows_column *column,
                        struct slice text, struct err *err)
{
    unsigned most = room->chars == 0 ? column->chars : room->chars;
    if (!limits->has_lengths || text.len <= most || !value_limits_has_more_chars(text, most))
        return true;
    return err_set(err, 400, NULL, "The database cannot store more than %u characters in %s.%s.",
                   most, table->name, column->name);
}

static bool row_fits(const struct value_limits *limits, enum rows_table number,
                     const struct change *change, struct err *err)
{
    const struct rows_info *table = rows_info(number);
    for (unsigned i = 0; i < table->count; i++) {
        const struct rows_column *column = &table->columns[i];
        if (column->cell != CELL_TEXT)
            continue;
        struct slice text;
        memcpy(&text, (const char *)change + column->at, sizeof(text));
        const struct text_room *room = &limits->rooms[number][i];
        if (!nul_fits(limits, text, err) || !length_fits(limits, room, table, column, text, err) ||
            !characters_fit(room, table, column, text, err))
            return false;
    }
    return true;
}

/* Whether it has more than `most` objects and arrays, where brackets inside strings count, too. */
static bool has_more_brackets(struct slice json, size_t most)
{
    static const char opening[] = {'{', '['};
    size_t count = 0;
    const char *end = json.data + json.len;
    for (unsigned i = 0; i < sizeof(opening); i++)
        for (const char *at = json.data; (at = memchr(at, opening[i], (size_t)(end - at))); at++)
            if (++count > most)
                return true;
    return false;
}

static size_t depth_of(struct slice json)
{
    size_t depth = 0, most = 0;
    bool in_string = false;
    for (size_t at = 0; at < json.len; at++) {
        char c = json.data[at];
        if (in_string && c == '\\')
            at++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '[') && ++depth > most)
            most = depth;
        else if (!in_string && (c == '}' || c == ']'))
            depth--;
    }
    return most;
}

/* On the writer, perhaps of megabytes: few brackets are found faster than each byte is looked at.
 */
bool value_limits_fit_depth(const struct value_limits *limits, struct slice json)
{
    return limits->json_depth == 0 || json.len <= limits->json_depth ||
           !has_more_brackets(json, limits->json_depth) || depth_of(json) <= limits->json_depth;
}

static bool depth_fits(const struct value_limits *limits, struct slice json, struct err *err)
{
    if (value_limits_fit_depth(limits, json))
        return true;
    return err_set(err, 400, NULL, "The database cannot store JSON with more than %u levels.",
                   limits->json_depth);
}

/* Their texts have no length. */
static bool record_fits(const struct value_limits *limits, const struct record_shape *shape,
                        const struct record *record, struct err *err)
{
    for (unsigned i = 0; i < shape->stored; i++) {
        uint8_t kind = shape->fields[i].kind;
        bool is_text = kind == RECORD_TEXT || kind == RECORD_JSON || kind == RECORD_WORDS;
        struct slice text = is_text ? record_text(record, i) : (struct slice){NULL, 0};
        if (!nul_fits(limits, text, err) || (kind == RECORD_JSON && !depth_fits(limits, text, err)))
            return false;
    }
    return true;
}

bool value_limits_fit(const struct value_limits *limits, const struct change *change,
                      struct err *err)
{
    if (change->kind >= CHANGE_NODE_PUT)
        return change->row.record == NULL ||
               record_fits(limits, record_table_of(change->kind)->shape, change->row.record, err);
    enum rows_table table = rows_written_by(change->kind);
    return table == ROWS_TABLE_COUNT || row_fits(limits, table, change, err);
}
