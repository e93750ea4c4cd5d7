/* Hosts of the unit's own group are preferred to others, hosts in use to empty ones; among these
 * the best fit, then the first name. Hosts without units of the plan are unchanged since before the
 * search, so they are sorted only once for each kind of unit and domain, as classes of
 * interchangeable hosts, and only as far as needed: the first ones by one pass over all classes,
 * then twice as many by each further pass. Any thread. */
#include "valet/solve/ranks.h"

enum { KEY_SHIFT = 60 };
#define KEY_NOT_OWN 2u
#define KEY_EMPTY   1u

/* What is left of a headroom, now or before the search. */
static double left_of(const struct headroom *headroom, bool is_first)
{
    return (double)(is_first ? headroom->first : headroom->left) * headroom->per_unit;
}

static double left_by_root(struct search *search, uint32_t u, uint32_t host, bool is_first)
{
    struct solver *solver = search->solver;
    const struct unit_facts *facts = &solver->facts[u];
    double sum = 0;
    for (uint32_t d = 0; d < facts->demand_count; d++) {
        uint32_t c = facts->demands[d].class_index;
        const struct headroom *headroom =
            headrooms_at(&solver->headrooms, c, solver->hosts.slots[host]);
        sum += solver->weights[c] * (left_of(headroom, is_first) -
                                     (double)facts->demands[d].amount * headroom->per_unit);
    }
    return sum;
}

/* What would be left on the host with the unit on it, as weighted shares of capacity: about 0 to 1.
 */
static double left_over(struct search *search, uint32_t u, uint32_t host, bool is_first)
{
    struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[u];
    double sum = 0;
    if (solver->facts[u].is_simple)
        return left_by_root(search, u, host, is_first);
    for (uint32_t i = 0; i < unit->placed_count; i++) {
        const struct need *need = &solver->needs.need[solver->needs.of_server[unit->placed[i]]];
        bool is_simple = bits_has(need->simple, host);
        for (uint32_t a = 0; a < need->amount_count; a++) {
            uint32_t c = need->amounts[a].class_index;
            uint32_t slot =
                is_simple ? solver->hosts.slots[host] : need_candidate(need, need->first[host])[a];
            const struct headroom *headroom = headrooms_at(&solver->headrooms, c, slot);
            if (i == 0)
                sum += solver->weights[c] * left_of(headroom, is_first);
            sum -= solver->weights[c] * (double)need->amounts[a].amount * headroom->per_unit;
        }
    }
    return sum;
}

enum { KEY_LOOKS = 8 };

/* The cost, in looks, of ranking a host for the unit. */
static int64_t key_looks(const struct search *search, uint32_t u)
{
    const struct solver *solver = search->solver;
    return KEY_LOOKS +
           (solver->facts[u].is_simple ? 0 : 4 * (int64_t)solver->units.unit[u].placed_count);
}

/* Overcommitted hosts have less than nothing left. */
static uint64_t scaled(double share)
{
    const double most = (double)((uint64_t)1 << KEY_SHIFT);
    double value = share * (most / 16);
    if (!(value > 0))
        return 0;
    return value >= most - 1 ? ((uint64_t)1 << KEY_SHIFT) - 1 : (uint64_t)value;
}

uint64_t ranks_of_host(struct search *search, uint32_t u, uint32_t host)
{
    uint32_t exclusive = search->solver->units.unit[u].exclusive;
    bool is_own = exclusive != UNITS_NONE && search->holders[host] == exclusive;
    bool is_used = bits_has(search->solver->hosts.used, host) || bits_has(search->changed, host);
    uint64_t first = (is_own ? 0u : KEY_NOT_OWN) + (is_used ? 0u : KEY_EMPTY);
    search_look(search, key_looks(search, u));
    return first << KEY_SHIFT | scaled(left_over(search, u, host, false));
}

/* As it was before the search. */
static uint64_t first_key(struct search *search, uint32_t u, uint32_t host)
{
    const struct solver *solver = search->solver;
    uint32_t exclusive = solver->units.unit[u].exclusive;
    bool is_own = exclusive != UNITS_NONE && solver->holders[host] == exclusive;
    uint64_t first =
        (is_own ? 0u : KEY_NOT_OWN) + (bits_has(solver->hosts.used, host) ? 0u : KEY_EMPTY);
    return first << KEY_SHIFT | scaled(left_over(search, u, host, true));
}

/* The nth of chunks of WINDOW, 2 * WINDOW, 4 * WINDOW... */
static struct ranked *chunk_at(const struct class_order *order, uint32_t n)
{
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(n / WINDOW + 1);
    return &order->chunks[chunk][n - (((uint32_t)1 << chunk) - 1) * WINDOW];
}

/* Doubles the sorted part of the order. */
static void extend(struct search *search, struct class_order *order)
{
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(order->count / WINDOW + 1);
    uint32_t most = (uint32_t)WINDOW << chunk;
    const uint64_t *domain = search->first_domains[order->unit];
    struct best best = {.most = most < search->class_count ? most : search->class_count};
    best.heap = arena_array(search->solver->arena, best.most, sizeof(*best.heap));
    best.before = order->count == 0 ? NULL : chunk_at(order, order->count - 1);
    BITS_EACH(host, domain, search->words)
    {
        if (search->members[search->class_first[search->classes[host]]] != host)
            continue;
        search_look(search, key_looks(search, order->unit));
        best_offer(&best, first_key(search, order->unit, host), host);
    }
    search_look(search, search->counts[order->unit] + search->words);
    best_sort(&best);
    order->chunks[chunk] = best.heap;
    order->count += best.count;
    order->is_whole = !best.has_more;
}

