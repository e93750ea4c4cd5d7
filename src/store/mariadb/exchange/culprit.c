/* See culprit.h.
 *
 * The server executes the rows of an INSERT in their order, and some messages end with the position
 * of the row. Others have values: "Duplicate entry '1-2' for key 'name'", where the values of a key
 * are joined by "-", characters of four bytes become "?" and invisible ones "\0001", and what is
 * longer than 64 bytes is cut. Nothing can be parsed out of that, but the value of each row of the
 * statement can be compared with it. The words around the values depend on lc_messages; their
 * order, and the quotation marks, do not. Pure; any thread. */
#include "store/mariadb/exchange/culprit.h"

#include "base/hex.h"
#include "base/utf8.h"
#include "store/rows.h"

enum { SHOWN_MOST = 64, DOTS = 3, CHARACTER_MOST = 4 };

static bool is_insert(enum bundle_kind kind)
{
    return kind >= BUNDLE_CLASS_INSERT && kind < BUNDLE_CLASS_RENAME;
}

static bool is_of_row(unsigned error)
{
    switch ((enum mariadb_row_error)error) {
    case MARIADB_ROW_COLUMN_NULL:
    case MARIADB_ROW_DUPLICATE:
    case MARIADB_ROW_REFERRED_OLD:
    case MARIADB_ROW_REFERENCE_OLD:
    case MARIADB_ROW_OUT_OF_RANGE:
    case MARIADB_ROW_TRUNCATED:
    case MARIADB_ROW_WRONG_VALUE:
    case MARIADB_ROW_WRONG_FIELD_VALUE:
    case MARIADB_ROW_TOO_LONG:
    case MARIADB_ROW_REFERRED:
    case MARIADB_ROW_REFERENCE:
    case MARIADB_ROW_CHECK_MYSQL:
    case MARIADB_ROW_CHECK:
        return true;
    }
    return false;
}

