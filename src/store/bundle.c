/* See bundle.h. The names of columns are those of the schema (schema.c), the same in every
 * database. Pure; any thread. */
#include "store/bundle.h"

#include <stdio.h>

#include "base/check.h"
#include "base/search.h"

static const int8_t KINDS[CHANGE_KIND_COUNT] = {
    [CHANGE_CLASS_INSERT] = BUNDLE_CLASS_INSERT,
    [CHANGE_CLASS_RENAME] = BUNDLE_CLASS_RENAME,
    [CHANGE_CLASS_DELETE] = BUNDLE_CLASS_DELETE,
    [CHANGE_TRAIT_INSERT] = BUNDLE_TRAIT_INSERT,
    [CHANGE_TRAIT_DELETE] = BUNDLE_TRAIT_DELETE,
    [CHANGE_AGGREGATE_INSERT] = BUNDLE_AGGREGATE_INSERT,
    [CHANGE_PROJECT_INSERT] = BUNDLE_PROJECT_INSERT,
    [CHANGE_USER_INSERT] = BUNDLE_USER_INSERT,
    [CHANGE_CONSUMER_TYPE_INSERT] = BUNDLE_CONSUMER_TYPE_INSERT,
    [CHANGE_PROVIDER_INSERT] = BUNDLE_PROVIDER_INSERT,
    [CHANGE_PROVIDER_UPDATE] = BUNDLE_PROVIDER_UPDATE,
    [CHANGE_PROVIDER_GENERATION] = BUNDLE_PROVIDER_GENERATION,
    [CHANGE_PROVIDER_DELETE] = BUNDLE_PROVIDER_DELETE,
    [CHANGE_INVENTORY_INSERT] = BUNDLE_INVENTORY_INSERT,
    [CHANGE_INVENTORY_UPDATE] = BUNDLE_INVENTORY_UPDATE,
    [CHANGE_INVENTORY_DELETE] = BUNDLE_INVENTORY_DELETE,
    [CHANGE_PROVIDER_TRAIT_INSERT] = BUNDLE_PROVIDER_TRAIT_INSERT,
    [CHANGE_PROVIDER_TRAIT_DELETE] = BUNDLE_PROVIDER_TRAIT_DELETE,
    [CHANGE_PROVIDER_AGGREGATE_INSERT] = BUNDLE_PROVIDER_AGGREGATE_INSERT,
    [CHANGE_PROVIDER_AGGREGATE_DELETE] = BUNDLE_PROVIDER_AGGREGATE_DELETE,
    [CHANGE_CONSUMER_INSERT] = BUNDLE_CONSUMER_INSERT,
    [CHANGE_CONSUMER_UPDATE] = BUNDLE_CONSUMER_UPDATE,
    [CHANGE_CONSUMER_DELETE] = BUNDLE_CONSUMER_DELETE,
    [CHANGE_ALLOCATION_INSERT] = BUNDLE_ALLOCATION_INSERT,
    [CHANGE_ALLOCATIONS_OF_DELETE] = BUNDLE_ALLOCATIONS_OF_DELETE,
};

enum bundle_kind bundle_kind_of(const struct change *change)
{
    const struct record_table_info *table =
        change->kind < CHANGE_NODE_PUT ? NULL : record_table_of(change->kind);
    if (table != NULL) {
        int first = change->kind == table->delete ? BUNDLE_RECORD_DELETE
                    : change->is_new              ? BUNDLE_RECORD_INSERT
                                                  : BUNDLE_RECORD_UPDATE;
        return (enum bundle_kind)(first + (int)(table - record_tables));
    }
    check(change->kind < CHANGE_NODE_PUT);
    if (change->kind == CHANGE_PROVIDER_UPDATE && change->is_root_only)
        return BUNDLE_PROVIDER_ROOT;
    if (change->kind == CHANGE_CONSUMER_UPDATE && change->is_generation_only)
        return BUNDLE_CONSUMER_GENERATION;
    return (enum bundle_kind)KINDS[change->kind];
}

/* ---- size ---- */

