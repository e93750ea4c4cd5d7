/* Needs and their candidates. Where each host is one provider, a candidate is one bit; only trees
 * and sharing providers need lists. Lists are in the order of the providers' ids, so that an answer
 * does not depend on the providers' slots.
 *
 * Lists are limited: a tree of many providers has more combinations than can be tried. Each host
 * keeps at least one candidate (AC_ORDER_SPREAD; except a host whose first candidate consists of
 * sharing providers only and therefore belongs to no host). Omitted candidates can only make the
 * planner miss a solution in such trees.
 *
 * Any thread. */
#include "valet/solve/needs.h"

#include <stdlib.h>

#include "base/hash.h"
#include "query/ac_search.h"

enum { CANDIDATES_MAX = 1 << 21 }; /* of all needs together */
enum {
    CANDIDATES_OF_A_TURN = 64
}; /* of one tree at a time, because starting a tree is expensive */

static uint64_t hash_names(uint64_t hash, const struct stack_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        hash = (hash ^ hash_text(names->names[i])) * 0x9e3779b97f4a7c15u;
    return hash + names->count;
}

/* Over the values that stack_server_requests_same compares. */
static uint64_t hash_need(const struct stack_server *server)
{
    uint64_t hash = server->amount_count;
    for (uint32_t i = 0; i < server->amount_count; i++)
        hash = (hash ^ hash_text(server->amounts[i].class_name) ^
                (uint64_t)server->amounts[i].amount << 16) *
               0x9e3779b97f4a7c15u;
    return hash_names(hash_names(hash, &server->required), &server->forbidden);
}

static uint32_t class_index(const struct version *version, struct slice name,
                            struct class_no *classes, uint32_t *count)
{
    const struct catalog_row *row = catalog_find(&version->classes, name);
    check(row != NULL);
    for (uint32_t i = 0; i < *count; i++)
        if (classes[i].v == row->number)
            return i;
    classes[*count].v = row->number;
    return (*count)++;
}

static void add_need(const struct version *version, const struct stack_server *server,
                     struct slice project, struct arena *arena, struct need *need,
                     struct class_no *classes, uint32_t *class_count)
{
    *need = (struct need){.like = server, .project = project, .amount_count = server->amount_count};
    need->amounts = arena_array(arena, server->amount_count, sizeof(*need->amounts));
    for (uint32_t i = 0; i < server->amount_count; i++)
        need->amounts[i] = (struct need_amount){
            class_index(version, server->amounts[i].class_name, classes, class_count),
            server->amounts[i].amount};
}

void needs_gather(const struct version *version, const struct solve_request *request,
                  struct arena *arena, struct needs *needs, struct class_no **classes,
                  uint32_t *class_count)
{
    const struct stack *stack = request->stack;
    needs->need = arena_array(arena, stack->server_count, sizeof(*needs->need));
    needs->of_server = arena_array(arena, stack->server_count, sizeof(*needs->of_server));
    needs->count = 0;
    *classes = arena_array(arena, version->classes.limit, sizeof(**classes));
    *class_count = 0;
    uint64_t *hashes = arena_array(arena, (size_t)stack->server_count + 1, sizeof(*hashes));
    for (uint32_t s = 0; s < stack->server_count; s++) {
        const struct stack_server *server = &stack->servers[s];
        if (request->pins[s].kind != SOLVE_PLACE)
            continue;
        uint32_t at = 0;
        hashes[needs->count] = hash_need(server);
        while (hashes[at] != hashes[needs->count] ||
               (at < needs->count && !stack_server_requests_same(needs->need[at].like, server)))
            at++;
        if (at == needs->count)
            add_need(version, server, request->project, arena, &needs->need[needs->count++],
                     *classes, class_count);
        needs->of_server[s] = at;
    }
}

/* A candidate that is not just the root, or not the host's only one. */
struct listed {
    uint32_t host;
    uint32_t *slots; /* by amount */
};

struct collector {
    const struct version *version;
    const struct hosts *hosts;
    const struct headrooms *headrooms;
    struct need *need;
    struct arena *arena;   /* of the result */
    struct arena *scratch; /* of the search */
    struct host_marks marks;
    struct listed *listed;
    uint32_t listed_count;
    size_t listed_capacity;
};

/* The host of a candidate: the tree of those of its providers that do not share. If all of them
 * share, there is none. */
static uint32_t host_of(const struct collector *collector, const struct ac_candidate *candidate)
{
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        const struct place *place = version_place(collector->version, candidate->entries[i].slot);
        if (!host_shares(&collector->marks, place->provider))
            return collector->hosts->of_slot[place->root];
    }
    return BITS_NONE;
}

