/* The audit. Each check is one of the numbered invariants of the architecture (4, 5) or of a file
 * in this folder. */
#include "replica/audit.h"

#include <stdlib.h>

#include "base/hash.h"
#include "replica/audit_internal.h"
#include "replica/markers.h"
#include "replica/over_capacity.h"
#include "replica/usage.h"

struct audit {
    const struct version *version;
    struct buf *why;
    uint32_t providers;
    uint32_t nested;
    uint64_t provider_consumers;
    uint64_t allocations;
    struct row_sums provider_sums;
    struct row_sums consumer_sums;
    uint64_t strays;
    uint64_t over; /* inventories over their capacity */
    uint64_t over_providers;
    uint64_t markers;        /* links of racks and zones to aggregates */
    uint64_t *trait_members; /* number of live providers that refer to the number */
    uint64_t *aggregate_members;
    uint64_t *class_holders;
    int64_t *used; /* by slot * class_limit + class */
    struct ptree usages;
    struct cow cow;
};

#define AUDIT(condition, ...) AUDIT_INTO(audit->why, condition, __VA_ARGS__)

static bool has_sums(const struct row_sums *kept, const struct row_sums *added_up)
{
    return kept->ids == added_up->ids && kept->generations == added_up->generations;
}

static bool audit_place(struct audit *audit, uint32_t slot, const struct place *place)
{
    const struct version *version = audit->version;
    const struct provider *provider = place->provider;
    AUDIT(version_slot(version, provider->no).v == slot, "slot %u: provider is elsewhere", slot);
    AUDIT(place->end > slot && place->end <= version->slot_limit, "slot %u: end %u", slot,
          place->end);
    const struct place *root = version_place(version, (struct slot_no){place->root});
    AUDIT(root->provider != NULL && root->root == place->root && place->end <= root->end,
          "slot %u: not inside its tree", slot);
    AUDIT(provider->root.v == root->provider->no.v, "slot %u: root differs", slot);
    if (provider->parent.v == NUMBER_NONE) {
        AUDIT(place->root == slot, "slot %u: a root inside a tree", slot);
    } else {
        audit->nested++;
        uint32_t parent = version_slot(version, provider->parent).v;
        AUDIT(parent < slot && place->end <= version_place(version, (struct slot_no){parent})->end,
              "slot %u: not inside its parent", slot);
        for (uint32_t between = parent + 1; between < slot; between++)
            AUDIT(version_place(version, (struct slot_no){between})->end <= slot ||
                      version_place(version, (struct slot_no){between})->end >= place->end,
                  "slot %u: intervals cross", slot);
    }
    AUDIT(version_provider_by_uuid(version, provider_uuid(provider)) == provider &&
              version_provider_by_name(version, provider_name(provider)) == provider &&
              version_provider_by_id(version, provider->id) == provider,
          "slot %u: an index misses the provider", slot);
    return true;
}

static bool audit_capacity(struct audit *audit, uint32_t slot, const struct provider *provider)
{
    const struct version *version = audit->version;
    uint64_t before = audit->over;
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        struct class_no class_no = inventory->class_no;
        uint64_t since;
        uint64_t value;
        bool is_over = ptree_find(&version->over_capacity, provider->no.v, class_no.v, &since);
        AUDIT(is_over == over_capacity_is(inventory), "slot %u class %u: over capacity differs",
              slot, class_no.v);
        AUDIT(!is_over || ptree_find(&version->over_capacity_since, since,
                                     over_capacity_key(provider->no, class_no), &value),
              "slot %u class %u: over capacity since another version", slot, class_no.v);
        audit->over += is_over;
    }
    audit->over_providers += audit->over > before;
    return true;
}

static bool audit_inventories(struct audit *audit, uint32_t slot, const struct provider *provider)
{
    const struct version *version = audit->version;
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        const struct column *column = version_column(version, inventory->class_no);
        struct slot_no at = {slot};
        AUDIT(inventory->used ==
                  audit->used[(size_t)slot * version->classes.limit + inventory->class_no.v],
              "slot %u class %u: used differs", slot, inventory->class_no.v);
        struct provider_inventory summarised = *inventory;
        provider_inventory_summarise(&summarised);
        AUDIT(summarised.summary_len == inventory->summary_len &&
                  memcmp(summarised.summary, inventory->summary, inventory->summary_len) == 0,
              "slot %u class %u: the summary's text is old", slot, inventory->class_no.v);
        AUDIT(column_headroom(column, at) ==
                  capacity_headroom(&inventory->figures, inventory->used),
              "slot %u class %u: headroom differs", slot, inventory->class_no.v);
        AUDIT(slotset_has(&column->holders, at) &&
                  slotset_has(&column->odd, at) == capacity_is_odd(&inventory->figures),
              "slot %u class %u: holders or odd differ", slot, inventory->class_no.v);
        audit->class_holders[inventory->class_no.v]++;
    }
    for (uint32_t class_no = 0; class_no < version->classes.limit; class_no++) {
        struct class_no at = {class_no};
        int64_t used = audit->used[(size_t)slot * version->classes.limit + class_no];
        if (used == 0 || provider_inventory_of(provider, at) != NULL)
            continue;
        audit->strays++;
        AUDIT(usage_stray(version, provider->no, at) == used,
              "slot %u class %u: use without inventory differs", slot, class_no);
    }
    return true;
}

