/* Reports of failures. The filters that made a unit's domain are applied again, one by one, and the
 * hosts that each removes are counted; then come the hosts that the plan itself had taken when the
 * search got stuck. So the counts of a report add up to the hosts considered. Any thread. */
#include "valet/solve/report.h"

#include <stdlib.h>

#include "base/buf.h"

static const char *const FILTER_WORDS[FILTER_COUNT] = {
    [FILTER_LOCATIONS] = "not in locations",
    [FILTER_EXCLUDED] = "excluded",
    [FILTER_DISABLED] = "disabled",
    [FILTER_ZONE] = "in another zone",
    [FILTER_TRAITS] = "without traits",
    [FILTER_RACK] = "without rack",
    [FILTER_CAPACITY] = "without capacity",
    [FILTER_HELD] = "held by exclusivity group",
    [FILTER_NOT_FREE] = "not free for exclusivity group",
    [FILTER_BESIDE] = "not where affinity binds it",
    [FILTER_APART] = "not apart from others",
};

/* Hosts held by a group. */
struct held {
    struct slice group;
    uint32_t count;
};

struct report {
    struct solver *solver;
    uint32_t unit;
    uint32_t counts[FILTER_COUNT];
    struct held *held;
    uint32_t held_count;
    size_t held_capacity;
};

static void add_held(struct report *report, struct slice group, uint32_t count)
{
    uint32_t i = 0;
    while (i < report->held_count && !slice_equal(report->held[i].group, group))
        i++;
    if (i == report->held_count) {
        report->held = arena_grow(report->solver->arena, report->held, report->held_count,
                                  &report->held_capacity, sizeof(*report->held));
        report->held[report->held_count++] = (struct held){group, 0};
    }
    report->held[i].count += count;
}

/* The number of a unit's needs for which missing traits are reported; hosts that lack traits for
 * other needs are counted under capacity. */
enum { NEEDS_WITH_TRAITS_MAX = 64 };

/* Removes the hosts that lack traits: those that, with unlimited room, could serve the unit's needs
 * without the traits but not with them. */
static bool drop_without_traits(struct report *report, uint64_t *hosts)
{
    struct solver *solver = report->solver;
    const struct unit *unit = &solver->units.unit[report->unit];
    uint32_t words = solver->hosts.words;
    uint64_t *requested = bits_create(solver->arena, solver->needs.count);
    uint64_t *with = bits_create(solver->arena, solver->hosts.count);
    uint64_t *without = bits_create(solver->arena, solver->hosts.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < unit->placed_count && count < NEEDS_WITH_TRAITS_MAX; i++) {
        uint32_t n = solver->needs.of_server[unit->placed[i]];
        const struct need *need = &solver->needs.need[n];
        if (need->like->required.count + need->like->forbidden.count == 0 || bits_has(requested, n))
            continue;
        bits_add(requested, n);
        count++;
        memset(with, 0, words * sizeof(*with));
        memset(without, 0, words * sizeof(*without));
        if (!needs_search_roomy(solver->version, &solver->hosts, &solver->headrooms, need, true,
                                solver->budget, with) ||
            !needs_search_roomy(solver->version, &solver->hosts, &solver->headrooms, need, false,
                                solver->budget, without))
            return false;
        for (uint32_t w = 0; w < solver->hosts.words; w++)
            hosts[w] &= with[w] | ~without[w];
    }
    return true;
}

static void count_held(struct report *report, const uint64_t *before, const uint64_t *after)
{
    const struct solver *solver = report->solver;
    BITS_EACH(host, before, solver->hosts.words)
    {
        if (!bits_has(after, host))
            add_held(report,
                     record_text(&solver->hosts.claims[host].group->record, VALET_GROUP_NAME), 1);
    }
}

static bool count_filters(struct report *report)
{
    struct solver *solver = report->solver;
    uint32_t words = solver->hosts.words;
    uint64_t *hosts = bits_create(solver->arena, solver->hosts.count);
    uint64_t *before = bits_create(solver->arena, solver->hosts.count);
    for (uint32_t host = 0; host < solver->hosts.count; host++)
        bits_add(hosts, host);
    for (enum filter filter = 0; filter < FILTER_COUNT; filter++) {
        memcpy(before, hosts, words * sizeof(*hosts));
        domain_filter(solver, report->unit, filter, hosts);
        if (filter == FILTER_TRAITS && !drop_without_traits(report, hosts))
            return false;
        if (filter == FILTER_HELD)
            count_held(report, before, hosts);
        report->counts[filter] += bits_count(before, words) - bits_count(hosts, words);
    }
    return true;
}

static void add_count(struct buf *text, bool *is_first, uint32_t count, const char *words)
{
    buf_append_slice(text, *is_first ? SLICE_LIT(": ") : SLICE_LIT(", "));
    *is_first = false;
    buf_append_int(text, count);
    buf_append_char(text, ' ');
    buf_append_slice(text, slice_of(words));
}