bool bundle_next_chunk(const struct bundle *bundle, const struct change *changes,
                       const struct bundle_limit *limit, struct bundle *chunk)
{
    const struct bundle_row *end = bundle->rows + bundle->count;
    const struct bundle_row *from = chunk->rows == NULL ? bundle->rows : chunk->rows + chunk->count;
    size_t most = (size_t)(end - from) < limit->rows ? (size_t)(end - from) : limit->rows;
    size_t count = 0;
    for (size_t bytes = 0; count < most; count++) {
        if (limit->row_bytes != NULL)
            bytes += limit->row_bytes(&changes[from[count].last]);
        if (bytes > limit->bytes && limit->row_bytes != NULL && count > 0)
            break;
    }
    *chunk = (struct bundle){bundle->kind, bundle->wave, from, count};
    return count > 0;
}

/* ---- who caused an error ---- */

/* What a change has in a column. */
struct found {
    bool is_there;
    bool is_text;
    struct slice text;
    int64_t number;
};

struct number_column {
    const char *name;
    size_t offset;
};

#define NUMBER(column, member)                                                                     \
    {                                                                                              \
        (column), offsetof(struct change, member)                                                  \
    }
#define NO_COLUMN                                                                                  \
    {                                                                                              \
        NULL, 0                                                                                    \
    }

_Static_assert(offsetof(struct change, catalog.id) == offsetof(struct change, provider.id) &&
                   offsetof(struct change, catalog.id) == offsetof(struct change, consumer.id) &&
                   offsetof(struct change, catalog.id) == offsetof(struct change, row.id),
               "the id is at one place");
static const struct number_column ID_ONLY[] = {NUMBER("id", catalog.id), NO_COLUMN};
static const struct number_column PROVIDER_NUMBERS[] = {
    NUMBER("id", provider.id), NUMBER("parent_provider_id", provider.parent_id),
    NUMBER("root_provider_id", provider.root_id), NO_COLUMN};
static const struct number_column GENERATION_NUMBERS[] = {NUMBER("id", generation.provider_id),
                                                          NO_COLUMN};
static const struct number_column INVENTORY_NUMBERS[] = {
    NUMBER("resource_provider_id", inventory.provider_id),
    NUMBER("resource_class_id", inventory.class_id), NO_COLUMN};
static const struct number_column TRAIT_NUMBERS[] = {
    NUMBER("resource_provider_id", link.provider_id), NUMBER("trait_id", link.other_id), NO_COLUMN};
static const struct number_column AGGREGATE_NUMBERS[] = {
    NUMBER("resource_provider_id", link.provider_id), NUMBER("aggregate_id", link.other_id),
    NO_COLUMN};
static const struct number_column CONSUMER_NUMBERS[] = {
    NUMBER("id", consumer.id), NUMBER("project_id", consumer.project_id),
    NUMBER("user_id", consumer.user_id), NUMBER("consumer_type_id", consumer.type_id), NO_COLUMN};
static const struct number_column ALLOCATION_NUMBERS[] = {
    NUMBER("id", allocation.id), NUMBER("resource_provider_id", allocation.provider_id),
    NUMBER("resource_class_id", allocation.class_id), NO_COLUMN};

static const struct number_column *numbers_of(enum change_kind kind)
{
    switch (kind) {
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
        return PROVIDER_NUMBERS;
    case CHANGE_PROVIDER_GENERATION:
        return GENERATION_NUMBERS;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        return INVENTORY_NUMBERS;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
        return TRAIT_NUMBERS;
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        return AGGREGATE_NUMBERS;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
        return CONSUMER_NUMBERS;
    case CHANGE_ALLOCATION_INSERT:
        return ALLOCATION_NUMBERS;
    case CHANGE_ALLOCATIONS_OF_DELETE:
        return &ALLOCATION_NUMBERS[3]; /* none */
    default:
        return ID_ONLY; /* catalogs, records, deletes */
    }
}

