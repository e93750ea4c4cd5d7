/* Packs and opens records. Pure; any thread.
 *
 * The block contains no pointer, so that it can be copied and compared byte by byte: a text is
 * found by its offset, which is never 0 because the head comes first. Texts are stored in the order
 * of their fields; a text equal to that of the previous field is stored only once. The unused part
 * of the last 8 bytes is zero. */
#include "model/record.h"

#include <stdlib.h>

#include "base/arena.h"

static bool is_text(const struct record_field *field)
{
    return field->kind == RECORD_TEXT || field->kind == RECORD_JSON || field->kind == RECORD_WORDS;
}

static struct record_value initial_value(const struct record_field *field)
{
    struct record_value value = {{NULL, 0}, RECORD_NULL};
    if (field->initial == NULL)
        return value;
    if (is_text(field))
        value.text = slice_of(field->initial);
    else if (field->kind == RECORD_BOOL)
        value.number = strcmp(field->initial, "true") == 0 ? RECORD_TRUE : RECORD_FALSE;
    return value;
}

void record_init(const struct record_shape *shape, struct record_value *values)
{
    for (unsigned i = 0; i < shape->stored; i++)
        values[i] = initial_value(&shape->fields[i]);
}

void record_open(const struct record_shape *shape, const struct record *record,
                 struct record_value *values)
{
    for (unsigned i = 0; i < shape->stored; i++) {
        values[i] = (struct record_value){{NULL, 0}, RECORD_NULL};
        if (is_text(&shape->fields[i]))
            values[i].text = record_text(record, i);
        else
            values[i].number = record_number(record, i);
    }
}

static struct record_value value_to_keep(const struct record_field *field,
                                         const struct record_value *value)
{
    bool is_null = is_text(field) ? value->text.data == NULL : value->number == RECORD_NULL;
    if (is_null && (field->flags & RECORD_NULLABLE) == 0)
        return initial_value(field);
    struct record_value kept = *value;
    if (!is_text(field))
        kept.text = (struct slice){NULL, 0};
    return kept;
}

/* Whether the text equals that of the previous field, as those of interfaces and of empty objects
 * do. */
static bool is_shared(const struct record_value *values, unsigned field)
{
    return field > 0 && values[field].text.len > 0 &&
           slice_equal(values[field].text, values[field - 1].text);
}

const struct record *record_pack(const struct record_shape *shape, int64_t id,
                                 const struct record_value *values, struct arena *arena)
{
    check(shape->stored <= RECORD_FIELDS_MAX);
    struct record_value kept[RECORD_FIELDS_MAX];
    size_t head = sizeof(struct record) + shape->stored * sizeof(uint64_t);
    size_t bytes = head;
    for (unsigned i = 0; i < shape->stored; i++) {
        kept[i] = value_to_keep(&shape->fields[i], &values[i]);
        check(kept[i].text.len <= RECORD_TEXT_MAX);
        if (!is_shared(kept, i))
            bytes += kept[i].text.len;
    }
    bytes = (bytes + 7) & ~(size_t)7;
    struct record *record = arena_zalloc(arena, bytes);
    record->id = id;
    record->bytes = (uint32_t)bytes;
    size_t at = head;
    for (unsigned i = 0; i < shape->stored; i++) {
        struct slice text = kept[i].text;
        if (!is_text(&shape->fields[i])) {
            record->value[i] = (uint64_t)kept[i].number;
        } else if (is_shared(kept, i)) {
            record->value[i] = record->value[i - 1];
        } else if (text.data != NULL) {
            record->value[i] = (uint64_t)text.len << 32 | at;
            memcpy((char *)record + at, text.data, text.len);
            at += text.len;
        }
    }
    return record;
}

int record_find(const struct record_shape *shape, struct slice name)
{
    for (unsigned i = 0; i < shape->count; i++)
        if ((shape->fields[i].flags & RECORD_INTERNAL) == 0 &&
            slice_equal(slice_of(shape->fields[i].name), name))
            return (int)i;
    return -1;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_field(const struct record_field *field, const struct record *a,
                         const struct record *b, uint32_t at)
{
    if (!is_text(field))
        return compare_numbers(record_number(a, at), record_number(b, at));
    int order = record_is_null(b, at) - record_is_null(a, at);
    if (order != 0)
        return order;
    struct slice left = record_text(a, at);
    struct slice right = record_text(b, at);
    return slice_compare(&left, &right);
}

int record_compare(const struct record_shape *shape, const struct record *a, const struct record *b,
                   uint32_t field)
{
    int order = 0;
    if (field != RECORD_BY_ID) {
        check(field < shape->stored);
        order = compare_field(&shape->fields[field], a, b, field);
    }
    return order != 0 ? order : compare_numbers(a->id, b->id);
}

bool record_next_word(struct slice *rest, struct slice *word)
{
    if (rest->len == 0)
        return false;
    *word = slice_cut(rest, ' ');
    return true;
}

bool record_has_word(struct slice words, struct slice word)
{
    struct slice each;
    while (record_next_word(&words, &each))
        if (slice_equal(each, word))
            return true;
    return false;
}

bool record_has_words(struct slice words, struct slice wanted)
{
    struct slice word;
    while (record_next_word(&wanted, &word))
        if (!record_has_word(words, word))
            return false;
    return true;
}

struct slice record_join_words(struct arena *arena, const struct slice *words, size_t count,
                               bool sorted)
{
    struct slice *parts = arena_array(arena, 2 * count + 1, sizeof(*parts));
    struct slice *order = arena_array(arena, count + 1, sizeof(*order));
    size_t parted = 0;
    for (size_t i = 0; i < count; i++)
        order[i] = words[i];
    if (sorted && count > 0)
        qsort(order, count, sizeof(*order), slice_compare);
    for (size_t i = 0; i < count; i++) {
        if (sorted && i > 0 && slice_equal(order[i], order[i - 1]))
            continue;
        if (parted > 0)
            parts[parted++] = SLICE_LIT(" ");
        parts[parted++] = order[i];
    }
    return arena_join(arena, parts, parted);
}
