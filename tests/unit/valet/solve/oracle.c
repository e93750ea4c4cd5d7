/* The oracle. */
#include "oracle.h"

#include "view.h"

#include <stdio.h>

#include "unit.h"

enum { NODES_MAX = 300000, OPTIONS_MAX = 400 };

struct choice {
    int host; /* -1: none yet */
    int providers[CLOUD_CLASSES];
};

static int root_of(const struct cloud *cloud, int provider)
{
    while (cloud->providers[provider].parent >= 0)
        provider = cloud->providers[provider].parent;
    return provider;
}

static bool has(const struct cloud *cloud, int provider, int trait)
{
    return cloud->providers[provider].traits >> trait & 1;
}

bool oracle_is_host(const struct cloud *cloud, int provider)
{
    return cloud->providers[provider].parent < 0 && !has(cloud, provider, TRAIT_SHARES) &&
           !has(cloud, provider, TRAIT_RACK) && !has(cloud, provider, TRAIT_ZONE);
}

static uint64_t plain_aggregates(const struct cloud *cloud, int provider)
{
    uint64_t mask = cloud->no_groups ? ~(uint64_t)0 : CLOUD_BIT(GROUP_AGGREGATE) - 1;
    return cloud->providers[provider].aggregates & mask;
}

static bool marks(const struct cloud *cloud, int mark, int trait)
{
    if (!has(cloud, mark, trait) || plain_aggregates(cloud, mark) == 0)
        return false;
    for (int c = 0; c < CLOUD_CLASSES; c++)
        if (cloud->providers[mark].inventory[c].total > 0)
            return false;
    return true;
}

static bool is_in(const struct cloud *cloud, int mark, int trait, int host)
{
    return mark >= 0 && marks(cloud, mark, trait) && oracle_is_host(cloud, host) &&
           (plain_aggregates(cloud, mark) & plain_aggregates(cloud, host)) != 0;
}

/* The rack of a host that is in exactly one; -1: in none or in several. */
static int rack_of(const struct cloud *cloud, int host)
{
    int found = -1;
    int count = 0;
    for (int rack = 0; rack < cloud->provider_count; rack++)
        if (is_in(cloud, rack, TRAIT_RACK, host)) {
            found = rack;
            count++;
        }
    return count == 1 ? found : -1;
}

static bool share_rack(const struct cloud *cloud, int a, int b)
{
    for (int rack = 0; rack < cloud->provider_count; rack++)
        if (is_in(cloud, rack, TRAIT_RACK, a) && is_in(cloud, rack, TRAIT_RACK, b))
            return true;
    return false;
}

static bool is_released(const struct plan *plan, int consumer)
{
    for (uint32_t s = 0; s < plan->stack.server_count; s++)
        if (plan->pins[s].kind == SOLVE_PLACE && plan->released[s] == consumer)
            return true;
    return plan->dropped_at == consumer;
}

static int used(const struct cloud *cloud, const struct plan *plan, int provider, int class_at)
{
    int sum = 0;
    for (int i = 0; i < cloud->consumer_count; i++)
        if (cloud->consumers[i].provider == provider && !is_released(plan, i))
            sum += cloud->consumers[i].amounts[class_at];
    return sum;
}

static bool has_non_member(const struct cloud *cloud, const struct plan *plan, int host)
{
    for (int i = 0; i < cloud->consumer_count; i++)
        if (root_of(cloud, cloud->consumers[i].provider) == host && !is_released(plan, i) &&
            cloud->consumers[i].project == NON_MEMBER)
            return true;
    return false;
}

static bool is_claimed(const struct cloud *cloud, int host, int group)
{
    if (cloud->no_groups)
        return false;
    int rack = cloud->rack_claims[group] - 1;
    return (cloud->providers[host].aggregates >> (GROUP_AGGREGATE + group) & 1) != 0 ||
           (rack >= 0 && is_in(cloud, rack, TRAIT_RACK, host));
}

static bool is_claimed_by_another(const struct cloud *cloud, int host, int group)
{
    for (int other = 0; other < CLOUD_GROUPS; other++)
        if (other != group && is_claimed(cloud, host, other))
            return true;
    return false;
}

/* Only the group claims it, and no non-member is there. */
static bool is_own(const struct cloud *cloud, const struct plan *plan, int host, int group)
{
    return is_claimed(cloud, host, group) && !is_claimed_by_another(cloud, host, group) &&
           !has_non_member(cloud, plan, host);
}

