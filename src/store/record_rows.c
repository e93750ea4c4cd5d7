/* See record_rows.h.
 *
 * A database may contain anything: an invalid value of a field counts as null, or, in a field
 * without null, as the value of a new row; texts longer than any that berth writes count as null; a
 * row is invisible without a valid uuid or another required value, or with an id below 1. Pure; any
 * thread. */
#include "store/record_rows.h"

#include "base/arena.h"
#include "base/utf8.h"

unsigned record_rows_cell_kinds(const struct record_table_info *table, uint8_t *kinds)
{
    static const uint8_t of_field[] = {
        [RECORD_TEXT] = CELL_TEXT, [RECORD_BOOL] = CELL_INTEGER, [RECORD_TIME] = CELL_TIME,
        [RECORD_JSON] = CELL_TEXT, [RECORD_WORDS] = CELL_TEXT,   [RECORD_REFERENCE] = CELL_INTEGER,
    };
    kinds[0] = CELL_INTEGER;
    for (unsigned i = 0; i < table->shape->stored; i++) {
        unsigned kind = table->shape->fields[i].kind;
        check(kind < sizeof(of_field));
        kinds[1 + i] = of_field[kind];
    }
    return 1 + table->shape->stored;
}

/* Complete UTF-8 without NUL: a text that the database accepted as JSON may end at a NUL. */
static bool can_be_copied(struct slice text)
{
    for (size_t at = 0; at < text.len;) {
        size_t length = text.data[at] == '\0' ? 0 : utf8_length(text.data + at, text.len - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static struct slice read_words(const struct record_field *field, struct slice text,
                               struct arena *arena)
{
    struct slice *words = arena_array(arena, text.len / 2 + 1, sizeof(*words));
    size_t count = 0;
    struct slice word;
    while (record_next_word(&text, &word))
        if (word.len > 0)
            words[count++] = word;
    return record_join_words(arena, words, count, (field->flags & RECORD_SORTED) != 0);
}

struct slice record_rows_text(const struct record_field *field, const struct cell *cell,
                              struct arena *arena)
{
    static const struct slice none = {NULL, 0};
    if (cell->is_null)
        return none;
    struct slice text = cell->text;
    if ((field->flags & RECORD_IS_UUID) != 0 && !cell_is_uuid(text))
        return none;
    if (text.len > RECORD_TEXT_MAX || (field->kind == RECORD_JSON && !can_be_copied(text)))
        return none;
    return field->kind == RECORD_WORDS ? read_words(field, text, arena) : text;
}

static struct record_value value_of(const struct record_field *field, const struct cell *cell,
                                    struct arena *arena)
{
    struct record_value value = {{NULL, 0}, RECORD_NULL};
    switch ((enum record_kind)field->kind) {
    case RECORD_TEXT:
    case RECORD_JSON:
    case RECORD_WORDS:
        value.text = record_rows_text(field, cell, arena);
        break;
    case RECORD_BOOL:
        if (!cell->is_null)
            value.number = cell->integer != 0 ? RECORD_TRUE : RECORD_FALSE;
        break;
    case RECORD_TIME:
    case RECORD_REFERENCE:
        if (!cell->is_null)
            value.number = cell->integer;
        break;
    case RECORD_DERIVED:
        check(false);
    }
    return value;
}

static bool is_needed(const struct record_field *field)
{
    bool is_own_uuid =
        (field->flags & RECORD_IS_UUID) != 0 && (field->flags & RECORD_NULLABLE) == 0;
    return is_own_uuid || (field->flags & RECORD_NEEDED) != 0;
}

const struct record *record_rows_pack(const struct record_table_info *table,
                                      const struct cell *cells, struct arena *arena)
{
    struct record_value values[RECORD_FIELDS_MAX];
    if (cells[0].is_null || cells[0].integer < 1)
        return NULL;
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const struct record_field *field = &table->shape->fields[i];
        values[i] = value_of(field, &cells[1 + i], arena);
        if (is_needed(field) && values[i].text.data == NULL && values[i].number == 0)
            return NULL;
    }
    return record_pack(table->shape, cells[0].integer, values, arena);
}