static void add_quoted(struct buf *text, struct slice name)
{
    buf_append_lit(text, " '");
    buf_append_slice(text, name);
    buf_append_char(text, '\'');
}

static int compare_held(const void *left, const void *right)
{
    const struct held *a = left;
    const struct held *b = right;
    return slice_compare(&a->group, &b->group);
}

static void add_counts(struct report *report, struct buf *text, bool *is_first)
{
    const struct units *units = &report->solver->units;
    uint32_t exclusive = units->unit[report->unit].exclusive;
    if (report->held_count > 1)
        qsort(report->held, report->held_count, sizeof(*report->held), compare_held);
    for (enum filter filter = 0; filter < FILTER_COUNT; filter++) {
        for (uint32_t i = 0; filter == FILTER_HELD && i < report->held_count; i++) {
            add_count(text, is_first, report->held[i].count, FILTER_WORDS[filter]);
            add_quoted(text, report->held[i].group);
        }
        if (filter == FILTER_HELD || report->counts[filter] == 0)
            continue;
        add_count(text, is_first, report->counts[filter], FILTER_WORDS[filter]);
        if (filter == FILTER_NOT_FREE)
            add_quoted(text, units->exclusives[exclusive].name);
    }
}

static void begin_server(struct buf *text, struct slice what, const struct stack_server *server,
                         uint32_t hosts)
{
    buf_append_lit(text, "Valet error: ");
    buf_append_slice(text, what);
    add_quoted(text, server->name);
    buf_append_lit(text, " (");
    buf_append_slice(text, server->orchestration_id);
    buf_append_lit(text, "): ");
    buf_append_int(text, hosts);
    buf_append_slice(text,
                     hosts == 1 ? SLICE_LIT(" host considered") : SLICE_LIT(" hosts considered"));
}

static void report_begin(const struct report *report, struct buf *text, struct slice what)
{
    const struct solver *solver = report->solver;
    uint32_t first = solver->units.unit[report->unit].placed[0];
    begin_server(text, what, &solver->stack->servers[first], solver->hosts.count);
}

static struct slice finish(const struct solver *solver, struct buf *text)
{
    struct slice reason = arena_copy(solver->arena, buf_slice(text));
    buf_free(text);
    return reason;
}

bool report_no_host(struct solver *solver, uint32_t unit, struct slice *reason)
{
    struct report report = {.solver = solver, .unit = unit};
    if (!count_filters(&report))
        return false;
    struct buf text = {0};
    bool is_first = true;
    report_begin(&report, &text, SLICE_LIT("no host for"));
    add_counts(&report, &text, &is_first);
    *reason = finish(solver, &text);
    return true;
}

bool report_no_combination(struct search *search, struct slice *reason)
{
    struct solver *solver = search->solver;
    const struct stuck *stuck = &search->stuck;
    struct report report = {.solver = solver, .unit = stuck->unit};
    state_undo(search, 0);
    if (!count_filters(&report))
        return false;
    for (enum filter filter = 0; filter < FILTER_COUNT; filter++)
        report.counts[filter] += stuck->counts[filter];
    for (uint32_t i = 0; i < solver->units.exclusive_count; i++)
        if (stuck->held[i] > 0)
            add_held(&report, solver->units.exclusives[i].name, stuck->held[i]);
    struct buf text = {0};
    bool is_first = true;
    report_begin(&report, &text, SLICE_LIT("no combination of hosts for"));
    add_counts(&report, &text, &is_first);
    if (stuck->left > 0 && stuck->apart == UNITS_NONE)
        add_count(&text, &is_first, stuck->left, "tried in vain");
    if (stuck->left > 0 && stuck->apart != UNITS_NONE) {
        add_count(&text, &is_first, stuck->left, "too few for all of diversity group");
        add_quoted(&text, solver->stack->groups[solver->units.apart[stuck->apart].group].name);
    }
    *reason = finish(solver, &text);
    return true;
}

struct slice report_keep_in_place(const struct solver *solver, uint32_t server, enum filter filter,
                                  struct slice group)
{
    struct buf text = {0};
    bool is_first = true;
    begin_server(&text, SLICE_LIT("no host for"), &solver->stack->servers[server], 1);
    add_count(&text, &is_first, 1, FILTER_WORDS[filter]);
    if (group.data != NULL)
        add_quoted(&text, group);
    return finish(solver, &text);
}

struct slice report_limit(const struct search *search)
{
    const struct solver *solver = search->solver;
    struct buf text = {0};
    buf_append_lit(&text, "Valet error: search limit of ");
    buf_append_int(&text, solver->request->step_limit);
    buf_append_lit(&text, " steps reached at");
    add_quoted(&text,
               solver->stack->servers[solver->units.unit[search->stuck.unit].placed[0]].name);
    return finish(solver, &text);
}