/* Whether a server of the plan that is assigned to the group has it. */
static bool is_owned(const struct plan *plan, const struct view *view, int consumer, int group)
{
    for (uint32_t s = 0; s < view->count; s++)
        if (plan->owned[s] == consumer && !view->absent[s] && view_group(view, s) == group)
            return true;
    return false;
}

/* 8.3, for servers of the plan that are assigned to the group. */
static bool is_free(const struct cloud *cloud, const struct plan *plan, const struct view *view,
                    int host, int group)
{
    for (int i = 0; i < cloud->consumer_count; i++)
        if (root_of(cloud, cloud->consumers[i].provider) == host && !is_released(plan, i) &&
            (cloud->consumers[i].project == NON_MEMBER || !is_owned(plan, view, i, group)))
            return false;
    return !is_claimed_by_another(cloud, host, -1) && !has(cloud, host, TRAIT_DISABLED);
}

static int fixed_host(const struct plan *plan, uint32_t server)
{
    return (int)plan->pins[server].present->id - 1;
}

static bool is_standing(const struct plan *plan, const struct view *view, uint32_t server)
{
    return plan->pins[server].kind == SOLVE_FIXED && !view->absent[server];
}

/* --- one server */

static int amount_of(const struct stack_server *server, int class_at)
{
    for (uint32_t i = 0; i < server->amount_count; i++)
        if (slice_equal(server->amounts[i].class_name, slice_of(cloud_class_name(class_at))))
            return (int)server->amounts[i].amount;
    return 0;
}

static bool is_listed(const struct stack_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (slice_equal(names->names[i], slice_of(name)))
            return true;
    return false;
}

static bool allows(const struct stack_names *names, const char *name)
{
    return names->count == 0 || is_listed(names, name);
}

static bool zone_holds(const struct cloud *cloud, const struct plan *plan, uint32_t server,
                       int host)
{
    struct slice zone = plan->servers[server].zone;
    bool in_any = false;
    bool in_it = false;
    for (int mark = 0; mark < cloud->provider_count; mark++)
        if (is_in(cloud, mark, TRAIT_ZONE, host)) {
            in_any = true;
            in_it = in_it ||
                    (zone.data != NULL && slice_equal(zone, slice_of(cloud->providers[mark].name)));
        }
    return zone.data == NULL || in_it || (!in_any && slice_equal(zone, plan->request.default_zone));
}

static bool serves(const struct cloud *cloud, int host, int provider)
{
    if (root_of(cloud, provider) == host)
        return true;
    if (!has(cloud, provider, TRAIT_SHARES))
        return false;
    for (int p = 0; p < cloud->provider_count; p++)
        if (root_of(cloud, p) == host &&
            (cloud->providers[p].aggregates & cloud->providers[provider].aggregates) != 0)
            return true;
    return false;
}

/* Whether one provider can hold all of it; `roomy`: if it were otherwise empty. */
static bool gives(const struct cloud *cloud, const struct plan *plan, int provider, int class_at,
                  int amount, bool roomy)
{
    const struct cloud_inventory *inventory = &cloud->providers[provider].inventory[class_at];
    if (inventory->total == 0)
        return false;
    bool is_odd = inventory->min_unit != 1 || inventory->step_size != 1;
    bool unit_fits = amount >= inventory->min_unit && amount <= inventory->max_unit &&
                     amount % inventory->step_size == 0;
    if (roomy)
        return !is_odd || unit_fits;
    return unit_fits && used(cloud, plan, provider, class_at) + amount <= inventory->total;
}

static bool traits_hold(const struct cloud *cloud, const struct stack_server *server,
                        const struct choice *choice)
{
    for (int t = 0; t < CLOUD_TRAITS; t++) {
        bool found = false;
        for (int c = 0; c < CLOUD_CLASSES; c++)
            found = found || (choice->providers[c] >= 0 && has(cloud, choice->providers[c], t));
        if ((found && is_listed(&server->forbidden, cloud_trait_name(t))) ||
            (!found && is_listed(&server->required, cloud_trait_name(t))))
            return false;
    }
    return true;
}

static bool is_candidate(const struct cloud *cloud, const struct plan *plan, uint32_t server,
                         const struct choice *choice, bool roomy)
{
    bool own = false;
    for (int c = 0; c < CLOUD_CLASSES; c++) {
        int amount = amount_of(&plan->servers[server], c);
        int provider = choice->providers[c];
        if ((amount > 0) != (provider >= 0))
            return false;
        if (amount == 0)
            continue;
        if (!serves(cloud, choice->host, provider) ||
            !gives(cloud, plan, provider, c, amount, roomy))
            return false;
        own = own || !has(cloud, provider, TRAIT_SHARES);
    }
    return own;
}

