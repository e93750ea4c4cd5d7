/* Which of the candidates are answered, and in which order (item 12; candidates spec and the
 * issue's "spread over roots").
 *
 * Depth order takes all of a tree before the next. Spread order takes one of each tree before a
 * second of any: a tree that may have more leaves its place in the walk behind, and there are never
 * more such places than the limit. A random sample is drawn from all candidates, kept as bare
 * choices. */
#include "query/ac_search.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/hash.h"
#include "query/ac_plan.h"

/* A candidate seen under one anchor may come again under another: then all of it is shared. */
struct seen {
    uint32_t **table; /* open addressing; each the chosen slots of a level_count */
    uint32_t capacity;
    uint32_t count;
};

struct search {
    struct ac_plan *plan;
    ac_emit *emit;
    void *cls;
    int64_t most; /* how many to emit; INT64_MAX: all */
    int64_t emitted;
    struct seen seen;
    struct ac_entry *entries; /* room for one candidate */
    struct ac_mapping *mappings;
    struct ac_candidate candidate; /* the last one */
    uint32_t *used;                /* slots for the summaries, as they come */
    uint32_t used_count;
    uint32_t used_capacity;
    bool summarise_roots;
};

static bool is_sharing(const struct ac_plan *plan, uint32_t slot)
{
    uint32_t low = 0;
    uint32_t high = plan->sharing_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (plan->sharing[middle] < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->sharing_count && plan->sharing[low] == slot;
}

static uint32_t **seen_slot(struct search *search, uint32_t **table, uint32_t capacity,
                            const uint32_t *chosen)
{
    size_t bytes = search->plan->level_count * sizeof(*chosen);
    uint64_t hash = hash_text((struct slice){(const char *)chosen, bytes});
    uint32_t at = (uint32_t)hash & (capacity - 1);
    while (table[at] != NULL && memcmp(table[at], chosen, bytes) != 0)
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static void seen_grow(struct search *search)
{
    struct seen *seen = &search->seen;
    uint32_t capacity = seen->capacity == 0 ? 64 : seen->capacity * 2;
    uint32_t **table = arena_zalloc(search->plan->arena, capacity * sizeof(*table));
    for (uint32_t i = 0; i < seen->capacity; i++)
        if (seen->table[i] != NULL)
            *seen_slot(search, table, capacity, seen->table[i]) = seen->table[i];
    seen->table = table;
    seen->capacity = capacity;
}

/* Item 10: equality is resources and mappings, not the anchor. True for a repetition. */
static bool seen_before(struct search *search, const uint32_t *chosen)
{
    struct ac_plan *plan = search->plan;
    if (plan->sharing_count == 0)
        return false;
    for (uint32_t l = 0; l < plan->level_count; l++)
        if (!is_sharing(plan, chosen[l]))
            return false;
    struct seen *seen = &search->seen;
    if (seen->count * 2 >= seen->capacity)
        seen_grow(search);
    uint32_t **at = seen_slot(search, seen->table, seen->capacity, chosen);
    if (*at != NULL)
        return true;
    *at = arena_array(plan->arena, plan->level_count, sizeof(*chosen));
    memcpy(*at, chosen, plan->level_count * sizeof(*chosen));
    seen->count++;
    return false;
}

static void use_slot(struct search *search, uint32_t slot)
{
    if (search->used_count > 0 && search->used[search->used_count - 1] == slot)
        return;
    if (search->used_count == search->used_capacity) {
        uint32_t capacity = search->used_capacity == 0 ? 64 : search->used_capacity * 2;
        uint32_t *used = arena_array(search->plan->arena, capacity, sizeof(*used));
        if (search->used_count > 0)
            memcpy(used, search->used, search->used_count * sizeof(*used));
        search->used = used;
        search->used_capacity = capacity;
    }
    search->used[search->used_count++] = slot;
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

static void emit(struct search *search, const uint32_t *chosen)
{
    struct ac_plan *plan = search->plan;
    struct ac_candidate *candidate = &search->candidate;
    *candidate = (struct ac_candidate){.entries = search->entries, .mappings = search->mappings};
    for (uint32_t l = 0; l < plan->level_count; l++) {
        const struct ac_level *level = &plan->levels[l];
        struct slot_no slot = {chosen[l]};
        for (uint32_t i = 0; i < level->demand_count; i++)
            candidate->entry_count = add_entry(
                search->entries, candidate->entry_count,
                (struct ac_entry){slot, level->demands[i].class_no, level->demands[i].amount});
        struct ac_mapping mapping = {level->group, slot};
        if (!has_mapping(search->mappings, candidate->mapping_count, &mapping))
            search->mappings[candidate->mapping_count++] = mapping;
        if (level->demand_count > 0)
            use_slot(search,
                     search->summarise_roots ? version_place(plan->version, slot)->root : slot.v);
    }
    search->emitted++;
    search->emit(search->cls, candidate);
}

static bool take(struct search *search, const uint32_t *chosen)
{
    if (!seen_before(search, chosen) && budget_take(search->plan->budget, 8))
        emit(search, chosen);
    return search->emitted < search->most;
}

/* A plain plan's candidates differ in nothing but the provider. */
static void emit_plain(struct search *search, uint32_t slot)
{
    struct ac_plan *plan = search->plan;
    if (search->emitted == 0) {
        uint32_t *chosen = arena_array(plan->arena, plan->level_count, sizeof(*chosen));
        for (uint32_t l = 0; l < plan->level_count; l++)
            chosen[l] = slot;
        emit(search, chosen);
        return;
    }
    const struct ac_candidate *candidate = &search->candidate;
    for (uint32_t i = 0; i < candidate->entry_count; i++)
        search->entries[i].slot.v = slot;
    for (uint32_t i = 0; i < candidate->mapping_count; i++)
        search->mappings[i].slot.v = slot;
    if (candidate->entry_count > 0)
        use_slot(search, slot);
    search->emitted++;
    search->emit(search->cls, candidate);
}

/* Every provider is a tree: the order of depth and the order of spreading are one. */
static void run_plain(struct search *search)
{
    struct ac_plan *plan = search->plan;
    uint64_t words[FIT_WORDS];
    for (uint32_t page = 0; page < plan->page_count && ac_plain_page(plan, page, words); page++) {
        for (uint32_t w = 0; w < FIT_WORDS; w++) {
            for (; words[w] != 0; words[w] &= words[w] - 1) {
                if (search->emitted == search->most || !budget_take(plan->budget, 8))
                    return;
                emit_plain(search,
                           page * FIT_PAGE_SLOTS + w * 64 + (uint32_t)__builtin_ctzll(words[w]));
            }
        }
    }
}

static uint32_t tree_end(const struct ac_plan *plan, uint32_t root)
{
    return version_place(plan->version, (struct slot_no){root})->end;
}

static void run_depth(struct search *search)
{
    struct ac_walk walk;
    ac_walk_init(search->plan, &walk);
    uint32_t root = 0;
    while (ac_next_anchor(search->plan, &root)) {
        ac_walk_reset(&walk);
        while (ac_walk_next(search->plan, &walk))
            if (!take(search, walk.chosen))
                return;
        root = tree_end(search->plan, root);
    }
}

/* A tree that may have more. */
struct pause {
    uint32_t root;
    struct ac_walk walk;
};

static struct ac_walk walk_copy(struct ac_plan *plan, const struct ac_walk *walk)
{
    struct ac_walk copy;
    ac_walk_init(plan, &copy);
    memcpy(copy.at, walk->at, plan->level_count * sizeof(*walk->at));
    memcpy(copy.chosen, walk->chosen, plan->level_count * sizeof(*walk->chosen));
    copy.started = true;
    return copy;
}

static bool has_choice(const struct ac_plan *plan)
{
    for (uint32_t l = 0; l < plan->level_count; l++)
        if (plan->levels[l].option_count > 1)
            return true;
    return false;
}

/* Takes the walk's next candidate that is no repetition; false when the tree has no more. */
static bool take_one(struct search *search, struct ac_walk *walk)
{
    int64_t before = search->emitted;
    while (ac_walk_next(search->plan, walk)) {
        take(search, walk->chosen);
        if (search->emitted > before)
            return true;
    }
    return false;
}

static void run_spread(struct search *search)
{
    struct ac_plan *plan = search->plan;
    struct pause *paused = NULL;
    uint32_t count = 0;
    uint32_t capacity = 0;
    struct ac_walk walk;
    ac_walk_init(plan, &walk);
    uint32_t root = 0;
    while (search->emitted < search->most && ac_next_anchor(plan, &root)) {
        ac_walk_reset(&walk);
        if (take_one(search, &walk) && has_choice(plan)) {
            if (count == capacity) {
                capacity = capacity == 0 ? 64 : capacity * 2;
                struct pause *larger = arena_array(plan->arena, capacity, sizeof(*larger));
                if (count > 0)
                    memcpy(larger, paused, count * sizeof(*larger));
                paused = larger;
            }
            paused[count++] = (struct pause){root, walk_copy(plan, &walk)};
        }
        root = tree_end(plan, root);
    }
    while (count > 0 && search->emitted < search->most) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count && search->emitted < search->most; i++) {
            check(ac_set_options(plan, paused[i].root) || plan->budget->exhausted);
            if (plan->budget->exhausted)
                return;
            if (take_one(search, &paused[i].walk))
                paused[kept++] = paused[i];
        }
        count = kept;
    }
}

static uint64_t random_below(uint64_t n)
{
    uint64_t value;
    uint64_t fair = UINT64_MAX - UINT64_MAX % n;
    do {
        while (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value))
            ;
    } while (value >= fair);
    return value % n;
}

