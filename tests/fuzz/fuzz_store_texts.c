/* Texts in the database that other programs wrote: the first byte selects a connection URL, a time
 * in a row, or a row of the change log. */
#include "base/arena.h"
#include "fuzz.h"
#include "store/instant.h"
#include "store/log.h"
#include "store/sqlite/url.h"

static void check_url(struct slice text)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct slice path;
    if (sqlite_url_parse(text, &path, &err)) {
        check(path.data >= text.data && path.data + path.len <= text.data + text.len);
        check(path.len == 0 || memchr(path.data, '\0', path.len) == NULL);
    } else {
        check(err.status == 503 && err.message.len > 0);
    }
    arena_destroy(arena);
}

static void check_instant(struct slice text)
{
    char again[INSTANT_LEN];
    int64_t us = instant_parse(text);
    instant_format(us, again);
    if (us < 253402300800000000) /* a leap second at the end of the year 9999 cannot be written */
        check(instant_parse((struct slice){again, INSTANT_LEN}) == us);
}

/* The kinds of changes that are logged as each kind of entry. */
static const enum change_kind WRITTEN_AS[LOG_KIND_COUNT] = {
    [LOG_CLASS_INSERTED] = CHANGE_CLASS_INSERT,
    [LOG_CLASS_RENAMED] = CHANGE_CLASS_RENAME,
    [LOG_CLASS_DELETED] = CHANGE_CLASS_DELETE,
    [LOG_TRAIT_INSERTED] = CHANGE_TRAIT_INSERT,
    [LOG_TRAIT_DELETED] = CHANGE_TRAIT_DELETE,
    [LOG_AGGREGATE_INSERTED] = CHANGE_AGGREGATE_INSERT,
    [LOG_PROJECT_INSERTED] = CHANGE_PROJECT_INSERT,
    [LOG_USER_INSERTED] = CHANGE_USER_INSERT,
    [LOG_CONSUMER_TYPE_INSERTED] = CHANGE_CONSUMER_TYPE_INSERT,
    [LOG_PROVIDER_INSERTED] = CHANGE_PROVIDER_INSERT,
    [LOG_PROVIDER_UPDATED] = CHANGE_PROVIDER_UPDATE,
    [LOG_PROVIDER_GENERATION] = CHANGE_PROVIDER_GENERATION,
    [LOG_PROVIDER_CONTENTS] = CHANGE_PROVIDER_TRAIT_INSERT,
    [LOG_PROVIDER_DELETED] = CHANGE_PROVIDER_DELETE,
    [LOG_CONSUMER] = CHANGE_ALLOCATION_INSERT,
    [LOG_NODE] = CHANGE_NODE_PUT,
    [LOG_NODE_ALLOCATION] = CHANGE_NODE_ALLOCATION_DELETE,
    [LOG_VALET + VALET_GROUPS] = CHANGE_VALET_GROUP_PUT,
    [LOG_VALET + VALET_MEMBERS] = CHANGE_VALET_MEMBER_DELETE,
    [LOG_VALET + VALET_CLAIMS] = CHANGE_VALET_CLAIM_PUT,
    [LOG_VALET + VALET_PLANS] = CHANGE_VALET_PLAN_DELETE,
    [LOG_VALET + VALET_PLACEMENTS] = CHANGE_VALET_PLACEMENT_PUT,
};

/* Two kinds of changes leave the same entry; odd ids stand for the second. */
static struct change change_of(const struct log_entry *entry)
{
    struct change change = {.kind = WRITTEN_AS[entry->kind]};
    bool is_odd = entry->id % 2 != 0;
    if (entry->kind == LOG_CONSUMER && is_odd) {
        change.kind = CHANGE_CONSUMER_UPDATE;
        change.consumer.id = entry->id;
        change.consumer.uuid = (struct slice){entry->uuid, entry->uuid_len};
    } else if (entry->kind == LOG_CONSUMER) {
        change.allocation.consumer_id = entry->id;
        change.allocation.consumer_uuid = (struct slice){entry->uuid, entry->uuid_len};
    } else if (entry->kind == LOG_PROVIDER_GENERATION) {
        change.generation.provider_id = entry->id;
    } else if (entry->kind == LOG_PROVIDER_CONTENTS && is_odd) {
        change.kind = CHANGE_INVENTORY_UPDATE;
        change.inventory.provider_id = entry->id;
    } else if (entry->kind == LOG_PROVIDER_CONTENTS) {
        change.link.provider_id = entry->id;
    } else if (entry->kind >= LOG_NODE) {
        change.row.id = entry->id;
    } else if (entry->kind >= LOG_PROVIDER_INSERTED) {
        change.provider.id = entry->id;
    } else {
        change.catalog.id = entry->id;
    }
    return change;
}

/* What was read is written and read again. */
static void check_log(struct slice text)
{
    struct log_entries entries = {0};
    struct log_entries again = {0};
    struct buf blob = {0};
    if (log_parse(text, &entries)) {
        for (size_t i = 0; i < entries.count; i++) {
            check(entries.data[i].kind < LOG_KIND_COUNT && entries.data[i].uuid_len <= 36);
            struct change change = change_of(&entries.data[i]);
            log_append(&blob, &change);
        }
        check(log_parse(buf_slice(&blob), &again) && again.count == entries.count);
        for (size_t i = 0; i < again.count; i++) {
            check(again.data[i].kind == entries.data[i].kind);
            check(again.data[i].id == entries.data[i].id);
            check(again.data[i].uuid_len == entries.data[i].uuid_len &&
                  memcmp(again.data[i].uuid, entries.data[i].uuid, again.data[i].uuid_len) == 0);
        }
    }
    buf_free(&blob);
    log_entries_free(&entries);
    log_entries_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice text = {(const char *)data + 1, size - 1};
    switch (data[0] % 3) {
    case 0:
        check_url(text);
        break;
    case 1:
        check_instant(text);
        break;
    default:
        check_log(text);
        break;
    }
    return 0;
}
