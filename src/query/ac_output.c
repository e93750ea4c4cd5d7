/* Passes what the search has found to the caller: repeated candidates are removed, the levels'
 * choices become entries and mappings, and the slots for the summaries are collected. Any
 * thread. */
#include "query/ac_output.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "query/ac_merge.h"

enum { LONG_ENTRIES = 64 }; /* above this number, equal entries are not searched for one by one */

void ac_output_init(struct ac_output *output, struct ac_query *query, ac_emit *emit, void *cls)
{
    uint32_t entries = 0;
    for (uint32_t l = 0; l < query->level_count; l++)
        entries += query->levels[l].demand_count;
    bool is_long = entries > LONG_ENTRIES;
    *output = (struct ac_output){
        .query = query,
        .emit = emit,
        .cls = cls,
        .entries = arena_array(query->arena, entries, sizeof(struct ac_entry)),
        .mappings = arena_array(query->arena, query->level_count, sizeof(struct ac_mapping)),
        .summarise_roots = query->nested_aware,
        .steps = 4 + (query->is_plain ? 1 : 2) * ((int64_t)entries + query->level_count),
        .merge = is_long ? ac_merge_create(query, entries) : NULL,
    };
}

static bool is_sharing(const struct ac_query *query, uint32_t slot)
{
    uint32_t at;
    SEARCH_LOWER(at, 0, query->sharing_count, query->sharing[at] < slot);
    return at < query->sharing_count && query->sharing[at] == slot;
}

/* Item 10: candidates are equal if resources and mappings are, even under different anchors. */
bool ac_output_repeats(struct ac_output *output, const uint32_t *chosen)
{
    struct ac_query *query = output->query;
    if (query->sharing_count == 0)
        return false;
    for (uint32_t l = 0; l < query->level_count; l++)
        if (!is_sharing(query, chosen[l]))
            return false;
    ac_charge(query, 8 + 4 * (int64_t)query->level_count);
    struct ac_seen *seen = &output->seen;
    size_t bytes = query->level_count * sizeof(*chosen);
    uint64_t hash = hash_text((struct slice){(const char *)chosen, bytes});
    struct hash_slot *slot;
    hash_map_make_room(&seen->map, query->arena, seen->count);
    HASH_MAP_FIND(slot, &seen->map, hash,
                  memcmp(seen->chosen[hash_slot_item(slot)], chosen, bytes) == 0);
    if (!hash_slot_is_free(slot) || !ac_keep(query, bytes))
        return true;
    hash_slot_put(slot, hash, (uint32_t)seen->count);
    seen->chosen =
        arena_grow(query->arena, seen->chosen, seen->count, &seen->capacity, sizeof(*seen->chosen));
    uint32_t *kept = seen->chosen[seen->count++] =
        arena_array(query->arena, query->level_count, sizeof(*chosen));
    memcpy(kept, chosen, bytes);
    return false;
}

static void add_used(struct arena *arena, struct ac_used *used, uint32_t slot)
{
    used->slots =
        arena_grow(arena, used->slots, used->count, &used->capacity, sizeof(*used->slots));
    used->slots[used->count++] = slot;
}

static void use_slot(struct ac_output *output, uint32_t slot)
{
    uint32_t *recent = &output->recent[slot % AC_RECENT];
    if (*recent == slot + 1)
        return;
    *recent = slot + 1;
    struct ac_used *used = &output->used;
    uint32_t largest = used->count == 0 ? 0 : used->slots[used->count - 1];
    if (used->count > 0 && largest == slot)
        return;
    if (slot < largest) {
        used = &output->late;
        used->is_disordered =
            used->is_disordered || (used->count > 0 && used->slots[used->count - 1] > slot);
    }
    add_used(output->query->arena, used, slot);
}

/* Adds what a level takes to what is already taken from the provider. */
static uint32_t add_entries(struct ac_entry *entries, uint32_t count, const struct ac_level *level,
                            struct slot_no slot)
{
    uint32_t end = count; /* of the provider's entries */
    while (end > 0 && entries[end - 1].slot.v != slot.v)
        end--;
    uint32_t first = end;
    while (first > 0 && entries[first - 1].slot.v == slot.v)
        first--;
    if (end == 0) /* the provider's first entry */
        first = end = count;
    for (uint32_t i = 0; i < level->demand_count; i++) {
        const struct fit_demand *demand = &level->demands[i];
        uint32_t at = first;
        while (at < end && entries[at].class_no.v != demand->class_no.v)
            at++;
        if (at < end) {
            entries[at].amount += demand->amount;
            continue;
        }
        if (at < count)
            memmove(&entries[at + 1], &entries[at], (count - at) * sizeof(*entries));
        entries[at] = (struct ac_entry){slot, demand->class_no, demand->amount};
        end++;
        count++;
    }
    return count;
}