typedef bool visit_candidate(void *cls, const struct choice *choice);

/* Every way to take the classes from providers, until a visit returns false. */
static bool each_choice(const struct cloud *cloud, const struct plan *plan, uint32_t server,
                        int class_at, struct choice *choice, visit_candidate *visit, void *cls)
{
    if (class_at == CLOUD_CLASSES)
        return visit(cls, choice);
    choice->providers[class_at] = -1;
    if (amount_of(&plan->servers[server], class_at) == 0)
        return each_choice(cloud, plan, server, class_at + 1, choice, visit, cls);
    for (int p = 0; p < cloud->provider_count; p++) {
        choice->providers[class_at] = p;
        if (cloud->providers[p].inventory[class_at].total > 0 && serves(cloud, choice->host, p) &&
            !each_choice(cloud, plan, server, class_at + 1, choice, visit, cls))
            return false;
    }
    return true;
}

static bool host_holds(const struct cloud *cloud, const struct plan *plan, uint32_t server,
                       int host)
{
    const char *name = cloud->providers[host].name;
    const struct solve_pin *pin = &plan->pins[server];
    return oracle_is_host(cloud, host) && !has(cloud, host, TRAIT_DISABLED) &&
           allows(&plan->stack.locations, name) && allows(&pin->locations, name) &&
           allows(&plan->servers[server].locations, name) && !is_listed(&pin->excluded, name) &&
           zone_holds(cloud, plan, server, host);
}

/* --- all servers */

static bool pair_holds(const struct cloud *cloud, const struct view *view, uint32_t a, int at_a,
                       uint32_t b, int at_b)
{
    bool same_rack = rack_of(cloud, at_a) >= 0 && rack_of(cloud, at_a) == rack_of(cloud, at_b);
    if (view->together[STACK_HOST][a][b] && at_a != at_b)
        return false;
    if (view->together[STACK_RACK][a][b] && at_a != at_b && !same_rack)
        return false;
    if ((view->apart[STACK_HOST][a][b] || view->apart[STACK_RACK][a][b]) && at_a == at_b)
        return false;
    return !view->apart[STACK_RACK][a][b] || !share_rack(cloud, at_a, at_b);
}

static bool pairs_hold(const struct cloud *cloud, const struct plan *plan, const struct view *view,
                       const struct choice *choices, uint32_t a)
{
    for (uint32_t b = 0; b < view->count; b++) {
        bool is_fixed = plan->pins[b].kind == SOLVE_FIXED && !view->absent[b];
        int at = is_fixed ? fixed_host(plan, b) : choices[b].host;
        if (a != b && at >= 0 && !pair_holds(cloud, view, a, choices[a].host, b, at))
            return false;
    }
    return true;
}

/* Whether the plan has a server on the host that is not assigned to the group. */
static bool has_foreign(const struct view *view, const struct choice *choices, int host, int group)
{
    for (uint32_t s = 0; s < view->count; s++)
        if (choices[s].host == host && view_group(view, s) != group)
            return true;
    return false;
}

/* Whether a server that stays claims the host, or its rack, for another group from now on. */
static bool is_taken(const struct cloud *cloud, const struct plan *plan, const struct view *view,
                     int host, int group)
{
    struct anew anew = view_anew(plan);
    for (uint32_t s = 0; s < view->count; s++) {
        int other = view_group(view, s);
        if (!is_standing(plan, view, s) || !anew.exclusive[s] || other < 0 || other == group)
            continue;
        int at = fixed_host(plan, s);
        if (at == host || (view->assigned[STACK_RACK][s][other] &&
                           is_in(cloud, rack_of(cloud, at), TRAIT_RACK, host)))
            return true;
    }
    return false;
}

static bool rack_holds(const struct cloud *cloud, const struct plan *plan, const struct view *view,
                       const struct choice *choices, int rack, int group)
{
    for (int host = 0; host < cloud->provider_count; host++) {
        if (!oracle_is_host(cloud, host) || !is_in(cloud, rack, TRAIT_RACK, host))
            continue;
        if (!is_own(cloud, plan, host, group) && !is_free(cloud, plan, view, host, group))
            return false;
        if (has_foreign(view, choices, host, group) || is_taken(cloud, plan, view, host, group))
            return false;
        for (uint32_t s = 0; s < view->count; s++) /* a rack of another group has it too */
            if (choices[s].host >= 0 && view_group(view, s) >= 0 && view_group(view, s) != group &&
                view->assigned[STACK_RACK][s][view_group(view, s)] &&
                is_in(cloud, rack_of(cloud, choices[s].host), TRAIT_RACK, host))
                return false;
    }
    return true;
}

