/* Writes and reads the log's blobs. A blob may have been written by any program: everything is
 * checked, and if anything is invalid the tables are read again. Pure; any one thread. */
#include "store/log.h"

#include <limits.h>
#include <stdlib.h>

enum { LOG_VERSION = 1, UUID_LEN = 36, UUID_RAW_LEN = 16 };

static const char hex[] = "0123456789abcdef";

/* One more than the digit's value; 0: not a digit. */
static const unsigned char digits[UCHAR_MAX + 1] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

static int hex_value(char c)
{
    return digits[(unsigned char)c] - 1;
}

static bool pack_uuid(struct slice text, unsigned char raw[static UUID_RAW_LEN])
{
    if (text.len != UUID_LEN)
        return false;
    size_t nibbles = 0;
    memset(raw, 0, UUID_RAW_LEN);
    for (size_t i = 0; i < UUID_LEN; i++) {
        int value = hex_value(text.data[i]);
        if (is_dash(i) ? text.data[i] != '-' : value < 0)
            return false;
        if (is_dash(i))
            continue;
        raw[nibbles / 2] = (unsigned char)(raw[nibbles / 2] << 4 | value);
        nibbles++;
    }
    return true;
}

static void unpack_uuid(const unsigned char *raw, char text[static UUID_LEN])
{
    size_t nibbles = 0;
    for (size_t i = 0; i < UUID_LEN; i++) {
        if (is_dash(i)) {
            text[i] = '-';
            continue;
        }
        unsigned char byte = raw[nibbles / 2];
        text[i] = hex[nibbles % 2 == 0 ? byte >> 4 : byte & 15];
        nibbles++;
    }
}

static void append_varint(struct buf *blob, int64_t id)
{
    uint64_t rest = (uint64_t)id;
    while (rest >= 0x80) {
        buf_append_char(blob, (char)((rest & 0x7f) | 0x80));
        rest >>= 7;
    }
    buf_append_char(blob, (char)rest);
}

static void append_consumer(struct buf *blob, int64_t id, struct slice uuid)
{
    unsigned char raw[UUID_RAW_LEN];
    buf_append_char(blob, LOG_CONSUMER);
    append_varint(blob, id);
    if (pack_uuid(uuid, raw)) {
        buf_append_char(blob, 0);
        buf_append(blob, raw, sizeof(raw));
    } else {
        check(uuid.len <= UUID_LEN);
        buf_append_char(blob, (char)uuid.len);
        buf_append_slice(blob, uuid);
    }
}

static void append_plain(struct buf *blob, enum log_kind kind, int64_t id)
{
    buf_append_char(blob, (char)kind);
    append_varint(blob, id);
}

static void append_entry(struct buf *blob, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
        append_plain(blob, LOG_CLASS_INSERTED, change->catalog.id);
        return;
    case CHANGE_CLASS_RENAME:
        append_plain(blob, LOG_CLASS_RENAMED, change->catalog.id);
        return;
    case CHANGE_CLASS_DELETE:
        append_plain(blob, LOG_CLASS_DELETED, change->catalog.id);
        return;
    case CHANGE_TRAIT_INSERT:
        append_plain(blob, LOG_TRAIT_INSERTED, change->catalog.id);
        return;
    case CHANGE_TRAIT_DELETE:
        append_plain(blob, LOG_TRAIT_DELETED, change->catalog.id);
        return;
    case CHANGE_AGGREGATE_INSERT:
        append_plain(blob, LOG_AGGREGATE_INSERTED, change->catalog.id);
        return;
    case CHANGE_PROJECT_INSERT:
        append_plain(blob, LOG_PROJECT_INSERTED, change->catalog.id);
        return;
    case CHANGE_USER_INSERT:
        append_plain(blob, LOG_USER_INSERTED, change->catalog.id);
        return;
    case CHANGE_CONSUMER_TYPE_INSERT:
        append_plain(blob, LOG_CONSUMER_TYPE_INSERTED, change->catalog.id);
        return;
    case CHANGE_PROVIDER_INSERT:
        append_plain(blob, LOG_PROVIDER_INSERTED, change->provider.id);
        return;
    case CHANGE_PROVIDER_UPDATE:
        append_plain(blob, LOG_PROVIDER_UPDATED, change->provider.id);
        return;
    case CHANGE_PROVIDER_GENERATION:
        append_plain(blob, LOG_PROVIDER_GENERATION, change->generation.provider_id);
        return;
    case CHANGE_PROVIDER_DELETE:
        append_plain(blob, LOG_PROVIDER_DELETED, change->provider.id);
        return;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        append_plain(blob, LOG_PROVIDER_CONTENTS, change->inventory.provider_id);
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        append_plain(blob, LOG_PROVIDER_CONTENTS, change->link.provider_id);
        return;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        append_consumer(blob, change->consumer.id, change->consumer.uuid);
        return;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        append_consumer(blob, change->allocation.consumer_id, change->allocation.consumer_uuid);
        return;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_DELETE:
        append_plain(blob, LOG_NODE, change->row.id);
        return;
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_NODE_ALLOCATION_DELETE:
        append_plain(blob, LOG_NODE_ALLOCATION, change->row.id);
        return;
    case CHANGE_VALET_CASES:
        append_plain(blob, (enum log_kind)(LOG_VALET + change_valet_table(change->kind)),
                     change->row.id);
        return;
    case CHANGE_LOAD_PROVIDERS_END:
    case CHANGE_FOLLOW_PROVIDER_RESET:
    case CHANGE_FOLLOW_CONSUMER_RESET:
    case CHANGE_MERGE_CATALOG_PUT:
    case CHANGE_MERGE_CATALOG_DELETE:
    case CHANGE_KIND_COUNT:
        break;
    }
    check(false);
}