static bool audit_links(struct audit *audit, uint32_t slot, const struct catalog *catalog,
                        const struct name_set *set, uint64_t *members)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct catalog_entry *entry = catalog_at(catalog, set->numbers[i]);
        AUDIT(entry->row != NULL && slotset_has(&entry->slots, (struct slot_no){slot}),
              "slot %u: missing in a slot set", slot);
        AUDIT(i == 0 || catalog_row_at(catalog, set->numbers[i - 1])->id < entry->row->id,
              "slot %u: a set is out of order", slot);
        members[set->numbers[i]]++;
    }
    return true;
}

/* Racks and zones are indexed by their aggregates. */
static bool audit_marker(struct audit *audit, uint32_t slot, const struct provider *provider)
{
    uint64_t value;
    if (!marker_has_traits(audit->version, provider->traits))
        return true;
    for (uint32_t i = 0; i < provider->aggregates->count; i++)
        AUDIT(ptree_find(&audit->version->markers, provider->aggregates->numbers[i], provider->no.v,
                         &value),
              "slot %u: a marker is missing", slot);
    audit->markers += provider->aggregates->count;
    return true;
}

/* Checks that the counts of the sets add up to the number of providers, and that each set has a
 * user. */
static bool audit_sets(struct audit *audit, const struct name_sets *sets)
{
    uint64_t users = 0;
    struct ptree_iter iter;
    ptree_seek(&sets->tree, 0, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL) {
        AUDIT(entry->value > 0, "a set that nobody has");
        users += entry->value;
        ptree_iter_next(&iter);
    }
    AUDIT(users == audit->providers, "sets have %llu users", (unsigned long long)users);
    return true;
}

static bool audit_column(struct audit *audit, uint32_t class_no)
{
    const struct version *version = audit->version;
    const struct column *column = version_column(version, (struct class_no){class_no});
    AUDIT(column->holders.count == audit->class_holders[class_no], "class %u: others hold it",
          class_no);
    AUDIT(slotset_is_sound(&column->holders) && slotset_is_sound(&column->odd),
          "class %u: a slot set is broken", class_no);
    for (uint32_t chunk = 0; chunk * CHUNK_SLOTS < version->slot_limit; chunk++) {
        const struct column_chunk *at = column_chunk_at(column, chunk);
        for (uint32_t i = 0; at != NULL && i < CHUNK_SLOTS; i++) {
            int32_t most = at->most[i / CHUNK_RUN];
            AUDIT(at->headroom[i] <= most, "class %u chunk %u: maximum too small", class_no, chunk);
            AUDIT(at->headroom[i] == 0 ||
                      slotset_has(&column->holders, (struct slot_no){chunk * CHUNK_SLOTS + i}),
                  "class %u chunk %u: headroom of another", class_no, chunk);
        }
        for (uint32_t run = 0; at != NULL && run < CHUNK_RUNS; run++) {
            bool found = at->most[run] == 0;
            for (uint32_t i = 0; i < CHUNK_RUN; i++)
                found = found || at->headroom[run * CHUNK_RUN + i] == at->most[run];
            AUDIT(found, "class %u chunk %u: maximum too large", class_no, chunk);
        }
    }
    return true;
}

static bool audit_catalog(struct audit *audit, const struct catalog *catalog,
                          const uint64_t *members)
{
    uint64_t rows = 0;
    struct row_sums sums = {0};
    for (uint32_t number = 0; number < catalog->limit; number++) {
        const struct catalog_entry *entry = catalog_at(catalog, number);
        if (members != NULL)
            AUDIT(entry->slots.count == members[number], "number %u: slot set has others", number);
        AUDIT(slotset_is_sound(&entry->slots), "number %u: slot set is broken", number);
        if (entry->row == NULL)
            continue;
        rows++;
        row_sums_add(&sums, entry->row->id, 0);
        AUDIT(catalog_find(catalog, catalog_name(entry->row)) == entry->row &&
                  catalog_find_id(catalog, entry->row->id) == entry->row,
              "number %u: an index misses the row", number);
    }
    AUDIT(catalog->by_id.count == rows && catalog->by_name.count == rows &&
              catalog->free.count == catalog->limit - rows,
          "catalog: counts differ");
    AUDIT(has_sums(&catalog->sums, &sums), "catalog: sums differ");
    return true;
}

