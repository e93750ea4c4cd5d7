/* One pass over all hosts. Roots come from the forest, and sets of traits are interned, so that
 * each set is evaluated only once; racks, zones and claims are walked from their own side, because
 * they list their members.
 *
 * Invariant: for each host the results equal those of valet/state/hosts.h. Any thread. */
#include "valet/solve/hosts.h"

#include <stdlib.h>

#include "base/search.h"

struct reader {
    const struct version *version;
    struct arena *arena;
    struct host_marks marks;
    struct hosts hosts;
};

/* What a set of traits means. */
struct trait_facts {
    const struct name_set *set;
    bool is_host;
    bool is_disabled;
};
enum { FACTS = 64 };

static bool has_trait(const struct name_set *set, uint32_t number)
{
    return number != NUMBER_NONE && name_set_has(set, number);
}

static const struct trait_facts *facts_of(const struct reader *reader, struct trait_facts *known,
                                          const struct name_set *set)
{
    struct trait_facts *facts = &known[((uintptr_t)set >> 4) % FACTS];
    if (facts->set == set)
        return facts;
    const struct host_marks *marks = &reader->marks;
    *facts = (struct trait_facts){
        .set = set,
        .is_host = !has_trait(set, marks->shares) && !has_trait(set, marks->rack) &&
                   !has_trait(set, marks->zone),
        .is_disabled = has_trait(set, marks->disabled),
    };
    return facts;
}

/* A provider to be sorted by name. */
struct named {
    uint64_t key; /* the first bytes in which the names differ */
    const struct provider *provider;
    uint32_t slot;
    bool is_disabled;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    struct slice x = provider_name(a->provider);
    struct slice y = provider_name(b->provider);
    return slice_compare(&x, &y);
}

/* Sorts by the eight bytes after the common prefix of all names, which mostly suffice. */
static void sort_named(struct named *all, uint32_t count)
{
    if (count < 2)
        return;
    struct slice first = provider_name(all[0].provider);
    size_t same = first.len;
    for (uint32_t i = 1; i < count; i++) {
        struct slice name = provider_name(all[i].provider);
        size_t at = 0;
        while (at < same && at < name.len && name.data[at] == first.data[at])
            at++;
        same = at;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct slice name = provider_name(all[i].provider);
        all[i].key = 0;
        for (size_t at = same; at < same + 8; at++)
            all[i].key = all[i].key << 8 | (at < name.len ? (unsigned char)name.data[at] : 0);
    }
    qsort(all, count, sizeof(*all), compare_named);
}

/* Whether anything is allocated on the tree. A class without inventory may have allocations, so
 * only a positive answer is final. */
static bool is_used(const struct version *version, uint32_t root)
{
    uint32_t end = version_place(version, (struct slot_no){root})->end;
    const struct provider *host = version_place(version, (struct slot_no){root})->provider;
    for (uint32_t slot = root; slot < end; slot++) {
        const struct provider *provider = version_place(version, (struct slot_no){slot})->provider;
        for (uint32_t i = 0; provider != NULL && i < provider->inventory_count; i++)
            if (provider->inventory[i].used > 0)
                return true;
    }
    return !host_is_empty(version, host);
}

static struct named *find_hosts(struct reader *reader, uint32_t *count)
{
    const struct version *version = reader->version;
    struct trait_facts known[FACTS] = {{0}};
    struct named *all = arena_array(reader->arena, version->slot_limit, sizeof(*all));
    *count = 0;
    for (uint32_t slot = 0; slot < version->slot_limit;) {
        const struct place *place = version_place(version, (struct slot_no){slot});
        if (place == NULL || place->provider == NULL) {
            slot++;
            continue;
        }
        reader->hosts.tree_count++;
        const struct trait_facts *facts = facts_of(reader, known, place->provider->traits);
        if (facts->is_host && place->provider->parent.v == NUMBER_NONE)
            all[(*count)++] = (struct named){0, place->provider, slot, facts->is_disabled};
        slot = place->end > slot ? place->end : slot + 1;
    }
    sort_named(all, *count);
    return all;
}

