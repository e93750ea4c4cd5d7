/* Which value is tried when (9.2). A unit tries its present host, then hosts of its own group, then
 * hosts in use before empty ones, in each the one that it fits best, then the first by name.
 *
 * Hosts that no unit of the plan is on are as they were before the search, so their order is made
 * once for each kind of unit, by classes of interchangeable hosts, and only as far as the search
 * gets; the few others are ranked anew for each decision, and merged. Any thread. */
#include "solve/search.h"

#include <stdlib.h>

enum { KEY_SHIFT = 60 };
#define KEY_NOT_OWN 2u
#define KEY_EMPTY   1u

/* What is left on the host when the unit is there, as shares of capacity, weighted: about 0 to 1.
 */
static double left_over(struct search *search, uint32_t u, uint32_t host)
{
    struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[u];
    double sum = 0;
    for (uint32_t i = 0; i < unit->placed_count; i++) {
        const struct need *need = &solver->needs.need[solver->needs.of_server[unit->placed[i]]];
        bool is_simple = bits_has(need->simple, host);
        for (uint32_t a = 0; a < need->amount_count; a++) {
            uint32_t c = need->amounts[a].class_index;
            uint32_t slot =
                is_simple ? solver->hosts.slots[host] : need_candidate(need, need->first[host])[a];
            const struct room *room = rooms_at(&solver->rooms, c, slot);
            if (i == 0)
                sum += solver->weights[c] * (double)room->left * room->per_unit;
            sum -= solver->weights[c] * (double)need->amounts[a].amount * room->per_unit;
        }
    }
    return sum < 0 ? 0 : sum;
}

static uint64_t scaled(double share)
{
    const double most = (double)((uint64_t)1 << KEY_SHIFT);
    double value = share * (most / 16);
    return value >= most - 1 ? ((uint64_t)1 << KEY_SHIFT) - 1 : (uint64_t)value;
}

static uint64_t host_key(struct search *search, uint32_t u, uint32_t host)
{
    uint32_t exclusive = search->solver->units.unit[u].exclusive;
    bool is_own = exclusive != UNITS_NONE && search->holders[host] == exclusive;
    bool is_used = bits_has(search->solver->hosts.used, host) || bits_has(search->changed, host);
    uint64_t first = (is_own ? 0u : KEY_NOT_OWN) + (is_used ? 0u : KEY_EMPTY);
    return first << KEY_SHIFT | scaled(left_over(search, u, host));
}

static bool is_before(const struct ranked *a, const struct ranked *b)
{
    return a->key != b->key ? a->key < b->key : a->at < b->at;
}

static int compare_ranked(const void *left, const void *right)
{
    return is_before(left, right) ? -1 : 1;
}