const struct ranked *ranks_class(struct search *search, uint32_t unit, uint32_t n)
{
    struct class_order *order = &search->class_orders[search->orders[unit]];
    while (n >= order->count && !order->is_whole)
        extend(search, order);
    return n < order->count ? chunk_at(order, n) : NULL;
}

/* The racks of the current hosts of the block's servers. */
static uint64_t *present_racks(struct search *search, uint32_t block)
{
    const struct solver *solver = search->solver;
    const struct block *of = &solver->units.block[block];
    uint64_t *racks = search->present_racks;
    memset(racks, 0, bits_words(solver->hosts.rack_count) * sizeof(uint64_t));
    for (uint32_t i = 0; i < of->unit_count; i++) {
        const struct unit *unit = &solver->units.unit[of->units[i]];
        search_look(search, 1 + unit->placed_count);
        for (uint32_t j = 0; j < unit->placed_count; j++) {
            uint32_t host = hosts_index(solver->version, &solver->hosts,
                                        solver->request->pins[unit->placed[j]].present);
            if (host != BITS_NONE && solver->hosts.racks[host] < solver->hosts.rack_count)
                bits_add(racks, solver->hosts.racks[host]);
        }
    }
    return racks;
}

/* The block's demand for each class. */
static const double *requested_of(struct search *search, uint32_t block)
{
    const struct solver *solver = search->solver;
    const struct block *of = &solver->units.block[block];
    memset(search->requested, 0, solver->headrooms.class_count * sizeof(*search->requested));
    for (uint32_t i = 0; i < of->unit_count; i++) {
        const struct unit_facts *facts = &solver->facts[of->units[i]];
        search_look(search, facts->demand_count);
        for (uint32_t d = 0; d < facts->demand_count; d++)
            search->requested[facts->demands[d].class_index] += (double)facts->demands[d].amount;
    }
    return search->requested;
}

static void sum_tree(struct search *search, uint32_t c, uint32_t host, double *left, double *share)
{
    struct solver *solver = search->solver;
    uint32_t slot = solver->hosts.slots[host];
    uint32_t end = version_place(solver->version, (struct slot_no){slot})->end;
    search_look(search, 4 * (int64_t)(end - slot));
    for (; slot < end; slot++) {
        const struct headroom *headroom = headrooms_at(&solver->headrooms, c, slot);
        *left += (double)headroom->left;
        *share += solver->weights[c] * (double)headroom->left * headroom->per_unit;
    }
}

/* What is left in a rack; false: less than the demand. */
static bool rack_covers(struct search *search, uint32_t rack, const double *requested,
                        double *share)
{
    struct solver *solver = search->solver;
    const struct hosts_mark *mark = &solver->hosts.rack[rack];
    bool covers = true;
    *share = 0;
    for (uint32_t c = 0; c < solver->headrooms.class_count; c++) {
        double left = 0;
        for (uint32_t i = 0; i < mark->host_count; i++)
            sum_tree(search, c, mark->hosts[i], &left, share);
        covers = covers && left >= requested[c];
    }
    *share /= mark->host_count > 0 ? mark->host_count : 1;
    return covers;
}

void ranks_offer_racks(struct search *search, uint32_t block, struct best *best)
{
    const struct solver *solver = search->solver;
    uint32_t exclusive = solver->units.unit[solver->units.block[block].units[0]].exclusive;
    const uint64_t *present = present_racks(search, block);
    const double *requested = requested_of(search, block);
    BITS_EACH(rack, search_racks(search, block), bits_words(solver->hosts.rack_count))
    {
        double share;
        if (!search_goes_on(search))
            return;
        uint64_t first = rack_covers(search, rack, requested, &share) ? 0 : 4;
        const struct hosts_mark *mark = &solver->hosts.rack[rack];
        if (exclusive != UNITS_NONE && search->holders[mark->hosts[0]] != exclusive)
            first += 2;
        if (!bits_has(present, rack))
            first += 1;
        best_offer(best, first << KEY_SHIFT | scaled(share), rack);
    }
}

/* Units of the same kind and domain share one order. */
static void share_orders(struct search *search)
{
    const struct solver *solver = search->solver;
    struct arena *arena = solver->arena;
    uint32_t count = 0;
    uint32_t *kinds = arena_array(arena, search->domain_count, sizeof(*kinds));
    uint32_t *orders = arena_array(arena, search->domain_count, sizeof(*orders));
    memset(kinds, 0xff, search->domain_count * sizeof(*kinds));
    search->orders = arena_array(arena, search->unit_count, sizeof(*search->orders));
    search->class_orders = arena_array(arena, search->unit_count, sizeof(*search->class_orders));
    for (uint32_t i = 0; i < search->kind_first[solver->kind_count]; i++) {
        uint32_t u = search->kind_units[i];
        uint32_t domain = search->domain_numbers[u];
        if (kinds[domain] != solver->facts[u].kind) {
            kinds[domain] = solver->facts[u].kind;
            orders[domain] = count;
            search->class_orders[count++] = (struct class_order){.unit = u};
        }
        search->orders[u] = orders[domain];
    }
}

void ranks_init(struct search *search)
{
    struct arena *arena = search->solver->arena;
    search->requested =
        arena_array(arena, search->solver->headrooms.class_count, sizeof(*search->requested));
    search->present_racks = bits_create(arena, search->solver->hosts.rack_count);
    share_orders(search);
}