static bool exclusivity_holds(const struct cloud *cloud, const struct plan *plan,
                              const struct view *view, const struct choice *choices, uint32_t s)
{
    int host = choices[s].host;
    int group = view_group(view, s);
    if (is_taken(cloud, plan, view, host, group))
        return false;
    if (group < 0)
        return !is_claimed_by_another(cloud, host, -1);
    if (!is_own(cloud, plan, host, group) && !is_free(cloud, plan, view, host, group))
        return false;
    if (has_foreign(view, choices, host, group))
        return false;
    return !view->assigned[STACK_RACK][s][group] ||
           (rack_of(cloud, host) >= 0 &&
            rack_holds(cloud, plan, view, choices, rack_of(cloud, host), group));
}

static bool headroom_holds(const struct cloud *cloud, const struct plan *plan,
                           const struct choice *choices, uint32_t s)
{
    for (int c = 0; c < CLOUD_CLASSES; c++) {
        int provider = choices[s].providers[c];
        if (provider < 0)
            continue;
        int sum = used(cloud, plan, provider, c);
        for (uint32_t other = 0; other < plan->stack.server_count; other++)
            if (choices[other].host >= 0 && choices[other].providers[c] == provider)
                sum += amount_of(&plan->servers[other], c);
        if (sum > cloud->providers[provider].inventory[c].total)
            return false;
    }
    return true;
}

/* Whether the choices so far are valid; a violated rule stays violated with any further choices. */
static bool all_holds(const struct cloud *cloud, const struct plan *plan, const struct view *view,
                      const struct choice *choices)
{
    for (uint32_t s = 0; s < view->count; s++) {
        if (choices[s].host < 0)
            continue;
        if ((view->needs_rack[s] && rack_of(cloud, choices[s].host) < 0) ||
            !pairs_hold(cloud, plan, view, choices, s) ||
            !headroom_holds(cloud, plan, choices, s) ||
            !exclusivity_holds(cloud, plan, view, choices, s))
            return false;
    }
    return true;
}

/* --- servers that stay */

/* The new conditions that apply to the server where it stays. */
static bool stands(const struct cloud *cloud, const struct plan *plan, const struct view *view,
                   const struct anew *anew, uint32_t s)
{
    struct choice none[ORACLE_SERVERS_MAX];
    int host = fixed_host(plan, s);
    if ((anew->locations[s] && !allows(&plan->servers[s].locations, cloud->providers[host].name)) ||
        (anew->zone[s] && !zone_holds(cloud, plan, s, host)) ||
        (anew->view.needs_rack[s] && rack_of(cloud, host) < 0))
        return false;
    for (uint32_t b = 0; b < view->count; b++)
        if (b != s && is_standing(plan, view, b) &&
            !pair_holds(cloud, &anew->view, s, host, b, fixed_host(plan, b)))
            return false;
    for (int i = 0; i < ORACLE_SERVERS_MAX; i++)
        none[i].host = -1;
    none[s].host = host;
    return !anew->exclusive[s] || exclusivity_holds(cloud, plan, view, none, s);
}

static bool all_stand(const struct cloud *cloud, const struct plan *plan, const struct view *view)
{
    struct anew anew = view_anew(plan);
    for (uint32_t s = 0; plan->accepted != NULL && s < view->count; s++)
        if (is_standing(plan, view, s) && !stands(cloud, plan, view, &anew, s))
            return false;
    return true;
}

struct options {
    const struct cloud *cloud;
    const struct plan *plan;
    uint32_t server;
    struct choice list[OPTIONS_MAX];
    int count;
};

static bool add_option(void *cls, const struct choice *choice)
{
    struct options *options = cls;
    if (is_candidate(options->cloud, options->plan, options->server, choice, false) &&
        traits_hold(options->cloud, &options->plan->servers[options->server], choice)) {
        assert_true(options->count < OPTIONS_MAX);
        options->list[options->count++] = *choice;
    }
    return true;
}

struct trial {
    const struct cloud *cloud;
    const struct plan *plan;
    struct view view;
    struct options options[ORACLE_SERVERS_MAX];
    struct choice choices[ORACLE_SERVERS_MAX];
    long nodes;
};