void log_append(struct buf *blob, const struct change *change)
{
    if (blob->len == 0)
        buf_append_char(blob, LOG_VERSION);
    append_entry(blob, change);
}

void log_append_entry(struct buf *blob, const struct log_entry *entry)
{
    if (blob->len == 0)
        buf_append_char(blob, LOG_VERSION);
    if (entry->kind == LOG_CONSUMER)
        append_consumer(blob, entry->id, (struct slice){entry->uuid, entry->uuid_len});
    else
        append_plain(blob, entry->kind, entry->id);
}

/* 0: it does not concern a consumer. */
static int64_t consumer_of(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        return change->consumer.id;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        return change->allocation.consumer_id;
    default:
        return 0;
    }
}

void log_append_all(struct buf *blob, const struct change *changes, size_t count)
{
    int64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t consumer = consumer_of(&changes[i]);
        if (consumer == 0 || consumer != last)
            log_append(blob, &changes[i]);
        last = consumer == 0 ? last : consumer;
    }
}

struct reader {
    const unsigned char *at;
    size_t left;
};

static bool read_byte(struct reader *reader, unsigned *byte)
{
    if (reader->left == 0)
        return false;
    *byte = *reader->at++;
    reader->left--;
    return true;
}

static bool read_varint(struct reader *reader, int64_t *id)
{
    uint64_t value = 0;
    unsigned byte = 0x80;
    for (unsigned shift = 0; (byte & 0x80) != 0; shift += 7) {
        if (shift > 63 || !read_byte(reader, &byte))
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    *id = (int64_t)value;
    return true;
}

static bool read_uuid(struct reader *reader, struct log_entry *entry)
{
    unsigned len;
    if (!read_byte(reader, &len) || len > UUID_LEN)
        return false;
    size_t stored = len == 0 ? UUID_RAW_LEN : len;
    if (reader->left < stored)
        return false;
    if (len == 0)
        unpack_uuid(reader->at, entry->uuid);
    else
        memcpy(entry->uuid, reader->at, stored);
    entry->uuid_len = len == 0 ? UUID_LEN : (uint8_t)len;
    reader->at += stored;
    reader->left -= stored;
    return true;
}

static struct log_entry *push(struct log_entries *entries)
{
    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity == 0 ? 64 : entries->capacity * 2;
        entries->data = reallocarray(entries->data, entries->capacity, sizeof(struct log_entry));
        check(entries->data != NULL);
    }
    struct log_entry *entry = &entries->data[entries->count++];
    memset(entry, 0, sizeof(*entry));
    return entry;
}

void log_entries_push(struct log_entries *entries, const struct log_entry *entry)
{
    *push(entries) = *entry;
}

bool log_parse(struct slice blob, struct log_entries *entries)
{
    struct reader reader = {(const unsigned char *)blob.data, blob.len};
    unsigned byte;
    if (!read_byte(&reader, &byte))
        return true;
    if (byte != LOG_VERSION)
        return false;
    while (reader.left > 0) {
        if (entries->count == LOG_ENTRIES_MAX)
            return false;
        struct log_entry *entry = push(entries);
        if (!read_byte(&reader, &byte) ||
            (byte >= LOG_KIND_COUNT && byte != LOG_PROVIDER_FOREIGN) ||
            !read_varint(&reader, &entry->id))
            return false;
        entry->kind = (enum log_kind)byte;
        if (entry->kind == LOG_CONSUMER && !read_uuid(&reader, entry))
            return false;
    }
    return true;
}

void log_entries_free(struct log_entries *entries)
{
    free(entries->data);
    *entries = (struct log_entries){0};
}