static void list(struct collector *collector, uint32_t host, const struct ac_candidate *candidate)
{
    const struct need *need = collector->need;
    collector->listed = arena_grow(collector->scratch, collector->listed, collector->listed_count,
                                   &collector->listed_capacity, sizeof(*collector->listed));
    struct listed *listed = &collector->listed[collector->listed_count++];
    listed->host = host;
    listed->slots = arena_array(collector->scratch, need->amount_count, sizeof(*listed->slots));
    for (uint32_t a = 0; a < need->amount_count; a++) {
        uint32_t class_no = collector->headrooms->classes[need->amounts[a].class_index].v;
        listed->slots[a] = collector->hosts->slots[host];
        for (uint32_t i = 0; candidate != NULL && i < candidate->entry_count; i++)
            if (candidate->entries[i].class_no.v == class_no)
                listed->slots[a] = candidate->entries[i].slot.v;
    }
}

/* Whether the candidate includes something of another host, as a part of that may share, that is
 * claimed by a group of which the project is not a member: the writer refuses it (8.3). */
static bool is_refused(const struct collector *collector, const struct ac_candidate *candidate,
                       uint32_t host)
{
    const struct hosts *hosts = collector->hosts;
    for (uint32_t i = 0; hosts->claims != NULL && collector->need->project.data != NULL &&
                         i < candidate->entry_count;
         i++) {
        const struct place *place = version_place(collector->version, candidate->entries[i].slot);
        uint32_t other = hosts->of_slot[place->root];
        if (other != host && other != BITS_NONE && hosts->claims[other].group != NULL &&
            host_refuses(collector->version, &collector->marks, hosts->providers[other],
                         collector->need->project) != NULL)
            return true;
    }
    return false;
}

static void needs_collect(void *cls, const struct ac_candidate *candidate)
{
    struct collector *collector = cls;
    struct need *need = collector->need;
    uint32_t host = host_of(collector, candidate);
    if (host == BITS_NONE || is_refused(collector, candidate, host))
        return;
    bool is_root_alone = true; /* there is at most one such candidate */
    for (uint32_t i = 0; i < candidate->entry_count && is_root_alone; i++)
        is_root_alone = candidate->entries[i].slot.v == collector->hosts->slots[host];
    if (is_root_alone && !bits_has(need->hosts, host)) {
        bits_add(need->hosts, host);
        bits_add(need->simple, host);
        return;
    }
    if (bits_has(need->simple, host)) {
        bits_remove(need->simple, host);
        list(collector, host, NULL);
    }
    bits_add(need->hosts, host);
    list(collector, host, candidate);
}

struct sorter {
    const struct version *version;
    uint32_t slots;
};

static int compare_listed(const void *left, const void *right, void *cls)
{
    const struct listed *a = left;
    const struct listed *b = right;
    const struct sorter *sorter = cls;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    int order = 0;
    for (uint32_t i = 0; order == 0 && i < sorter->slots; i++) {
        int64_t x = version_place(sorter->version, (struct slot_no){a->slots[i]})->provider->id;
        int64_t y = version_place(sorter->version, (struct slot_no){b->slots[i]})->provider->id;
        order = (x > y) - (x < y);
    }
    return order;
}

static void keep_lists(struct collector *collector)
{
    struct need *need = collector->need;
    uint32_t count = collector->listed_count;
    if (count == 0)
        return;
    struct sorter sorter = {collector->version, need->amount_count};
    qsort_r(collector->listed, count, sizeof(*collector->listed), compare_listed, &sorter);
    need->first = arena_zalloc(collector->arena, (collector->hosts->count + 1) * sizeof(uint32_t));
    need->slots = arena_array(collector->arena, count, need->amount_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        need->first[collector->listed[i].host + 1]++;
        memcpy(&need->slots[(size_t)i * need->amount_count], collector->listed[i].slots,
               need->amount_count * sizeof(uint32_t));
    }
    for (uint32_t host = 0; host < collector->hosts->count; host++)
        need->first[host + 1] += need->first[host];
}

static struct ac_group needs_group_of(const struct need *need, bool with_traits,
                                      struct arena *arena)
{
    const struct stack_server *server = need->like;
    struct ac_group group = {.suffix = SLICE_LIT(""), .resource_count = server->amount_count};
    group.resources = arena_array(arena, server->amount_count, sizeof(*group.resources));
    for (uint32_t i = 0; i < server->amount_count; i++)
        group.resources[i] =
            (struct ac_resource){server->amounts[i].class_name, server->amounts[i].amount};
    if (!with_traits)
        return group;
    group.required_count = server->required.count;
    group.required = arena_array(arena, server->required.count, sizeof(*group.required));
    for (uint32_t i = 0; i < server->required.count; i++) {
        struct slice *name = arena_array(arena, 1, sizeof(*name));
        *name = server->required.names[i];
        group.required[i] = (struct ac_names){name, 1};
    }
    group.forbidden.count = server->forbidden.count;
    group.forbidden.names = arena_array(arena, server->forbidden.count, sizeof(struct slice));
    for (uint32_t i = 0; i < server->forbidden.count; i++)
        group.forbidden.names[i] = server->forbidden.names[i];
    return group;
}