static void sift(struct ranked *heap, uint32_t count, uint32_t at)
{
    struct ranked moved = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* All classes that can serve the kind, by the state before the search. */
void order_classes(struct search *search, uint32_t unit)
{
    struct kind_order *order = &search->orders[search->solver->facts[unit].kind];
    if (order->ranked != NULL)
        return;
    order->ranked = arena_array(search->solver->arena, search->class_count, sizeof(*order->ranked));
    for (uint32_t c = 0; c < search->class_count; c++) {
        uint32_t host = search->members[search->class_first[c]];
        bool is_able = true;
        const struct unit *of = &search->solver->units.unit[unit];
        for (uint32_t i = 0; i < of->placed_count && is_able; i++)
            is_able = bits_has(
                search->solver->needs.need[search->solver->needs.of_server[of->placed[i]]].hosts,
                host);
        if (is_able)
            order->ranked[order->count++] = (struct ranked){0, host};
    }
    for (uint32_t i = 0; i < order->count; i++)
        order->ranked[i].key = host_key(search, unit, order->ranked[i].at);
    for (uint32_t i = order->count / 2; i-- > 0;)
        sift(order->ranked, order->count, i);
}

/* The nth of the order; NULL: there are no more. What is in order stands at the end, backwards. */
static const struct ranked *order_at(struct kind_order *order, uint32_t n)
{
    if (n >= order->count)
        return NULL;
    while (order->ready <= n) {
        uint32_t heap = order->count - order->ready;
        struct ranked first = order->ranked[0];
        order->ranked[0] = order->ranked[heap - 1];
        order->ranked[heap - 1] = first;
        order->ready++;
        if (heap > 1)
            sift(order->ranked, heap - 1, 0);
    }
    return &order->ranked[order->count - 1 - n];
}

static bool is_open(const struct search *search, uint32_t unit, uint32_t host)
{
    uint32_t rack = search->block_racks[search->solver->units.unit[unit].block];
    return bits_has(search->domains[unit], host) &&
           (rack == HOSTS_NO_RACK || search->solver->hosts.racks[host] == rack);
}

static void add_fresh(struct search *search, struct decision *decision, uint64_t key, uint32_t at)
{
    decision->fresh = arena_grow(search->solver->arena, decision->fresh, decision->fresh_count,
                                 &decision->fresh_capacity, sizeof(*decision->fresh));
    decision->fresh[decision->fresh_count++] = (struct ranked){key, at};
}

static void add_fresh_host(struct search *search, struct decision *decision, uint32_t host)
{
    if (is_open(search, decision->at, host))
        add_fresh(search, decision, host_key(search, decision->at, host), host);
}

static void add_fresh_rack(struct search *search, struct decision *decision, uint32_t rack)
{
    const struct hosts_mark *mark = &search->solver->hosts.rack[rack];
    for (uint32_t i = 0; i < mark->host_count; i++)
        if (!bits_has(search->changed, mark->hosts[i]))
            add_fresh_host(search, decision, mark->hosts[i]);
}

static void begin_host(struct search *search, struct decision *decision)
{
    const struct unit *unit = &search->solver->units.unit[decision->at];
    uint32_t rack = search->block_racks[unit->block];
    for (uint32_t i = 0; i < search->changed_count; i++)
        add_fresh_host(search, decision, search->changed_list[i]);
    if (rack != HOSTS_NO_RACK)
        add_fresh_rack(search, decision, rack);
    for (uint32_t i = 0;
         rack == HOSTS_NO_RACK && unit->exclusive != UNITS_NONE && i < search->claimed_count; i++)
        add_fresh_rack(search, decision, search->claimed_racks[i]);
    if (decision->tried == NULL)
        decision->tried = bits_create(search->solver->arena, search->class_count);
    else
        memset(decision->tried, 0, bits_words(search->class_count) * sizeof(uint64_t));
}

static bool is_present_in(const struct search *search, uint32_t block, uint32_t rack)
{
    const struct solver *solver = search->solver;
    const struct block *of = &solver->units.block[block];
    for (uint32_t i = 0; i < of->unit_count; i++) {
        const struct unit *unit = &solver->units.unit[of->units[i]];
        for (uint32_t j = 0; j < unit->placed_count; j++) {
            uint32_t host = hosts_index(solver->version, &solver->hosts,
                                        solver->request->pins[unit->placed[j]].present);
            if (host != BITS_NONE && solver->hosts.racks[host] == rack)
                return true;
        }
    }
    return false;
}

/* What is left in a rack for a block; false: less than it asks for. */
static bool rack_covers(struct search *search, uint32_t block, uint32_t rack, double *share)
{
    struct solver *solver = search->solver;
    const struct hosts_mark *mark = &solver->hosts.rack[rack];
    const struct block *of = &solver->units.block[block];
    bool covers = true;
    *share = 0;
    for (uint32_t c = 0; c < solver->rooms.class_count; c++) {
        double left = 0;
        double asked = 0;
        for (uint32_t i = 0; i < mark->host_count; i++) {
            uint32_t slot = solver->hosts.slots[mark->hosts[i]];
            uint32_t end = version_place(solver->version, (struct slot_no){slot})->end;
            for (; slot < end; slot++) {
                if (version_place(solver->version, (struct slot_no){slot})->provider == NULL)
                    continue;
                const struct room *room = rooms_at(&solver->rooms, c, slot);
                left += (double)room->left;
                *share += solver->weights[c] * (double)room->left * room->per_unit;
            }
        }
        for (uint32_t i = 0; i < of->unit_count; i++) {
            const struct unit_facts *facts = &solver->facts[of->units[i]];
            for (uint32_t d = 0; d < facts->demand_count; d++)
                if (facts->demands[d].class_index == c)
                    asked += (double)facts->demands[d].amount;
        }
        covers = covers && left >= asked;
    }
    *share /= mark->host_count > 0 ? mark->host_count : 1;
    return covers;
}

static void begin_rack(struct search *search, struct decision *decision)
{
    const struct block *block = &search->solver->units.block[decision->at];
    uint32_t exclusive = search->solver->units.unit[block->units[0]].exclusive;
    for (uint32_t rack = 0; rack < search->solver->hosts.rack_count; rack++) {
        if (!state_rack_serves(search, decision->at, rack))
            continue;
        double share;
        uint64_t first = rack_covers(search, decision->at, rack, &share) ? 0 : 4;
        const struct hosts_mark *mark = &search->solver->hosts.rack[rack];
        if (exclusive != UNITS_NONE && search->holders[mark->hosts[0]] != exclusive)
            first += 2;
        if (!is_present_in(search, decision->at, rack))
            first += 1;
        add_fresh(search, decision, first << KEY_SHIFT | scaled(share), rack);
    }
}

static void begin_candidate(struct search *search, struct decision *decision)
{
    const struct solver *solver = search->solver;
    const struct needs *needs = &solver->needs;
    const struct unit *unit = &solver->units.unit[solver->units.of_server[decision->at]];
    uint32_t host = search->hosts[solver->units.of_server[decision->at]];
    const struct need *need = &needs->need[needs->of_server[decision->at]];
    decision->cursor = decision->end = 0;
    if (bits_has(need->simple, host)) {
        decision->end = 1;
        return;
    }
    decision->cursor = need->first[host];
    decision->end = need->first[host + 1];
    /* servers of one unit with the same need can be exchanged: they take candidates in order */
    for (uint32_t i = 0; i < unit->placed_count && unit->placed[i] != decision->at; i++)
        if (needs->of_server[unit->placed[i]] == needs->of_server[decision->at])
            decision->cursor = search->candidates[unit->placed[i]];
}

void order_begin(struct search *search, struct decision *decision)
{
    decision->present = decision->cursor = decision->end = 0;
    decision->fresh_at = decision->fresh_count = 0;
    if (decision->kind == DECIDE_CANDIDATE) {
        begin_candidate(search, decision);
        return;
    }
    if (decision->kind == DECIDE_HOST)
        begin_host(search, decision);
    else
        begin_rack(search, decision);
    if (decision->fresh_count > 1)
        qsort(decision->fresh, decision->fresh_count, sizeof(*decision->fresh), compare_ranked);
}

static bool was_tried(const struct search *search, const struct decision *decision, uint32_t host)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[decision->at];
    for (uint32_t i = 0; i < decision->present; i++)
        if (solver->hosts.providers[host] == solver->request->pins[unit->placed[i]].present)
            return true;
    return !bits_has(search->changed, host) && bits_has(decision->tried, search->classes[host]);
}