/* All candidates (at most `generate`), of which a random `limit` in random order are emitted. */
static void run_random(struct search *search, int64_t generate, int64_t limit)
{
    struct ac_plan *plan = search->plan;
    uint32_t **kept = NULL;
    size_t capacity = 0;
    int64_t seen = 0;
    struct ac_walk walk;
    ac_walk_init(plan, &walk);
    uint32_t root = 0;
    while (seen < generate && ac_next_anchor(plan, &root)) {
        ac_walk_reset(&walk);
        while (seen < generate && ac_walk_next(plan, &walk)) {
            if (seen_before(search, walk.chosen))
                continue;
            uint64_t at = seen < limit ? (uint64_t)seen : random_below((uint64_t)seen + 1);
            seen++;
            if (at >= (uint64_t)limit)
                continue;
            if (at >= capacity) {
                size_t larger = capacity == 0 ? 64 : capacity * 2;
                uint32_t **more = arena_zalloc(plan->arena, larger * sizeof(*more));
                if (capacity > 0)
                    memcpy(more, kept, capacity * sizeof(*more));
                kept = more;
                capacity = larger;
            }
            size_t bytes = plan->level_count * sizeof(**kept);
            if (kept[at] == NULL)
                kept[at] = arena_alloc(plan->arena, bytes);
            memcpy(kept[at], walk.chosen, bytes);
        }
        root = tree_end(plan, root);
    }
    int64_t count = seen < limit ? seen : limit;
    for (int64_t i = count; i-- > 0;) {
        uint64_t at = random_below((uint64_t)i + 1);
        uint32_t *chosen = kept[at];
        kept[at] = kept[i];
        kept[i] = chosen;
        if (!budget_take(plan->budget, 8))
            return;
        emit(search, chosen);
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void fill_summaries(struct search *search, struct ac_summaries *summaries)
{
    uint32_t *used = search->used;
    uint32_t count = 0;
    bool in_order = true; /* as they come, mostly */
    for (uint32_t i = 1; i < search->used_count && in_order; i++)
        in_order = used[i - 1] <= used[i];
    if (!in_order)
        qsort(used, search->used_count, sizeof(*used), compare_u32);
    for (uint32_t i = 0; i < search->used_count; i++)
        if (count == 0 || used[count - 1] != used[i])
            used[count++] = used[i];
    *summaries = (struct ac_summaries){used, count, search->summarise_roots};
}

static int64_t bound(int64_t limit)
{
    return limit < 0 ? INT64_MAX : limit;
}

enum ac_outcome ac_search(const struct version *version, const struct ac_request *request,
                          struct arena *arena, struct budget *budget, ac_emit *emit_cb, void *cls,
                          struct ac_summaries *summaries, struct err *err)
{
    struct ac_plan plan;
    *summaries = (struct ac_summaries){.are_roots = request->nested_aware};
    switch (ac_resolve(version, request, arena, budget, &plan, err)) {
    case AC_RESOLVED_EMPTY:
        return AC_DONE;
    case AC_RESOLVED_ERROR:
        return AC_REFUSED;
    case AC_RESOLVED_EXPENSIVE:
        return AC_EXPENSIVE;
    case AC_RESOLVED:
        break;
    }
    uint32_t entries = 0;
    for (uint32_t l = 0; l < plan.level_count; l++)
        entries += plan.levels[l].demand_count;
    int64_t limit = bound(request->limit);
    int64_t most = bound(request->most);
    struct search search = {
        .plan = &plan,
        .emit = emit_cb,
        .cls = cls,
        .most = limit < most ? limit : most,
        .entries = arena_array(arena, entries, sizeof(struct ac_entry)),
        .mappings = arena_array(arena, plan.level_count, sizeof(struct ac_mapping)),
        .summarise_roots = request->nested_aware,
    };
    if (request->randomize)
        run_random(&search, most, limit);
    else if (plan.is_plain)
        run_plain(&search);
    else if (request->order == AC_ORDER_SPREAD && search.most != INT64_MAX)
        run_spread(&search);
    else
        run_depth(&search);
    if (budget->exhausted)
        return AC_EXPENSIVE;
    fill_summaries(&search, summaries);
    return AC_DONE;
}