static bool search(struct collector *collector, bool with_traits,
                   const struct fit_headroom *overlay, uint32_t overlay_count, int64_t most,
                   struct budget *budget)
{
    struct ac_group group = needs_group_of(collector->need, with_traits, collector->scratch);
    struct ac_request request = {
        .groups = &group,
        .group_count = 1,
        .nested_aware = true,
        .limit = most,
        .most = most,
        .order = AC_ORDER_SPREAD,
        .turn = CANDIDATES_OF_A_TURN,
        .headrooms = overlay,
        .headroom_count = overlay_count,
    };
    struct ac_summaries summaries;
    struct err err = {.arena = collector->scratch};
    enum ac_outcome outcome = ac_search(collector->version, &request, collector->scratch, budget,
                                        needs_collect, collector, &summaries, NULL, &err);
    check(outcome != AC_REFUSED);
    return outcome == AC_DONE;
}

/* The first candidate of each tree comes before the second of any other, so that every host gets
 * one. */
static int64_t candidates_most(const struct hosts *hosts, uint32_t needs)
{
    int64_t most = CANDIDATES_MAX / (needs == 0 ? 1 : needs);
    return most < hosts->tree_count ? hosts->tree_count : most;
}

bool needs_search(const struct version *version, const struct hosts *hosts,
                  struct headrooms *headrooms, struct needs *needs, struct arena *arena,
                  struct budget *budget)
{
    uint32_t overlay_count;
    const struct fit_headroom *overlay = headrooms_overlay(headrooms, &overlay_count);
    struct arena *scratch = arena_create_beside(arena);
    bool is_done = true;
    for (uint32_t n = 0; n < needs->count && is_done; n++) {
        struct need *need = &needs->need[n];
        need->hosts = bits_create(arena, hosts->count);
        need->simple = bits_create(arena, hosts->count);
        struct collector collector = {
            .version = version,
            .hosts = hosts,
            .headrooms = headrooms,
            .need = need,
            .arena = arena,
            .scratch = scratch,
            .marks = host_marks_of(version),
        };
        is_done = search(&collector, true, overlay, overlay_count,
                         candidates_most(hosts, needs->count), budget);
        if (is_done)
            keep_lists(&collector);
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    return is_done;
}

static int compare_headrooms(const void *left, const void *right)
{
    const struct fit_headroom *a = left;
    const struct fit_headroom *b = right;
    if (a->class_no.v != b->class_no.v)
        return a->class_no.v < b->class_no.v ? -1 : 1;
    return (a->slot.v > b->slot.v) - (a->slot.v < b->slot.v);
}

/* Gives every host unlimited room in the need's classes. */
static struct fit_headroom *roomy_overlay(const struct version *version,
                                          const struct headrooms *headrooms,
                                          const struct need *need, struct arena *arena,
                                          uint32_t *count)
{
    struct fit_headroom *overlay = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t a = 0; a < need->amount_count; a++) {
        struct class_no class_no = headrooms->classes[need->amounts[a].class_index];
        const struct slotset *holders = &version_column(version, class_no)->holders;
        for (uint32_t slot = slotset_next(holders, 0); slot != NUMBER_NONE;
             slot = slotset_next(holders, slot + 1)) {
            overlay = arena_grow(arena, overlay, *count, &capacity, sizeof(*overlay));
            overlay[(*count)++] = (struct fit_headroom){class_no, {slot}, INT32_MAX};
        }
    }
    if (*count > 1)
        qsort(overlay, *count, sizeof(*overlay), compare_headrooms);
    return overlay;
}

bool needs_search_roomy(const struct version *version, const struct hosts *hosts,
                        struct headrooms *headrooms, const struct need *need, bool with_traits,
                        struct budget *budget, uint64_t *found)
{
    struct arena *scratch = arena_create();
    uint32_t count;
    struct fit_headroom *overlay = roomy_overlay(version, headrooms, need, scratch, &count);
    struct need roomy = *need;
    roomy.hosts = found;
    roomy.project = (struct slice){0};
    roomy.simple = bits_create(scratch, hosts->count);
    struct collector collector = {
        .version = version,
        .hosts = hosts,
        .headrooms = headrooms,
        .need = &roomy,
        .arena = scratch,
        .scratch = scratch,
        .marks = host_marks_of(version),
    };
    bool is_done =
        budget_take(budget, 8 * (int64_t)count) &&
        search(&collector, with_traits, overlay, count, candidates_most(hosts, 1), budget);
    arena_destroy(scratch);
    return is_done;
}