static bool try_host(struct search *search, struct decision *decision, uint32_t host)
{
    if (!bits_has(search->changed, host))
        bits_add(decision->tried, search->classes[host]);
    decision->value = host;
    return true;
}

static uint32_t next_present(struct search *search, struct decision *decision)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[decision->at];
    while (decision->present < unit->placed_count) {
        const struct solve_pin *pin = &solver->request->pins[unit->placed[decision->present]];
        uint32_t host = hosts_index(solver->version, &solver->hosts, pin->present);
        bool is_new = host != BITS_NONE && is_open(search, decision->at, host) &&
                      !was_tried(search, decision, host);
        decision->present++;
        if (is_new)
            return host;
    }
    return BITS_NONE;
}

/* The next host that is as before the search. The cursor stays at its class. */
static const struct ranked *next_static(struct search *search, struct decision *decision,
                                        uint32_t *host)
{
    struct kind_order *order = &search->orders[search->solver->facts[decision->at].kind];
    if (search->block_racks[search->solver->units.unit[decision->at].block] != HOSTS_NO_RACK)
        return NULL;
    const struct ranked *ranked;
    for (; (ranked = order_at(order, decision->cursor)) != NULL; decision->cursor++) {
        uint32_t c = search->classes[ranked->at];
        if (bits_has(decision->tried, c))
            continue;
        for (uint32_t i = search->class_first[c]; i < search->class_first[c + 1]; i++) {
            *host = search->members[i];
            if (bits_has(search->domains[decision->at], *host) &&
                !bits_has(search->changed, *host) && !was_tried(search, decision, *host))
                return ranked;
        }
    }
    return NULL;
}

static bool next_host(struct search *search, struct decision *decision)
{
    uint32_t host = next_present(search, decision);
    if (host != BITS_NONE)
        return try_host(search, decision, host);
    while (decision->fresh_at < decision->fresh_count &&
           was_tried(search, decision, decision->fresh[decision->fresh_at].at))
        decision->fresh_at++;
    const struct ranked *fresh =
        decision->fresh_at < decision->fresh_count ? &decision->fresh[decision->fresh_at] : NULL;
    const struct ranked *other = next_static(search, decision, &host);
    if (fresh != NULL && (other == NULL || is_before(fresh, other))) {
        decision->fresh_at++;
        return try_host(search, decision, fresh->at);
    }
    return other != NULL && try_host(search, decision, host);
}

bool order_next(struct search *search, struct decision *decision)
{
    switch (decision->kind) {
    case DECIDE_HOST:
        return next_host(search, decision);
    case DECIDE_RACK:
        if (decision->fresh_at == decision->fresh_count)
            return false;
        decision->value = decision->fresh[decision->fresh_at++].at;
        return true;
    case DECIDE_CANDIDATE:
        if (decision->cursor == decision->end)
            return false;
        decision->value = decision->cursor++;
        return true;
    }
    return false;
}
