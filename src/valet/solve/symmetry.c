/* Interchangeable hosts: the search need not try a second host of a class if the first one led to
 * nothing.
 *
 * Two hosts are in one class if both are in the same single rack or in none; have the same holder;
 * are both in use or both not; have, for every class that the stack requires, the same capacity and
 * the same amount left; and are in the same units' domains, where the servers' only candidate on
 * each of them is its root alone.
 *
 * Invariant, while neither is in `changed`: both are still in the same units' domains. A host
 * leaves a domain only because a unit was put on it (then it is in `changed`), or because its rack
 * was taken, claimed or spoilt, which removes all hosts of that rack; and nothing else about it
 * changes. So with the two hosts exchanged, the remaining problem is the same, and a solution that
 * puts a unit on the second corresponds to one that puts it on the first. A host in several racks,
 * or with other candidates (whose providers others may share), is a class of its own.
 *
 * Hashes only find candidates for equality; classes are numbered in the order of the hosts. Any
 * thread. */
#include "base/hash_map.h"
#include "valet/solve/search.h"

struct symmetry {
    struct search *search;
    const uint64_t **domains; /* distinct ones */
    uint32_t domain_count;
    uint64_t *of_domains; /* for each host: a hash of the domains that it is in */
    uint64_t *in_some;    /* hosts that are in any of them */
    uint64_t *simple;     /* result of find_simple */
    struct hash_map map;  /* to a host of each class */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static void find_domains(struct symmetry *symmetry)
{
    struct search *search = symmetry->search;
    struct arena *arena = search->solver->arena;
    symmetry->domains = arena_array(arena, search->unit_count, sizeof(*symmetry->domains));
    uint64_t *hashes = arena_array(arena, search->unit_count, sizeof(*hashes));
    symmetry->of_domains =
        arena_zalloc(arena, search->solver->hosts.count * sizeof(*symmetry->of_domains));
    symmetry->in_some = bits_create(arena, search->solver->hosts.count);
    for (uint32_t u = 0; u < search->unit_count; u++) {
        if (search->domains[u] == NULL)
            continue;
        uint64_t hash = 0;
        for (uint32_t w = 0; w < search->words; w++)
            hash = mix(hash, search->domains[u][w]);
        uint32_t at = 0;
        while (at < symmetry->domain_count &&
               (hashes[at] != hash || memcmp(symmetry->domains[at], search->domains[u],
                                             search->words * sizeof(uint64_t)) != 0))
            at++;
        search->domain_numbers[u] = at;
        if (at < symmetry->domain_count)
            continue;
        hashes[at] = hash;
        symmetry->domains[symmetry->domain_count++] = search->domains[u];
        for (uint32_t w = 0; w < search->words; w++)
            symmetry->in_some[w] |= search->domains[u][w];
        BITS_EACH(host, search->domains[u], search->words)
        {
            symmetry->of_domains[host] += mix(hash, at);
        }
    }
    search->domain_count = symmetry->domain_count;
}

/* Hosts that can be interchangeable: in at most one rack, and candidates only by their roots alone.
 */
static uint64_t *find_simple(const struct solver *solver)
{
    uint64_t *simple = bits_create(solver->arena, solver->hosts.count);
    for (uint32_t host = 0; host < solver->hosts.count; host++)
        if (solver->hosts.racks[host] != HOSTS_MANY_RACKS)
            bits_add(simple, host);
    for (uint32_t n = 0; n < solver->needs.count; n++) {
        const struct need *need = &solver->needs.need[n];
        for (uint32_t w = 0; w < solver->hosts.words; w++)
            simple[w] &= need->simple[w] | ~need->hosts[w];
    }
    return simple;
}

static uint64_t hash_host(const struct symmetry *symmetry, uint32_t host)
{
    struct solver *solver = symmetry->search->solver;
    uint64_t hash = mix(solver->hosts.racks[host], solver->holders[host]);
    hash = mix(hash, bits_has(solver->hosts.used, host));
    for (uint32_t c = 0; c < solver->headrooms.class_count; c++)
        hash = mix(hash,
                   (uint64_t)headrooms_at(&solver->headrooms, c, solver->hosts.slots[host])->left);
    return mix(hash, symmetry->of_domains[host]);
}

static bool are_symmetric(const struct symmetry *symmetry, uint32_t a, uint32_t b)
{
    struct solver *solver = symmetry->search->solver;
    const struct hosts *hosts = &solver->hosts;
    if (hosts->racks[a] != hosts->racks[b] || solver->holders[a] != solver->holders[b] ||
        bits_has(hosts->used, a) != bits_has(hosts->used, b) ||
        symmetry->of_domains[a] != symmetry->of_domains[b])
        return false;
    for (uint32_t c = 0; c < solver->headrooms.class_count; c++) {
        const struct headroom *x = headrooms_at(&solver->headrooms, c, hosts->slots[a]);
        const struct headroom *y = headrooms_at(&solver->headrooms, c, hosts->slots[b]);
        if (x->left != y->left || x->per_unit > y->per_unit || x->per_unit < y->per_unit)
            return false;
    }
    bool is_same = true;
    for (uint32_t d = 0; is_same && d < symmetry->domain_count; d++)
        is_same = bits_has(symmetry->domains[d], a) == bits_has(symmetry->domains[d], b);
    return is_same;
}

static uint32_t symmetry_class_of(struct symmetry *symmetry, uint32_t host)
{
    struct search *search = symmetry->search;
    if (!bits_has(symmetry->simple, host))
        return search->class_count++;
    uint64_t hash = hash_host(symmetry, host);
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, &symmetry->map, hash, are_symmetric(symmetry, host, hash_slot_item(slot)));
    if (!hash_slot_is_free(slot))
        return search->classes[hash_slot_item(slot)];
    hash_slot_put(slot, hash, host);
    return search->class_count++;
}

static void list_members(struct search *search)
{
    struct solver *solver = search->solver;
    search->class_first =
        arena_zalloc(solver->arena, (search->class_count + 2) * sizeof(*search->class_first));
    search->members = arena_array(solver->arena, solver->hosts.count, sizeof(*search->members));
    for (uint32_t host = 0; host < solver->hosts.count; host++)
        if (search->classes[host] != BITS_NONE)
            search->class_first[search->classes[host] + 2]++;
    for (uint32_t c = 0; c < search->class_count; c++)
        search->class_first[c + 2] += search->class_first[c + 1];
    for (uint32_t host = 0; host < solver->hosts.count; host++)
        if (search->classes[host] != BITS_NONE)
            search->members[search->class_first[search->classes[host] + 1]++] = host;
}

void symmetry_find(struct search *search)
{
    struct solver *solver = search->solver;
    struct symmetry symmetry = {.search = search,
                                .map = hash_map_create(solver->arena, solver->hosts.count)};
    symmetry.simple = find_simple(solver);
    find_domains(&symmetry);
    search->classes = arena_array(solver->arena, solver->hosts.count, sizeof(*search->classes));
    for (uint32_t host = 0; host < solver->hosts.count; host++)
        search->classes[host] =
            bits_has(symmetry.in_some, host) ? symmetry_class_of(&symmetry, host) : BITS_NONE;
    list_members(search);
}