static bool has_mapping(const struct ac_mapping *mappings, uint32_t count,
                        const struct ac_mapping *mapping)
{
    for (uint32_t i = count; i-- > 0 && mappings[i].group == mapping->group;)
        if (mappings[i].slot.v == mapping->slot.v)
            return true;
    return false;
}

/* Notes the slots whose summaries the candidate needs. The slots of a level are mostly in one
 * tree. */
static void use(struct ac_output *output, struct slot_no slot)
{
    if (!output->summarise_roots) {
        use_slot(output, slot.v);
        return;
    }
    if (slot.v < output->root || slot.v >= output->root_end) {
        const struct place *place = version_place(output->query->version, slot);
        output->root = place->root;
        if (place->root != slot.v)
            place = version_place(output->query->version, (struct slot_no){place->root});
        output->root_end = place->end;
        use_slot(output, output->root);
    }
}

void ac_output_put(struct ac_output *output, const uint32_t *chosen)
{
    struct ac_query *query = output->query;
    struct ac_mapping *mappings = output->mappings;
    uint32_t entry_count = 0;
    uint32_t mapping_count = 0;
    for (uint32_t l = 0; l < query->level_count; l++) {
        const struct ac_level *level = &query->levels[l];
        struct slot_no slot = {chosen[l]};
        if (output->merge == NULL)
            entry_count = add_entries(output->entries, entry_count, level, slot);
        struct ac_mapping mapping = {level->group, slot};
        if (query->groups[level->group].is_granular ||
            !has_mapping(mappings, mapping_count, &mapping))
            mappings[mapping_count++] = mapping;
        if (level->demand_count > 0)
            use(output, slot);
    }
    if (output->merge != NULL)
        entry_count = ac_merge(output->merge, query, chosen, output->entries);
    output->candidate =
        (struct ac_candidate){output->entries, entry_count, mappings, mapping_count};
    output->emitted++;
    output->emit(output->cls, &output->candidate);
}

void ac_output_put_plain(struct ac_output *output, uint32_t slot)
{
    struct ac_query *query = output->query;
    if (output->emitted == 0) {
        uint32_t *chosen = arena_array(query->arena, query->level_count, sizeof(*chosen));
        for (uint32_t l = 0; l < query->level_count; l++)
            chosen[l] = slot;
        ac_output_put(output, chosen);
        return;
    }
    const struct ac_candidate *candidate = &output->candidate;
    for (uint32_t i = 0; i < candidate->entry_count; i++)
        output->entries[i].slot.v = slot;
    for (uint32_t i = 0; i < candidate->mapping_count; i++)
        output->mappings[i].slot.v = slot;
    if (candidate->entry_count > 0) /* each slot once, in ascending order */
        add_used(output->query->arena, &output->used, slot);
    output->emitted++;
    output->emit(output->cls, candidate);
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void ac_output_summaries(struct ac_output *output, struct ac_summaries *summaries)
{
    struct ac_used *used = &output->used;
    struct ac_used *late = &output->late;
    uint32_t most = used->count + late->count;
    ac_charge(output->query, most / 2 + (late->is_disordered ? 16 * (int64_t)late->count : 0));
    if (late->is_disordered)
        qsort(late->slots, late->count, sizeof(*late->slots), compare_u32);
    uint32_t *slots = arena_array(output->query->arena, most, sizeof(*slots));
    uint32_t count = 0;
    uint32_t u = 0;
    uint32_t l = 0;
    while (u < used->count || l < late->count) {
        bool from_used = l == late->count || (u < used->count && used->slots[u] <= late->slots[l]);
        uint32_t slot = from_used ? used->slots[u++] : late->slots[l++];
        if (count == 0 || slots[count - 1] != slot)
            slots[count++] = slot;
    }
    *summaries = (struct ac_summaries){slots, count, output->summarise_roots};
}