static bool audit_consumers(struct audit *audit)
{
    const struct version *version = audit->version;
    struct version sums = {.usages = audit->usages};
    struct ptree_iter iter;
    ptree_seek(&version->consumers, 0, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        AUDIT(hash_text(consumer_uuid(consumer)) == entry->k1 &&
                  (uint64_t)consumer->id == entry->k2,
              "consumer %lld: key differs", (long long)consumer->id);
        for (uint32_t i = 0; i < consumer->allocation_count; i++) {
            const struct consumer_allocation *allocation = &consumer->allocation[i];
            uint32_t slot = version_slot(version, allocation->provider).v;
            audit->used[(size_t)slot * version->classes.limit + allocation->class_no.v] +=
                allocation->used;
            uint64_t hash;
            AUDIT(ptree_find(&version->provider_consumers, allocation->provider.v, entry->k2,
                             &hash) &&
                      hash == entry->k1,
                  "consumer %lld: its provider does not know it", (long long)consumer->id);
            bool again = false;
            for (uint32_t j = 0; j < i; j++)
                again = again || consumer->allocation[j].provider.v == allocation->provider.v;
            audit->provider_consumers += !again;
        }
        row_sums_add(&audit->consumer_sums, consumer->id, consumer->generation);
        usage_account(&audit->cow, &sums, consumer, 1);
        audit->usages = sums.usages;
        audit->allocations = sums.allocation_count;
        ptree_iter_next(&iter);
    }
    AUDIT(version->provider_consumers.count == audit->provider_consumers,
          "providers know consumers that are gone");
    AUDIT(has_sums(&version->consumer_sums, &audit->consumer_sums), "consumers: sums differ");
    return true;
}

static bool audit_usages(struct audit *audit)
{
    struct ptree_iter iter;
    ptree_seek(&audit->usages, 0, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL) {
        uint64_t amount;
        AUDIT(ptree_find(&audit->version->usages, entry->k1, entry->k2, &amount) &&
                  amount == entry->value,
              "project %u: a sum differs", (unsigned)(entry->k1 >> 32));
        ptree_iter_next(&iter);
    }
    AUDIT(audit->usages.count == audit->version->usages.count, "sums of nobody");
    AUDIT(audit->allocations == audit->version->allocation_count, "count of allocations differs");
    return true;
}

static bool audit_all(struct audit *audit)
{
    const struct version *version = audit->version;
    if (!audit_consumers(audit) || !audit_usages(audit))
        return false;
    for (uint32_t slot = 0; slot < version->slot_limit; slot++) {
        const struct place *place = version_place(version, (struct slot_no){slot});
        if (place == NULL || place->provider == NULL)
            continue;
        audit->providers++;
        const struct provider *provider = place->provider;
        row_sums_add(&audit->provider_sums, provider->id, provider->generation);
        if (!audit_place(audit, slot, place) || !audit_inventories(audit, slot, provider) ||
            !audit_capacity(audit, slot, provider) ||
            !audit_links(audit, slot, &version->traits, provider->traits, audit->trait_members) ||
            !audit_links(audit, slot, &version->aggregates, provider->aggregates,
                         audit->aggregate_members) ||
            !audit_marker(audit, slot, provider))
            return false;
    }
    AUDIT(version->markers.count == audit->markers, "markers: counts differ");
    AUDIT(version->over_capacity.count == audit->over &&
              version->over_capacity_since.count == audit->over &&
              version->over_capacity_providers == audit->over_providers,
          "over capacity: counts differ");
    AUDIT(version->stray_uses.count == audit->strays, "use of nobody without inventory");
    AUDIT(version->provider_by_id.count == audit->providers &&
              version->provider_by_uuid.count == audit->providers &&
              version->provider_by_name.count == audit->providers,
          "provider indexes: counts differ");
    AUDIT(has_sums(&version->provider_sums, &audit->provider_sums), "providers: sums differ");
    if (!audit_sets(audit, &version->trait_sets) || !audit_sets(audit, &version->aggregate_sets))
        return false;
    AUDIT(version->nested_count == audit->nested, "nested count differs");
    for (uint32_t class_no = 0; class_no < version->classes.limit; class_no++)
        if (!audit_column(audit, class_no))
            return false;
    return audit_catalog(audit, &version->classes, NULL) &&
           audit_catalog(audit, &version->traits, audit->trait_members) &&
           audit_catalog(audit, &version->aggregates, audit->aggregate_members) &&
           audit_catalog(audit, &version->projects, NULL) &&
           audit_catalog(audit, &version->users, NULL) &&
           audit_catalog(audit, &version->types, NULL) && audit_nodes(version, audit->why) &&
           audit_valet(version, audit->why);
}

static void *counters(size_t n)
{
    void *memory = calloc(n + 1, sizeof(uint64_t));
    check(memory != NULL);
    return memory;
}

bool audit_version(const struct version *version, struct buf *why)
{
    struct audit audit = {
        .version = version,
        .why = why,
        .trait_members = counters(version->traits.limit),
        .aggregate_members = counters(version->aggregates.limit),
        .class_holders = counters(version->classes.limit),
        .used = counters((size_t)version->slot_limit * version->classes.limit),
        .cow = {.birth = 1},
    };
    bool sound = audit_all(&audit);
    ptree_free(&audit.usages, 0, NULL, NULL);
    cow_retired_free(&audit.cow.retired);
    free(audit.trait_members);
    free(audit.aggregate_members);
    free(audit.class_holders);
    free(audit.used);
    return sound;
}