/* Whether the message has the position of the row, as its last number. */
static bool tells_position(unsigned error)
{
    return error == MARIADB_ROW_OUT_OF_RANGE || error == MARIADB_ROW_TRUNCATED ||
           error == MARIADB_ROW_WRONG_VALUE || error == MARIADB_ROW_WRONG_FIELD_VALUE ||
           error == MARIADB_ROW_TOO_LONG;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 0: there is none. */
static size_t last_number(struct slice message)
{
    size_t number = 0;
    size_t end = message.len;
    while (end > 0 && !is_digit(message.data[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && is_digit(message.data[begin - 1]))
        begin--;
    if (end - begin > 9)
        return 0;
    for (size_t at = begin; at < end; at++)
        number = number * 10 + (size_t)(message.data[at] - '0');
    return number;
}

/* ---- keys ---- */

static size_t find_last(struct slice text, char c)
{
    const char *at = text.len == 0 ? NULL : memrchr(text.data, c, text.len);
    return at == NULL ? SIZE_MAX : (size_t)(at - text.data);
}

/* Cuts the last text between these marks, and what follows it, off *text. */
static bool cut_last(struct slice *text, char mark, struct slice *inside)
{
    size_t end = find_last(*text, mark);
    if (end == SIZE_MAX)
        return false;
    size_t begin = find_last((struct slice){text->data, end}, mark);
    if (begin == SIZE_MAX)
        return false;
    *inside = (struct slice){text->data + begin + 1, end - begin - 1};
    text->len = begin;
    return true;
}

/* MySQL writes "table.key". */
static struct slice without_table(struct slice key)
{
    size_t dot = find_last(key, '.');
    return dot == SIZE_MAX ? key : slice_skip(key, dot + 1);
}

/* Between the first mark and the last one before the key's: the values may contain any. */
static bool find_values(struct slice message, struct slice *key, struct slice *values)
{
    if (!cut_last(&message, '\'', key))
        return false;
    *key = without_table(*key);
    const char *begin = message.len == 0 ? NULL : memchr(message.data, '\'', message.len);
    size_t end = find_last(message, '\'');
    if (begin == NULL || message.data + end <= begin)
        return false;
    *values = (struct slice){begin + 1, (size_t)(message.data + end - begin) - 1};
    return true;
}

/* The columns of a primary key, with a "," between them. */
static struct slice primary_columns(enum bundle_kind kind)
{
    if (kind == BUNDLE_PROVIDER_TRAIT_INSERT)
        return SLICE_LIT("trait_id,resource_provider_id");
    if (kind == BUNDLE_PROVIDER_AGGREGATE_INSERT)
        return SLICE_LIT("resource_provider_id,aggregate_id");
    return SLICE_LIT("id");
}

/* Upstream's unique keys are "uniq_TABLE0COLUMN", and those of our own tables "TABLE_COLUMN". */
static struct slice key_columns(enum bundle_kind kind, struct slice key)
{
    static const struct slice inventory = {"resource_provider_resource_class", 32};
    if (slice_equal(key, SLICE_LIT("PRIMARY")))
        return primary_columns(kind);
    if (slice_starts_with(key, SLICE_LIT("uniq_"))) {
        (void)slice_cut(&key, '0');
        return slice_equal(key, inventory) ? SLICE_LIT("resource_provider_id,resource_class_id")
                                           : key;
    }
    for (int i = 0; i < RECORD_TABLE_COUNT; i++) {
        struct slice table = slice_of(record_tables[i].name);
        if (slice_starts_with(key, table) && key.len > table.len && key.data[table.len] == '_' &&
            record_find(record_tables[i].shape, slice_skip(key, table.len + 1)) >= 0)
            return slice_skip(key, table.len + 1);
    }
    return (struct slice){NULL, 0};
}

/* ---- values ---- */

static unsigned code_point(struct slice character)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)character.data[0] & first_bits[character.len];
    for (size_t i = 1; i < character.len; i++)
        code = code << 6 | ((unsigned char)character.data[i] & 0x3f);
    return code;
}

/* Cuts "\0001" off the beginning. */
static bool cut_escaped(struct slice *shown, struct slice character)
{
    unsigned code = 0;
    if (shown->len < 5 || shown->data[0] != '\\')
        return false;
    for (size_t i = 1; i < 5; i++) {
        int digit = hex_value(shown->data[i]);
        if (digit < 0)
            return false;
        code = code << 4 | (unsigned)digit;
    }
    if (code != code_point(character))
        return false;
    *shown = slice_skip(*shown, 5);
    return true;
}

/* Cuts the character, as a message may show it, off the beginning. */
static bool cut_character(struct slice *shown, struct slice character)
{
    bool is_wide = character.len == CHARACTER_MOST;
    if (is_wide && shown->len > 0 && shown->data[0] == '?') {
        *shown = slice_skip(*shown, 1);
        return true;
    }
    if (slice_starts_with(*shown, character)) {
        *shown = slice_skip(*shown, character.len);
        return true;
    }
    return cut_escaped(shown, character);
}

/* Whether this is how the text, or `some` of its beginning, is shown. */
static bool shows(struct slice shown, struct slice text, bool some)
{
    size_t at = 0;
    while (at < text.len && shown.len > 0) {
        size_t length = utf8_length(text.data + at, text.len - at);
        struct slice character = {text.data + at, length == 0 ? 1 : length};
        if (!cut_character(&shown, character))
            return false;
        at += character.len;
    }
    return shown.len == 0 && (some || at == text.len);
}

/* MariaDB replaces the end of a long text by dots, MySQL does not. */
static bool shows_value(struct slice shown, struct slice value)
{
    static const char dots[DOTS] = "...";
    if (shows(shown, value, false))
        return true;
    if (shown.len <= SHOWN_MOST - CHARACTER_MOST)
        return false;
    if (memcmp(shown.data + shown.len - DOTS, dots, DOTS) == 0)
        shown.len -= DOTS;
    return shows(shown, value, true);
}

/* The values of the columns with "-" between them; false: there is none in one of them. */
static bool join_values(const struct change *change, struct slice columns, struct buf *joined)
{
    joined->len = 0;
    for (bool is_first = true; columns.len > 0; is_first = false) {
        char digits[BUNDLE_DIGITS];
        struct slice value = bundle_value(change, slice_cut(&columns, ','), digits);
        if (value.data == NULL)
            return false;
        if (!is_first)
            buf_append_char(joined, '-');
        buf_append_slice(joined, value);
    }
    return true;
}

/* The only row with such values. */
static size_t find_duplicate(const struct bundle *chunk, const struct change *changes,
                             struct slice message)
{
    struct slice key, values;
    size_t found = SIZE_MAX;
    struct buf joined = {0};
    struct slice columns = find_values(message, &key, &values) ? key_columns(chunk->kind, key)
                                                               : (struct slice){NULL, 0};
    bool is_certain = columns.len > 0;
    for (size_t i = 0; is_certain && i < chunk->count; i++) {
        size_t at = chunk->rows[i].first;
        if (!join_values(&changes[at], columns, &joined) ||
            !shows_value(values, buf_slice(&joined)))
            continue;
        is_certain = found == SIZE_MAX;
        found = at;
    }
    buf_free(&joined);
    return is_certain ? found : SIZE_MAX;
}

/* ---- references ---- */

/* "… CONSTRAINT `name` FOREIGN KEY (`column`) REFERENCES …": SQL in every language. */
static bool find_constraint(struct slice message, struct slice *name, struct slice *column)
{
    static const struct slice foreign = {" FOREIGN KEY (`", 15};
    const char *at =
        message.len == 0 ? NULL : memmem(message.data, message.len, foreign.data, foreign.len);
    if (at == NULL)
        return false;
    struct slice before = {message.data, (size_t)(at - message.data)};
    struct slice after = slice_skip(message, before.len + foreign.len);
    *column = slice_cut(&after, '`');
    return cut_last(&before, '`', name);
}

/* If all rows that refer to one refer to the same, the first of them was refused. */
static size_t find_reference(const struct bundle *chunk, const struct change *changes,
                             struct slice message)
{
    struct slice name, column;
    size_t found = SIZE_MAX;
    char first[BUNDLE_DIGITS];
    struct slice missing = {NULL, 0};
    if (!find_constraint(message, &name, &column))
        return SIZE_MAX;
    for (size_t i = 0; i < chunk->count; i++) {
        char digits[BUNDLE_DIGITS];
        size_t at = chunk->rows[i].first;
        struct slice value = bundle_value(&changes[at], column, found == SIZE_MAX ? first : digits);
        if (value.data == NULL || slice_equal(value, SLICE_LIT("0")))
            continue;
        if (found != SIZE_MAX && !slice_equal(value, missing))
            return SIZE_MAX;
        if (found == SIZE_MAX) {
            found = at;
            missing = value;
        }
    }
    return found;
}

/* ---- any failure ---- */

size_t mariadb_culprit(const struct bundle *chunk, const struct change *changes,
                       const struct mariadb_row_failure *failure)
{
    size_t row = failure->row;
    if (!is_of_row(failure->error))
        return SIZE_MAX;
    if (chunk->count == 1)
        return chunk->rows[0].first;
    if (!is_insert(chunk->kind)) /* which counts rows otherwise */
        return SIZE_MAX;
    if (row == 0 && tells_position(failure->error))
        row = last_number(failure->message);
    if (row > 0 && row <= chunk->count)
        return chunk->rows[row - 1].first;
    if (failure->error == MARIADB_ROW_DUPLICATE)
        return find_duplicate(chunk, changes, failure->message);
    if (failure->error == MARIADB_ROW_REFERENCE)
        return find_reference(chunk, changes, failure->message);
    return SIZE_MAX;
}

struct slice mariadb_failed_key(const struct mariadb_row_failure *failure)
{
    struct slice key = {NULL, 0};
    struct slice values;
    if (failure->error == MARIADB_ROW_DUPLICATE && find_values(failure->message, &key, &values))
        return key;
    if ((failure->error == MARIADB_ROW_REFERENCE || failure->error == MARIADB_ROW_REFERRED) &&
        find_constraint(failure->message, &key, &values))
        return key;
    return (struct slice){NULL, 0};
}
