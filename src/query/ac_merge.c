/* The first pass puts each demand into a table by provider and class, and chains a provider's
 * entries; the second writes the chains. The table is not cleared between candidates: cells of
 * earlier candidates have an older round. Any thread. */
#include "query/ac_merge.h"

struct cell {
    uint32_t round;
    uint32_t slot;
    uint32_t class_no; /* NUMBER_NONE: the cell of the provider itself */
    uint32_t item;     /* the entry; for a provider, its number */
};

struct item {
    struct ac_entry entry;
    uint32_t next; /* the next one of the same provider; NUMBER_NONE: none */
};

struct chain {
    uint32_t first;
    uint32_t last;
};

struct ac_merge {
    struct cell *cells;
    uint32_t mask;
    uint32_t round;
    struct item *items;
    uint32_t item_count;
    struct chain *chains; /* by provider, in order */
    uint32_t chain_count;
};

struct ac_merge *ac_merge_create(struct ac_query *query, uint32_t demand_count)
{
    struct ac_merge *merge = arena_zalloc(query->arena, sizeof(*merge));
    uint32_t capacity = 64;
    while (capacity < 3 * demand_count) /* each demand adds two at most */
        capacity *= 2;
    merge->mask = capacity - 1;
    merge->cells = arena_zalloc(query->arena, capacity * sizeof(*merge->cells));
    merge->items = arena_array(query->arena, demand_count, sizeof(*merge->items));
    merge->chains = arena_array(query->arena, demand_count, sizeof(*merge->chains));
    return merge;
}

/* The cell of the provider and class; a cell of an older round counts as empty. */
static struct cell *cell_at(struct ac_merge *merge, uint32_t slot, uint32_t class_no)
{
    uint64_t hash = ((uint64_t)slot << 32 | class_no) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(hash >> 32) & merge->mask;
    struct cell *cell = &merge->cells[at];
    while (cell->round == merge->round && (cell->slot != slot || cell->class_no != class_no)) {
        at = (at + 1) & merge->mask;
        cell = &merge->cells[at];
    }
    return cell;
}

static struct chain *chain_of(struct ac_merge *merge, uint32_t slot)
{
    struct cell *cell = cell_at(merge, slot, NUMBER_NONE);
    if (cell->round != merge->round) {
        *cell = (struct cell){merge->round, slot, NUMBER_NONE, merge->chain_count};
        merge->chains[merge->chain_count++] = (struct chain){NUMBER_NONE, NUMBER_NONE};
    }
    return &merge->chains[cell->item];
}

static void ac_merge_add(struct ac_merge *merge, struct slot_no slot,
                         const struct fit_demand *demand)
{
    struct cell *cell = cell_at(merge, slot.v, demand->class_no.v);
    if (cell->round == merge->round) {
        merge->items[cell->item].entry.amount += demand->amount;
        return;
    }
    uint32_t item = merge->item_count++;
    *cell = (struct cell){merge->round, slot.v, demand->class_no.v, item};
    merge->items[item] = (struct item){{slot, demand->class_no, demand->amount}, NUMBER_NONE};
    struct chain *chain = chain_of(merge, slot.v);
    if (chain->first == NUMBER_NONE)
        chain->first = item;
    else
        merge->items[chain->last].next = item;
    chain->last = item;
}

uint32_t ac_merge(struct ac_merge *merge, const struct ac_query *query, const uint32_t *chosen,
                  struct ac_entry *entries)
{
    uint32_t count = 0;
    merge->round++;
    merge->item_count = merge->chain_count = 0;
    for (uint32_t l = 0; l < query->level_count; l++)
        for (uint32_t i = 0; i < query->levels[l].demand_count; i++)
            ac_merge_add(merge, (struct slot_no){chosen[l]}, &query->levels[l].demands[i]);
    for (uint32_t c = 0; c < merge->chain_count; c++)
        for (uint32_t i = merge->chains[c].first; i != NUMBER_NONE; i = merge->items[i].next)
            entries[count++] = merge->items[i].entry;
    return count;
}