static enum oracle_verdict try_server(struct trial *trial, uint32_t server)
{
    if (server == trial->view.count)
        return ORACLE_FOUND;
    if (trial->plan->pins[server].kind != SOLVE_PLACE)
        return try_server(trial, server + 1);
    for (int i = 0; i < trial->options[server].count; i++) {
        if (++trial->nodes > NODES_MAX)
            return ORACLE_TOO_LARGE;
        trial->choices[server] = trial->options[server].list[i];
        if (!all_holds(trial->cloud, trial->plan, &trial->view, trial->choices))
            continue;
        enum oracle_verdict verdict = try_server(trial, server + 1);
        if (verdict != ORACLE_NONE)
            return verdict;
    }
    trial->choices[server].host = -1;
    return ORACLE_NONE;
}

static void clear_choices(struct choice *choices)
{
    for (int s = 0; s < ORACLE_SERVERS_MAX; s++)
        choices[s] = (struct choice){-1, {-1, -1, -1}};
}

enum oracle_verdict oracle_solve(const struct cloud *cloud, const struct plan *plan)
{
    struct trial *trial = arena_zalloc(plan->arena, sizeof(*trial));
    trial->cloud = cloud;
    trial->plan = plan;
    trial->view = view_of(plan);
    if (trial->view.contradicts || !all_stand(cloud, plan, &trial->view))
        return ORACLE_NONE;
    clear_choices(trial->choices);
    for (uint32_t s = 0; s < trial->view.count; s++) {
        struct options *options = &trial->options[s];
        *options = (struct options){.cloud = cloud, .plan = plan, .server = s};
        for (int host = 0; host < cloud->provider_count; host++) {
            struct choice choice = {host, {-1, -1, -1}};
            if (plan->pins[s].kind == SOLVE_PLACE && host_holds(cloud, plan, s, host))
                each_choice(cloud, plan, s, 0, &choice, add_option, options);
        }
    }
    return try_server(trial, 0);
}

/* --- the result */

static struct choice choice_of(const struct cloud *cloud, const struct plan *plan, uint32_t s)
{
    const struct solve_server *server = &plan->outcome.servers[s];
    struct choice choice = {-1, {-1, -1, -1}};
    if (plan->pins[s].kind != SOLVE_PLACE) {
        assert_null(server->host);
        return choice;
    }
    assert_non_null(server->host);
    choice.host = (int)server->host->id - 1;
    for (uint32_t i = 0; i < server->row_count; i++) {
        struct slice name =
            catalog_name(catalog_row_at(&cloud->version->classes, server->rows[i].class_no.v));
        for (int c = 0; c < CLOUD_CLASSES; c++) {
            if (!slice_equal(name, slice_of(cloud_class_name(c))))
                continue;
            assert_int_equal(choice.providers[c], -1);
            assert_int_equal(server->rows[i].amount, amount_of(&plan->servers[s], c));
            choice.providers[c] = (int)server->rows[i].provider->id - 1;
        }
    }
    return choice;
}

static bool is_reported(const struct plan *plan, int group, int provider, bool is_rack)
{
    int count = 0;
    for (uint32_t i = 0; i < plan->outcome.claim_count; i++) {
        const struct solve_claim *claim = &plan->outcome.claims[i];
        count += claim->is_rack == is_rack && claim->provider->id == provider + 1 &&
                 claim->group->record.id == group + 1;
    }
    assert_true(count <= 1);
    return count == 1;
}

/* Marks the claims to be made; each must be reported. Returns their number. */
static uint32_t expect_claims(const struct cloud *cloud, const struct plan *plan,
                              const struct view *view, const struct choice *choices)
{
    bool claimed[CLOUD_PROVIDERS_MAX] = {false};
    struct anew anew = view_anew(plan);
    uint32_t count = 0;
    for (int level = STACK_RACK; level >= STACK_HOST; level--)
        for (uint32_t s = 0; s < view->count; s++) {
            int group = view_group(view, s);
            bool stays = is_standing(plan, view, s) && anew.exclusive[s];
            int host = stays ? fixed_host(plan, s) : choices[s].host;
            if (host < 0 || group < 0 || (level == STACK_HOST && view->assigned[1][s][group]) ||
                (level == STACK_RACK && !view->assigned[1][s][group]))
                continue;
            int at = level == STACK_RACK ? rack_of(cloud, host) : host;
            bool is_there = level == STACK_RACK ? cloud->rack_claims[group] == at + 1
                                                : is_claimed(cloud, host, group);
            for (int rack = 0; rack < cloud->provider_count && level == STACK_HOST; rack++)
                is_there = is_there || (claimed[rack] && is_in(cloud, rack, TRAIT_RACK, host));
            if (is_there || claimed[at])
                continue;
            claimed[at] = true;
            count++;
            assert_true(is_reported(plan, group, at, level == STACK_RACK));
        }
    return count;
}