/* The text that the change has in that column; data NULL: none. */
static struct slice text_of(const struct change *change, struct slice column)
{
    bool is_uuid = slice_equal(column, SLICE_LIT("uuid"));
    bool is_name = slice_equal(column, SLICE_LIT("name"));
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
    case CHANGE_CLASS_RENAME:
    case CHANGE_TRAIT_INSERT:
    case CHANGE_CONSUMER_TYPE_INSERT:
        return is_name ? change->catalog.name : (struct slice){0};
    case CHANGE_AGGREGATE_INSERT:
        return is_uuid ? change->catalog.name : (struct slice){0};
    case CHANGE_PROJECT_INSERT:
    case CHANGE_USER_INSERT:
        return slice_equal(column, SLICE_LIT("external_id")) ? change->catalog.name
                                                             : (struct slice){0};
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
        return is_name   ? change->provider.name
               : is_uuid ? change->provider.uuid
                         : (struct slice){0};
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        return is_uuid ? change->consumer.uuid : (struct slice){0};
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        return slice_equal(column, SLICE_LIT("consumer_id")) ? change->allocation.consumer_uuid
                                                             : (struct slice){0};
    default:
        return (struct slice){0};
    }
}

static struct found find_in_record(const struct change *change, struct slice column)
{
    const struct record_shape *shape = record_table_of(change->kind)->shape;
    const struct record *record = change->row.record;
    int field = record == NULL ? -1 : record_find(shape, column);
    if (field < 0 || (unsigned)field >= shape->stored)
        return (struct found){0};
    uint8_t kind = shape->fields[field].kind;
    if (kind == RECORD_REFERENCE)
        return (struct found){.is_there = !record_is_null(record, (unsigned)field),
                              .number = record_number(record, (unsigned)field)};
    bool is_text = kind == RECORD_TEXT || kind == RECORD_JSON || kind == RECORD_WORDS;
    if (!is_text || record_is_null(record, (unsigned)field))
        return (struct found){0};
    return (struct found){true, true, record_text(record, (unsigned)field), 0};
}

static struct found find_column(const struct change *change, struct slice column)
{
    for (const struct number_column *at = numbers_of(change->kind); at->name != NULL; at++)
        if (slice_equal(column, slice_of(at->name))) {
            struct found found = {.is_there = true};
            memcpy(&found.number, (const char *)change + at->offset, sizeof(found.number));
            return found;
        }
    if (change->kind >= CHANGE_NODE_PUT)
        return find_in_record(change, column);
    struct slice text = text_of(change, column);
    return (struct found){text.data != NULL, true, text, 0};
}

/* Cuts the text off the beginning of *rest. */
static bool cut_text(struct slice *rest, struct slice text)
{
    if (!slice_starts_with(*rest, text))
        return false;
    *rest = slice_skip(*rest, text.len);
    return true;
}

struct slice bundle_value(const struct change *change, struct slice column,
                          char digits[static BUNDLE_DIGITS])
{
    struct found found = find_column(change, column);
    if (!found.is_there)
        return (struct slice){NULL, 0};
    if (found.is_text)
        return found.text;
    int len = snprintf(digits, BUNDLE_DIGITS, "%lld", (long long)found.number);
    return (struct slice){digits, (size_t)len};
}

/* Cuts what the change has in that column off the beginning of *values. */
static bool cut_value(const struct change *change, struct slice column, struct slice *values)
{
    char digits[BUNDLE_DIGITS];
    struct slice value = bundle_value(change, column, digits);
    return value.data != NULL && cut_text(values, value);
}

static bool has_key(const struct change *change, const struct bundle_key *key)
{
    struct slice columns = key->columns;
    struct slice values = key->values;
    do {
        struct slice column = slice_trim(slice_cut(&columns, ','));
        if (!cut_value(change, column, &values) ||
            (columns.len > 0 && !cut_text(&values, SLICE_LIT(", "))))
            return false;
    } while (columns.len > 0);
    return values.len == 0;
}

size_t bundle_find(const struct bundle *bundle, const struct change *changes,
                   const struct bundle_key *key)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < bundle->count; i++) {
        size_t at = bundle->rows[i].first;
        if (at < first && has_key(&changes[at], key))
            first = at;
    }
    return first;
}

size_t bundle_find_id(const struct bundle *bundle, const struct change *changes, int64_t id)
{
    char digits[BUNDLE_DIGITS];
    int len = snprintf(digits, sizeof(digits), "%lld", (long long)id);
    const struct bundle_key key = {SLICE_LIT("id"), {digits, (size_t)len}};
    return bundle_find(bundle, changes, &key);
}

size_t bundle_request_of(const struct store_batch *batch, size_t change)
{
    size_t at = 0;
    SEARCH_LOWER(at, (size_t)0, batch->requests, batch->ends[at] <= change);
    check(at < batch->requests);
    return at;
}
