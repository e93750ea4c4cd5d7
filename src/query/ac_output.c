/* What the search has found, on its way to the caller: repetitions are left out, the levels'
 * choices become entries and mappings, and the slots for the summaries are gathered. Any thread. */
#include "query/ac_output.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"

void ac_output_init(struct ac_output *output, struct ac_plan *plan, ac_emit *emit, void *cls)
{
    uint32_t entries = 0;
    for (uint32_t l = 0; l < plan->level_count; l++)
        entries += plan->levels[l].demand_count;
    *output = (struct ac_output){
        .plan = plan,
        .emit = emit,
        .cls = cls,
        .entries = arena_array(plan->arena, entries, sizeof(struct ac_entry)),
        .mappings = arena_array(plan->arena, plan->level_count, sizeof(struct ac_mapping)),
        .summarise_roots = plan->nested_aware,
    };
}

static bool is_sharing(const struct ac_plan *plan, uint32_t slot)
{
    uint32_t at;
    SEARCH_LOWER(at, 0, plan->sharing_count, plan->sharing[at] < slot);
    return at < plan->sharing_count && plan->sharing[at] == slot;
}

static uint32_t **seen_slot(struct ac_output *output, uint32_t **table, uint32_t capacity,
                            const uint32_t *chosen)
{
    size_t bytes = output->plan->level_count * sizeof(*chosen);
    uint64_t hash = hash_text((struct slice){(const char *)chosen, bytes});
    uint32_t at = (uint32_t)hash & (capacity - 1);
    while (table[at] != NULL && memcmp(table[at], chosen, bytes) != 0)
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static void seen_grow(struct ac_output *output)
{
    struct ac_seen *seen = &output->seen;
    uint32_t capacity = seen->capacity == 0 ? 64 : seen->capacity * 2;
    uint32_t **table = arena_zalloc(output->plan->arena, capacity * sizeof(*table));
    for (uint32_t i = 0; i < seen->capacity; i++)
        if (seen->table[i] != NULL)
            *seen_slot(output, table, capacity, seen->table[i]) = seen->table[i];
    seen->table = table;
    seen->capacity = capacity;
}

/* Item 10: equality is resources and mappings, not the anchor. */
bool ac_output_repeats(struct ac_output *output, const uint32_t *chosen)
{
    struct ac_plan *plan = output->plan;
    if (plan->sharing_count == 0)
        return false;
    for (uint32_t l = 0; l < plan->level_count; l++)
        if (!is_sharing(plan, chosen[l]))
            return false;
    struct ac_seen *seen = &output->seen;
    if (seen->count * 2 >= seen->capacity)
        seen_grow(output);
    uint32_t **at = seen_slot(output, seen->table, seen->capacity, chosen);
    if (*at != NULL)
        return true;
    *at = arena_array(plan->arena, plan->level_count, sizeof(*chosen));
    memcpy(*at, chosen, plan->level_count * sizeof(*chosen));
    seen->count++;
    return false;
}

static void use_slot(struct ac_output *output, uint32_t slot)
{
    if (output->used_count > 0 && output->used[output->used_count - 1] == slot)
        return;
    output->used = arena_grow(output->plan->arena, output->used, output->used_count,
                              &output->used_capacity, sizeof(*output->used));
    output->used[output->used_count++] = slot;
}

/* Puts what a level takes beside what the provider gives already. */
static uint32_t add_entry(struct ac_entry *entries, uint32_t count, struct ac_entry entry)
{
    uint32_t at = count;
    while (at > 0 && entries[at - 1].slot.v != entry.slot.v)
        at--;
    if (at == 0) /* the provider's first */
        at = count;
    for (uint32_t i = at; i-- > 0 && entries[i].slot.v == entry.slot.v;) {
        if (entries[i].class_no.v == entry.class_no.v) {
            entries[i].amount += entry.amount;
            return count;
        }
    }
    memmove(&entries[at + 1], &entries[at], (count - at) * sizeof(*entries));
    entries[at] = entry;
    return count + 1;
}

static bool has_mapping(const struct ac_mapping *mappings, uint32_t count,
                        const struct ac_mapping *mapping)
{
    for (uint32_t i = count; i-- > 0 && mappings[i].group == mapping->group;)
        if (mappings[i].slot.v == mapping->slot.v)
            return true;
    return false;
}

void ac_output_put(struct ac_output *output, const uint32_t *chosen)
{
    struct ac_plan *plan = output->plan;
    struct ac_candidate *candidate = &output->candidate;
    *candidate = (struct ac_candidate){.entries = output->entries, .mappings = output->mappings};
    for (uint32_t l = 0; l < plan->level_count; l++) {
        const struct ac_level *level = &plan->levels[l];
        struct slot_no slot = {chosen[l]};
        for (uint32_t i = 0; i < level->demand_count; i++)
            candidate->entry_count = add_entry(
                output->entries, candidate->entry_count,
                (struct ac_entry){slot, level->demands[i].class_no, level->demands[i].amount});
        struct ac_mapping mapping = {level->group, slot};
        if (!has_mapping(output->mappings, candidate->mapping_count, &mapping))
            output->mappings[candidate->mapping_count++] = mapping;
        if (level->demand_count > 0)
            use_slot(output,
                     output->summarise_roots ? version_place(plan->version, slot)->root : slot.v);
    }
    output->emitted++;
    output->emit(output->cls, candidate);
}

void ac_output_put_plain(struct ac_output *output, uint32_t slot)
{
    struct ac_plan *plan = output->plan;
    if (output->emitted == 0) {
        uint32_t *chosen = arena_array(plan->arena, plan->level_count, sizeof(*chosen));
        for (uint32_t l = 0; l < plan->level_count; l++)
            chosen[l] = slot;
        ac_output_put(output, chosen);
        return;
    }
    const struct ac_candidate *candidate = &output->candidate;
    for (uint32_t i = 0; i < candidate->entry_count; i++)
        output->entries[i].slot.v = slot;
    for (uint32_t i = 0; i < candidate->mapping_count; i++)
        output->mappings[i].slot.v = slot;
    if (candidate->entry_count > 0)
        use_slot(output, slot);
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
    uint32_t *used = output->used;
    uint32_t count = 0;
    bool in_order = true; /* as they come, mostly */
    for (uint32_t i = 1; i < output->used_count && in_order; i++)
        in_order = used[i - 1] <= used[i];
    if (!in_order)
        qsort(used, output->used_count, sizeof(*used), compare_u32);
    for (uint32_t i = 0; i < output->used_count; i++)
        if (count == 0 || used[count - 1] != used[i])
            used[count++] = used[i];
    *summaries = (struct ac_summaries){used, count, output->summarise_roots};
}