static void check_claim(const struct cloud *cloud, const struct solve_claim *claim)
{
    uint32_t count = 0;
    int provider = (int)claim->provider->id - 1;
    for (int host = 0; host < cloud->provider_count; host++) {
        bool is_meant =
            claim->is_rack ? oracle_is_host(cloud, host) && is_in(cloud, provider, TRAIT_RACK, host)
                           : host == provider;
        count += is_meant;
        bool is_there = false;
        for (uint32_t i = 0; i < claim->host_count; i++)
            is_there = is_there || claim->hosts[i]->id == host + 1;
        assert_int_equal(is_there, is_meant);
    }
    assert_int_equal(claim->host_count, count);
}

void oracle_check_found(const struct cloud *cloud, const struct plan *plan)
{
    struct choice choices[ORACLE_SERVERS_MAX];
    struct view view = view_of(plan);
    clear_choices(choices);
    assert_false(view.contradicts);
    for (uint32_t s = 0; s < view.count; s++) {
        choices[s] = choice_of(cloud, plan, s);
        if (choices[s].host < 0)
            continue;
        assert_true(host_holds(cloud, plan, s, choices[s].host));
        assert_true(is_candidate(cloud, plan, s, &choices[s], false));
        assert_true(traits_hold(cloud, &plan->servers[s], &choices[s]));
    }
    assert_true(all_stand(cloud, plan, &view));
    assert_true(all_holds(cloud, plan, &view, choices));
    assert_int_equal(expect_claims(cloud, plan, &view, choices), plan->outcome.claim_count);
    for (uint32_t i = 0; i < plan->outcome.claim_count; i++)
        check_claim(cloud, &plan->outcome.claims[i]);
}

/* --- why not */

const char *const ORACLE_WORDS[] = {
    "not in locations",
    "excluded",
    "disabled",
    "in another zone",
    "without traits",
    "without rack",
    "without capacity",
    "held by exclusivity group",
    "not free for exclusivity group",
};

struct ways {
    const struct cloud *cloud;
    const struct plan *plan;
    uint32_t server;
    bool roomy, roomy_with_traits, real;
};

static bool see_way(void *cls, const struct choice *choice)
{
    struct ways *ways = cls;
    bool traits = traits_hold(ways->cloud, &ways->plan->servers[ways->server], choice);
    bool roomy = is_candidate(ways->cloud, ways->plan, ways->server, choice, true);
    ways->roomy = ways->roomy || roomy;
    ways->roomy_with_traits = ways->roomy_with_traits || (roomy && traits);
    ways->real = ways->real ||
                 (traits && is_candidate(ways->cloud, ways->plan, ways->server, choice, false));
    return true;
}

int oracle_why(const struct cloud *cloud, const struct plan *plan, uint32_t server, int host)
{
    const char *name = cloud->providers[host].name;
    const struct solve_pin *pin = &plan->pins[server];
    struct view view = view_of(plan);
    struct choice none[ORACLE_SERVERS_MAX];
    struct choice choice = {host, {-1, -1, -1}};
    struct ways ways = {.cloud = cloud, .plan = plan, .server = server};
    int group = view_group(&view, server);
    each_choice(cloud, plan, server, 0, &choice, see_way, &ways);
    if (!allows(&plan->stack.locations, name) || !allows(&pin->locations, name) ||
        !allows(&plan->servers[server].locations, name))
        return 0;
    if (is_listed(&pin->excluded, name))
        return 1;
    if (has(cloud, host, TRAIT_DISABLED))
        return 2;
    if (!zone_holds(cloud, plan, server, host))
        return 3;
    if (ways.roomy && !ways.roomy_with_traits)
        return 4;
    if (view.needs_rack[server] && rack_of(cloud, host) < 0)
        return 5;
    if (!ways.real)
        return 6;
    if (is_claimed_by_another(cloud, host, group) || is_taken(cloud, plan, &view, host, group))
        return 7;
    clear_choices(none);
    none[server].host = host;
    return exclusivity_holds(cloud, plan, &view, none, server) ? -1 : 8;
}