static void read_hosts(struct reader *reader)
{
    struct hosts *hosts = &reader->hosts;
    struct arena *arena = reader->arena;
    const struct version *version = reader->version;
    struct named *all = find_hosts(reader, &hosts->count);
    hosts->words = bits_words(hosts->count);
    hosts->providers = arena_array(arena, hosts->count, sizeof(*hosts->providers));
    hosts->slots = arena_array(arena, hosts->count, sizeof(*hosts->slots));
    hosts->of_slot = arena_array(arena, version->slot_limit, sizeof(*hosts->of_slot));
    memset(hosts->of_slot, 0xff, version->slot_limit * sizeof(*hosts->of_slot));
    hosts->racks = arena_array(arena, hosts->count, sizeof(*hosts->racks));
    hosts->disabled = bits_create(arena, hosts->count);
    hosts->used = bits_create(arena, hosts->count);
    hosts->zoned = bits_create(arena, hosts->count);
    for (uint32_t host = 0; host < hosts->count; host++) {
        hosts->providers[host] = all[host].provider;
        hosts->slots[host] = all[host].slot;
        hosts->of_slot[all[host].slot] = host;
        hosts->racks[host] = HOSTS_NO_RACK;
        if (all[host].is_disabled)
            bits_add(hosts->disabled, host);
        if (version->allocation_count > 0 && is_used(version, all[host].slot))
            bits_add(hosts->used, host);
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The hosts of a rack or zone, ascending. */
static void gather_members(struct reader *reader, struct hosts_mark *mark, uint32_t trait)
{
    size_t capacity = 0;
    const struct provider *host;
    struct marker_hosts members =
        marker_hosts_of(reader->version, &reader->marks, mark->provider, trait);
    while ((host = marker_hosts_next(&members)) != NULL) {
        mark->hosts = arena_grow(reader->arena, mark->hosts, mark->host_count, &capacity,
                                 sizeof(*mark->hosts));
        mark->hosts[mark->host_count++] = hosts_index(reader->version, &reader->hosts, host);
    }
    if (mark->host_count > 1)
        qsort(mark->hosts, mark->host_count, sizeof(*mark->hosts), compare_u32);
}

/* The providers that stand for racks (or zones), in the order of their names. */
static struct hosts_mark *read_marks(struct reader *reader, uint32_t trait, uint32_t *count)
{
    const struct version *version = reader->version;
    *count = 0;
    if (trait == NUMBER_NONE)
        return NULL;
    const struct slotset *slots = &catalog_at(&version->traits, trait)->slots;
    struct named *all = arena_array(reader->arena, slots->count, sizeof(*all));
    for (uint32_t slot = slotset_next(slots, 0); slot != NUMBER_NONE;
         slot = slotset_next(slots, slot + 1)) {
        const struct provider *provider = version_place(version, (struct slot_no){slot})->provider;
        if (host_mark_stands(version, provider, trait))
            all[(*count)++] = (struct named){0, provider, slot, false};
    }
    sort_named(all, *count);
    struct hosts_mark *marks = arena_zalloc(reader->arena, *count * sizeof(*marks));
    for (uint32_t i = 0; i < *count; i++) {
        marks[i].provider = all[i].provider;
        gather_members(reader, &marks[i], trait);
    }
    return marks;
}

static void put_racks_and_zones(struct hosts *hosts)
{
    for (uint32_t r = 0; r < hosts->rack_count; r++) {
        for (uint32_t i = 0; i < hosts->rack[r].host_count; i++) {
            uint32_t *rack = &hosts->racks[hosts->rack[r].hosts[i]];
            *rack = *rack == HOSTS_NO_RACK ? r : HOSTS_MANY_RACKS;
        }
    }
    for (uint32_t z = 0; z < hosts->zone_count; z++)
        for (uint32_t i = 0; i < hosts->zone[z].host_count; i++)
            bits_add(hosts->zoned, hosts->zone[z].hosts[i]);
}

static void put_claim(struct hosts *hosts, uint32_t host, const struct valet_group *group)
{
    struct hosts_claim *claim = &hosts->claims[host];
    claim->several = claim->several || (claim->group != NULL && claim->group != group);
    if (claim->group == NULL)
        claim->group = group;
}

static void claim_by_aggregate(struct reader *reader, const struct valet_group *group)
{
    const struct version *version = reader->version;
    const struct catalog_row *row =
        catalog_find(&version->aggregates, record_text(&group->record, VALET_GROUP_UUID));
    if (row == NULL)
        return;
    const struct slotset *slots = &catalog_at(&version->aggregates, row->number)->slots;
    for (uint32_t slot = slotset_next(slots, 0); slot != NUMBER_NONE;
         slot = slotset_next(slots, slot + 1))
        if (reader->hosts.of_slot[slot] != BITS_NONE)
            put_claim(&reader->hosts, reader->hosts.of_slot[slot], group);
}

static void claim_by_racks(struct reader *reader)
{
    const struct version *version = reader->version;
    struct hosts *hosts = &reader->hosts;
    for (uint32_t r = 0; r < hosts->rack_count; r++) {
        struct slice uuid = provider_uuid(hosts->rack[r].provider);
        const struct valet_claim *claim;
        for (int64_t id = 0; (claim = version_next_valet_claim_of(version, uuid, id)) != NULL;
             id = claim->record.id) {
            const struct valet_group *group =
                version_valet_group(version, record_number(&claim->record, VALET_CLAIM_GROUP_ID));
            if (group == NULL || !record_bool(&claim->record, VALET_CLAIM_IS_RACK))
                continue;
            for (uint32_t i = 0; i < hosts->rack[r].host_count; i++)
                put_claim(hosts, hosts->rack[r].hosts[i], group);
        }
    }
}

static void read_claims(struct reader *reader)
{
    const struct version *version = reader->version;
    if (!version_has_valet_groups(version))
        return;
    struct hosts *hosts = &reader->hosts;
    hosts->claims = arena_zalloc(reader->arena, hosts->count * sizeof(*hosts->claims));
    const struct valet_group *group;
    for (int64_t id = 0; (group = version_next_valet_group(version, id)) != NULL;
         id = group->record.id)
        claim_by_aggregate(reader, group);
    claim_by_racks(reader);
}

struct hosts hosts_read(const struct version *version, struct arena *arena)
{
    struct reader reader = {.version = version, .arena = arena, .marks = host_marks_of(version)};
    read_hosts(&reader);
    struct hosts *hosts = &reader.hosts;
    hosts->rack = read_marks(&reader, reader.marks.rack, &hosts->rack_count);
    hosts->zone = read_marks(&reader, reader.marks.zone, &hosts->zone_count);
    put_racks_and_zones(hosts);
    read_claims(&reader);
    return *hosts;
}

static int compare_name(const struct provider *provider, struct slice name)
{
    struct slice own = provider_name(provider);
    return slice_compare(&own, &name);
}

uint32_t hosts_find(const struct hosts *hosts, struct slice name)
{
    uint32_t at;
    SEARCH_LOWER(at, 0, hosts->count, compare_name(hosts->providers[at], name) < 0);
    return at < hosts->count && compare_name(hosts->providers[at], name) == 0 ? at : BITS_NONE;
}

uint32_t hosts_index(const struct version *version, const struct hosts *hosts,
                     const struct provider *provider)
{
    return provider == NULL ? BITS_NONE : hosts->of_slot[version_slot(version, provider->no).v];
}
