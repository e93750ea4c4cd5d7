/* Writes and reads the log's blobs. A blob may have been written by any program: everything is
 * checked, and if anything is invalid the tables are read again. Pure; any one thread. */
#include "store/log.h"

#include <stdlib.h>

#include "store/log_changes.h"
#include "store/log_codec.h"

enum { LOG_VERSION = 1 };

static void append_consumer(struct buf *blob, int64_t id, struct slice uuid)
{
    buf_append_char(blob, LOG_CONSUMER);
    log_put_number(blob, id);
    log_put_uuid(blob, uuid);
}

static void append_plain(struct buf *blob, enum log_kind kind, int64_t id)
{
    buf_append_char(blob, (char)kind);
    log_put_number(blob, id);
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

void log_append_all(struct buf *blob, const struct change *changes, size_t count)
{
    int64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t consumer = log_changes_consumer(&changes[i]);
        if (consumer == 0 || consumer != last)
            log_append(blob, &changes[i]);
        last = consumer == 0 ? last : consumer;
    }
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

/* The entries of a blob that has the changes themselves. */
struct naming {
    struct log_entries *entries;
    int64_t last; /* the consumer of the last entry; 0: none */
};

static bool name_changed(void *cls, const struct change *change)
{
    struct naming *naming = cls;
    int64_t consumer = log_changes_consumer(change);
    if (consumer != 0 && consumer == naming->last)
        return true;
    if (naming->entries->count == LOG_ENTRIES_MAX)
        return false;
    struct log_entry *entry = push(naming->entries);
    *entry =
        (struct log_entry){.kind = LOG_PROVIDER_GENERATION, .id = change->generation.provider_id};
    if (consumer != 0) {
        const struct slice uuid = log_changes_uuid(change);
        *entry =
            (struct log_entry){.kind = LOG_CONSUMER, .uuid_len = (uint8_t)uuid.len, .id = consumer};
        memcpy(entry->uuid, uuid.data, uuid.len);
        naming->last = consumer;
    }
    return true;
}

bool log_parse(struct slice blob, struct log_entries *entries)
{
    struct log_reader reader = log_reader_of(blob);
    unsigned byte;
    if (log_changes_is(blob))
        return log_changes_read(blob, name_changed, &(struct naming){.entries = entries});
    if (!log_get_byte(&reader, &byte))
        return true;
    if (byte != LOG_VERSION)
        return false;
    while (reader.left > 0) {
        if (entries->count == LOG_ENTRIES_MAX)
            return false;
        struct log_entry *entry = push(entries);
        if (!log_get_byte(&reader, &byte) ||
            (byte >= LOG_KIND_COUNT && byte != LOG_PROVIDER_FOREIGN) ||
            !log_get_number(&reader, &entry->id))
            return false;
        entry->kind = (enum log_kind)byte;
        if (entry->kind == LOG_CONSUMER && !log_get_uuid(&reader, entry->uuid, &entry->uuid_len))
            return false;
    }
    return true;
}

void log_entries_free(struct log_entries *entries)
{
    free(entries->data);
    *entries = (struct log_entries){0};
}
