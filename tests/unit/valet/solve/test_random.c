/* The planner against the oracle, on random small clouds and stacks. */
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"
#include "rounds.h"
#include "unit.h"
#include "view.h"

enum { ROUNDS = ROUNDS_OF(1500) };

static unsigned below(unsigned n)
{
    return (unsigned)random() % n;
}

static bool one_in(unsigned n)
{
    return below(n) == 0;
}

/* --- clouds */

enum { RACKS_MAX = 3, RACK_AGGREGATE = 0, ZONE_AGGREGATE = 3, SHARING_AGGREGATE = 5 };

/* The properties of a round. */
struct kind {
    bool mild;    /* few obstacles besides capacity and groups */
    bool uniform; /* hosts are alike, so that many are interchangeable */
    bool nested;
    bool sharing;
    bool standing; /* many servers stay */
};

static void random_inventory(struct cloud *cloud, const struct kind *kind, int provider,
                             bool always)
{
    for (int c = 0; c < CLOUD_CLASSES; c++) {
        if (!always && one_in(2))
            continue;
        if (kind->uniform) {
            cloud_give(cloud, provider, c, 4);
            continue;
        }
        int total = 1 + (int)below(8);
        cloud->providers[provider].inventory[c] = (struct cloud_inventory){
            .total = total,
            .min_unit = one_in(12) ? 2 : 1,
            .max_unit = one_in(6) ? 1 + (int)below(3) : total,
            .step_size = one_in(12) ? 2 : 1,
        };
    }
}

static void random_traits(struct cloud *cloud, int provider)
{
    if (one_in(3))
        cloud->providers[provider].traits |= 1u << TRAIT_FAST;
    if (one_in(5))
        cloud->providers[provider].traits |= 1u << TRAIT_OLD;
}

static void random_host(struct cloud *cloud, const struct kind *kind, unsigned at, unsigned racks)
{
    bool nested = kind->nested;
    bool sharing = kind->sharing;
    char name[16];
    snprintf(name, sizeof(name), "h%u", (at * 7 + 3) % 10);
    int host = cloud_add(cloud, name, -1);
    struct cloud_provider *provider = &cloud->providers[host];
    if (racks > 0 && !one_in(8))
        provider->aggregates |= CLOUD_BIT(RACK_AGGREGATE + below(racks));
    if (racks > 1 && one_in(12))
        provider->aggregates |= CLOUD_BIT(RACK_AGGREGATE + below(racks));
    if (!kind->mild && one_in(3))
        provider->aggregates |= CLOUD_BIT(ZONE_AGGREGATE + below(2));
    if (sharing && !one_in(3))
        provider->aggregates |= CLOUD_BIT(SHARING_AGGREGATE);
    for (int group = 0; group < CLOUD_GROUPS; group++)
        if (one_in(kind->mild ? 15 : 7))
            provider->aggregates |= CLOUD_BIT(GROUP_AGGREGATE + group);
    if (one_in(kind->mild ? 30 : 10))
        provider->traits |= 1u << TRAIT_DISABLED;
    random_traits(cloud, host);
    random_inventory(cloud, kind, host, !nested && !sharing);
    for (unsigned i = nested ? below(3) : 0; i > 0; i--) {
        snprintf(name, sizeof(name), "h%u_%u", (at * 7 + 3) % 10, i);
        int child = cloud_add(cloud, name, one_in(3) ? cloud->provider_count - 1 : host);
        random_traits(cloud, child);
        random_inventory(cloud, kind, child, false);
        if (sharing && one_in(8)) {
            cloud->providers[child].traits |= 1u << TRAIT_SHARES;
            cloud->providers[child].aggregates |= CLOUD_BIT(SHARING_AGGREGATE);
        }
    }
}

static void random_marks(struct cloud *cloud, unsigned racks)
{
    char name[16];
    for (unsigned i = 0; i < racks; i++) {
        snprintf(name, sizeof(name), "r%u", i);
        int rack = cloud_add_rack(cloud, name, RACK_AGGREGATE + (int)i);
        if (one_in(20))
            cloud_give(cloud, rack, 0, 4); /* so that it is none */
        if (one_in(10))
            cloud->providers[rack].aggregates |= CLOUD_BIT(GROUP_AGGREGATE);
        if (one_in(6))
            cloud->rack_claims[below(CLOUD_GROUPS)] = rack + 1;
    }
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "z%u", i);
        int zone = cloud_add(cloud, name, -1);
        cloud->providers[zone].traits = 1u << TRAIT_ZONE;
        cloud->providers[zone].aggregates = CLOUD_BIT(ZONE_AGGREGATE + i);
    }
}

static void random_use(struct cloud *cloud, const struct kind *kind)
{
    for (unsigned i = below(5) + (kind->standing ? 6 : 0); i > 0; i--) {
        int provider = (int)below((unsigned)cloud->provider_count);
        int class_at = (int)below(CLOUD_CLASSES);
        const struct cloud_inventory *inventory = &cloud->providers[provider].inventory[class_at];
        if (inventory->total > inventory->used)
            cloud_use(cloud, (int)below(CLOUD_PROJECTS), provider, class_at,
                      1 + (int)below((unsigned)(inventory->total - inventory->used)));
    }
}

static struct cloud *random_cloud(const struct kind *kind)
{
    struct cloud *cloud = cloud_create();
    unsigned racks = below(RACKS_MAX + 1);
    cloud->no_groups = one_in(6);
    for (unsigned i = 2 + below(kind->uniform ? 7 : 5); i > 0; i--)
        random_host(cloud, kind, i, racks);
    random_marks(cloud, racks);
    if (kind->sharing) {
        int pool = cloud_add(cloud, "pool", -1);
        cloud->providers[pool].traits = 1u << TRAIT_SHARES;
        cloud->providers[pool].aggregates = CLOUD_BIT(SHARING_AGGREGATE);
        random_inventory(cloud, kind, pool, false);
    }
    random_use(cloud, kind);
    cloud_publish(cloud);
    return cloud;
}

/* --- stacks */

static const char *random_host_name(const struct cloud *cloud)
{
    return cloud->providers[below((unsigned)cloud->provider_count)].name;
}

static void random_names(struct plan *plan, const struct cloud *cloud, struct stack_names *names,
                         unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        plan_add_name(plan, names, one_in(9) ? "nowhere" : random_host_name(cloud));
}

/* A consumer that no other server has. */
static int random_consumer(const struct plan *plan, const struct cloud *cloud)
{
    if (cloud->consumer_count == 0)
        return -1;
    for (int tries = 0; tries < 4; tries++) {
        int consumer = (int)below((unsigned)cloud->consumer_count);
        bool is_used = false;
        for (uint32_t s = 0; s < plan->stack.server_count; s++)
            is_used = is_used || plan->released[s] == consumer || plan->owned[s] == consumer;
        if (!is_used)
            return consumer;
    }
    return -1;
}

static void random_pin(struct plan *plan, const struct cloud *cloud, const struct kind *kind,
                       uint32_t server)
{
    struct solve_pin *pin = &plan->pins[server];
    if (one_in(12))
        pin->kind = SOLVE_ABSENT;
    else if (one_in(kind->standing ? 2 : 6))
        pin->kind = SOLVE_FIXED;
    int present = (int)below((unsigned)cloud->provider_count);
    if ((pin->kind == SOLVE_FIXED || one_in(4)) && cloud->providers[present].parent < 0 &&
        !one_in(8))
        pin->present = cloud_provider_at(cloud, present);
    if (one_in(4) && (plan->released[server] = random_consumer(plan, cloud)) >= 0)
        pin->released = cloud_consumer_at(cloud, plan->released[server]);
    if (one_in(pin->kind == SOLVE_FIXED ? 1 : 3) &&
        (plan->owned[server] = random_consumer(plan, cloud)) >= 0)
        pin->own[random() % SOLVE_OWN] = cloud_consumer_at(cloud, plan->owned[server]);
    pin->keeps_place = pin->kind == SOLVE_PLACE && pin->present != NULL && !one_in(4);
    pin->changes = one_in(4);
    if (kind->mild)
        return;
    if (one_in(8))
        random_names(plan, cloud, &pin->locations, 1 + below(6));
    if (one_in(6))
        random_names(plan, cloud, &pin->excluded, 1 + below(2));
}

static int root_of(const struct cloud *cloud, int provider)
{
    while (cloud->providers[provider].parent >= 0)
        provider = cloud->providers[provider].parent;
    return provider;
}

/* A server that stays is where one of its consumers is. */
static void make_stand(struct plan *plan, const struct cloud *cloud, uint32_t server)
{
    int owned = plan->owned[server];
    if (plan->pins[server].kind == SOLVE_FIXED && owned >= 0)
        plan->pins[server].present =
            cloud_provider_at(cloud, root_of(cloud, cloud->consumers[owned].provider));
}

static bool stands(const struct plan *plan, const struct cloud *cloud, uint32_t server)
{
    const struct solve_pin *pin = &plan->pins[server];
    int owned = plan->owned[server];
    if (pin->kind != SOLVE_FIXED || pin->present == NULL)
        return true;
    if (owned < 0)
        return false;
    int root = root_of(cloud, cloud->consumers[owned].provider);
    return oracle_is_host(cloud, root) && pin->present == cloud_provider_at(cloud, root);
}

static void random_server(struct plan *plan, const struct cloud *cloud, const struct kind *kind)
{
    char name[16];
    snprintf(name, sizeof(name), "s%u", plan->stack.server_count);
    uint32_t at = plan_add_server(plan, name, 1 + (int)below(3), (int)below(3), (int)below(3));
    struct stack_server *server = &plan->servers[at];
    random_pin(plan, cloud, kind, at);
    if (!one_in(4))
        make_stand(plan, cloud, at);
    if (kind->mild)
        return;
    if (one_in(8))
        plan_add_name(plan, &server->required, cloud_trait_name(TRAIT_FAST));
    if (one_in(8))
        plan_add_name(plan, &server->forbidden, cloud_trait_name(TRAIT_OLD));
    if (one_in(10))
        server->zone = slice_of(one_in(3) ? "nova" : one_in(2) ? "z0" : "z1");
    if (one_in(10))
        random_names(plan, cloud, &server->locations, 1 + below(8));
}

/* Lists servers, and of the groups before it those that 6.4 allows. */
static void random_group(struct plan *plan, const struct cloud *cloud)
{
    char name[16];
    snprintf(name, sizeof(name), "g%u", plan->stack.group_count);
    unsigned kinds = cloud->no_groups ? 2 : 3;
    enum stack_group_type type = (enum stack_group_type)below(kinds);
    enum stack_level level = (enum stack_level)below(2);
    uint32_t at = plan_add_group(plan, name, type, level, (int)below(CLOUD_GROUPS));
    for (unsigned i = 1 + below(3); i > 0; i--)
        plan_add_to(plan, at, below(plan->stack.server_count));
    for (uint32_t other = 0; other < at; other++) {
        const struct stack_group *listed = &plan->groups[other];
        if (one_in(3) && listed->level <= level &&
            (type == STACK_AFFINITY || listed->type == STACK_AFFINITY))
            plan_add_group_to(plan, at, other);
    }
}

/* The previous conditions: some of the present ones. */
static void random_accepted(struct plan *plan, const struct cloud *cloud)
{
    for (uint32_t s = 0; s < plan->stack.server_count; s++)
        if (!stands(plan, cloud, s))
            return;
    struct plan *accepted = plan->accepted = plan_create(plan->arena);
    for (uint32_t s = 0; s < plan->stack.server_count; s++) {
        plan_add_server(accepted, "x", 1, 0, 0);
        accepted->servers[s] = plan->servers[s];
        if (one_in(8))
            accepted->servers[s].orchestration_id = SLICE_LIT("another");
        if (one_in(3))
            accepted->servers[s].zone = (struct slice){0};
        if (one_in(3))
            accepted->servers[s].locations = (struct stack_names){0};
    }
    for (uint32_t g = below(plan->stack.group_count + 1); g > 0; g--) {
        uint32_t next = accepted->stack.group_count;
        uint32_t at =
            plan_add_group(accepted, "x", plan->groups[next].type, plan->groups[next].level, 0);
        accepted->groups[at] = plan->groups[at];
        accepted->groups[at].elements = plan->elements[at];
    }
    for (unsigned i = below(3); i > 0; i--)
        random_group(accepted, cloud);
    plan->request.accepted = &accepted->stack;
}

static struct plan *random_plan(const struct cloud *cloud, const struct kind *kind)
{
    struct plan *plan = plan_create(cloud->arena);
    for (unsigned i = 1 + below(kind->mild ? 7 : 5); i > 0; i--)
        random_server(plan, cloud, kind);
    for (unsigned i = below(4); i > 0; i--)
        random_group(plan, cloud);
    if (one_in(4) && (plan->dropped_at = random_consumer(plan, cloud)) >= 0) {
        plan->dropped[0] = cloud_consumer_at(cloud, plan->dropped_at);
        plan->request.released = plan->dropped;
        plan->request.released_count = 1;
    }
    if (!kind->mild && one_in(10))
        random_names(plan, cloud, &plan->stack.locations, 2 + below(8));
    if (kind->standing || one_in(3))
        random_accepted(plan, cloud);
    return plan;
}

/* --- reports */

static unsigned host_count(const struct cloud *cloud)
{
    unsigned count = 0;
    for (int i = 0; i < cloud->provider_count; i++)
        count += oracle_is_host(cloud, i);
    return count;
}

/* "...: N hosts considered: 3 a, 4 b": the counts add up. */
static void check_sum(const struct cloud *cloud, const char *reason)
{
    const char *at = strstr(reason, "): ");
    assert_non_null(at);
    char *end;
    unsigned long considered = strtoul(at + 3, &end, 10);
    unsigned long sum = 0;
    assert_int_equal(considered, host_count(cloud));
    end = strchr(end, ':');
    while (end != NULL) {
        unsigned long count = strtoul(end + 1, &end, 10);
        assert_true(count > 0);
        sum += count;
        end = strchr(end, ',');
    }
    if (sum != considered)
        fail_msg("%s", reason);
}

/* The named server, if it is the only one of its unit, without any affinity. */
static int named_alone(const struct plan *plan, const char *reason)
{
    for (uint32_t g = 0; g < plan->stack.group_count; g++)
        if (plan->groups[g].type != STACK_EXCLUSIVITY)
            return -1;
    for (uint32_t s = 0; s < plan->stack.server_count; s++) {
        char name[24];
        snprintf(name, sizeof(name), "'s%u'", s);
        if (strstr(reason, name) != NULL)
            return (int)s;
    }
    fail_msg("nobody is named: %s", reason);
    return -1;
}

/* The number of hosts that the report counts under these words, for any group. */
static unsigned long reported_count(const char *reason, const char *words)
{
    unsigned long sum = 0;
    for (const char *at = reason; (at = strstr(at, words)) != NULL; at++) {
        const char *number = at - 1;
        while (number[-1] >= '0' && number[-1] <= '9')
            number--;
        sum += strtoul(number, NULL, 10);
    }
    return sum;
}

static void check_counts(const struct cloud *cloud, const struct plan *plan, const char *reason)
{
    int server = named_alone(plan, reason);
    unsigned long counts[9] = {0};
    if (server < 0)
        return;
    for (int host = 0; host < cloud->provider_count; host++) {
        if (!oracle_is_host(cloud, host))
            continue;
        int why = oracle_why(cloud, plan, (uint32_t)server, host);
        assert_true(why >= 0);
        counts[why]++;
    }
    for (int i = 0; i < 9; i++)
        if (reported_count(reason, ORACLE_WORDS[i]) != counts[i])
            fail_msg("%lu hosts are %s: %s", counts[i], ORACLE_WORDS[i], reason);
}

/* The refusal concerns servers that stay, which the oracle has found, too. */
static bool is_of_standing(const struct plan *plan, const char *reason)
{
    bool is_found = strstr(reason, "', but stay on '") != NULL ||
                    strstr(reason, " by affinity, but stay on '") != NULL;
    for (uint32_t s = 0; s < plan->stack.server_count && !is_found; s++) {
        char text[80];
        snprintf(text, sizeof(text), "no host for 's%u' (id-s%u): 1 host considered: 1 ", s, s);
        is_found = plan->pins[s].kind == SOLVE_FIXED && strstr(reason, text) != NULL;
    }
    assert_false(is_found && plan->accepted == NULL);
    return is_found;
}

static void check_refused(const struct cloud *cloud, const struct plan *plan,
                          enum oracle_verdict verdict)
{
    const char *reason = plan->outcome.reason.data;
    assert_memory_equal(reason, "Valet error: ", 13);
    if (is_of_standing(plan, reason))
        return;
    if (strstr(reason, "no host for") != NULL)
        check_counts(cloud, plan, reason);
    if (strstr(reason, "hosts considered") != NULL || strstr(reason, "host considered") != NULL)
        check_sum(cloud, reason);
    else if (strstr(reason, "search limit of 200000 steps reached at 's") != NULL)
        assert_true(verdict != ORACLE_FOUND && plan->outcome.steps == plan->request.step_limit);
    else
        assert_non_null(strstr(reason, "bound"));
}

/* --- who stays */

static bool is_in(const struct stack_names *names, struct slice name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (slice_equal(names->names[i], name))
            return true;
    return names->count == 0;
}

/* Whether there is a solution in which all servers that should stay do. */
static bool all_can_stay(const struct cloud *cloud, struct plan *plan)
{
    struct stack_names locations[ORACLE_SERVERS_MAX];
    bool can = true;
    for (uint32_t s = 0; s < plan->stack.server_count; s++) {
        struct solve_pin *pin = &plan->pins[s];
        locations[s] = pin->locations;
        if (!pin->keeps_place)
            continue;
        struct slice *name = arena_alloc(plan->arena, sizeof(*name));
        *name = provider_name(pin->present);
        can = can && is_in(&pin->locations, *name);
        pin->locations = (struct stack_names){name, 1};
    }
    can = can && oracle_solve(cloud, plan) == ORACLE_FOUND;
    for (uint32_t s = 0; s < plan->stack.server_count; s++)
        plan->pins[s].locations = locations[s];
    return can;
}

static uint32_t count_stays(const struct plan *plan, bool moved)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->stack.server_count; s++)
        count += plan->pins[s].keeps_place &&
                 (!moved || plan->outcome.servers[s].host != plan->pins[s].present);
    return count;
}

struct tally {
    unsigned found, none, too_large, stayed, stood, fell, limited, halved;
};

/* No server moves if all can stay. */
static void check_stays(const struct cloud *cloud, struct plan *plan, struct tally *tally)
{
    if (count_stays(plan, false) == 0 || !all_can_stay(cloud, plan))
        return;
    assert_int_equal(plan->result, SOLVE_FOUND);
    assert_int_equal(count_stays(plan, true), 0);
    tally->stayed++;
}

/* With few steps: all searches together stay within them, and the reported limit is the whole. */
static void check_limit(const struct cloud *cloud, struct plan *plan, enum oracle_verdict verdict,
                        struct tally *tally)
{
    int64_t limit = 1 + below(12);
    char text[64];
    plan->request.step_limit = 2 * limit;
    plan->request.steps = limit;
    plan_solve(plan, cloud->version);
    assert_true(plan->outcome.steps <= limit);
    if (plan->result == SOLVE_FOUND) {
        oracle_check_found(cloud, plan);
    } else if (verdict == ORACLE_FOUND) {
        snprintf(text, sizeof(text), "search limit of %d steps reached", (int)(2 * limit));
        assert_non_null(strstr(plan->outcome.reason.data, text));
        tally->limited++;
    }
}

/* What is found if no server stays is found in twice the steps if some do. */
static void check_half(const struct cloud *cloud, struct plan *plan, struct tally *tally)
{
    bool *stays = arena_array(plan->arena, plan->stack.server_count, sizeof(*stays));
    bool any = false;
    for (uint32_t s = 0; s < plan->stack.server_count; s++) {
        any = any || (plan->pins[s].kind == SOLVE_PLACE && plan->pins[s].keeps_place);
        stays[s] = plan->pins[s].keeps_place;
        plan->pins[s].keeps_place = false;
    }
    plan->request.steps = 0;
    plan_solve(plan, cloud->version);
    int64_t steps = plan->outcome.steps;
    for (uint32_t s = 0; s < plan->stack.server_count; s++)
        plan->pins[s].keeps_place = stays[s];
    if (!any || plan->result != SOLVE_FOUND || steps == 0)
        return;
    plan->request.steps = 2 * steps;
    plan_solve(plan, cloud->version);
    assert_int_equal(plan->result, SOLVE_FOUND);
    plan->request.steps = 0;
    tally->halved++;
}

static void play(unsigned seed, struct tally *tally)
{
    srandom(seed);
    struct kind kind = {!one_in(3), one_in(2), one_in(3), one_in(4), one_in(3)};
    struct cloud *cloud = random_cloud(&kind);
    struct plan *plan = random_plan(cloud, &kind);
    enum oracle_verdict verdict = oracle_solve(cloud, plan);
    plan_solve(plan, cloud->version);
    if ((verdict == ORACLE_FOUND && plan->result != SOLVE_FOUND) ||
        (verdict == ORACLE_NONE && plan->result != SOLVE_NONE))
        fail_msg("seed %u: %d is wrong: %.*s", seed, (int)plan->result,
                 SLICE_ARG(plan->outcome.reason));
    if (plan->result == SOLVE_FOUND)
        oracle_check_found(cloud, plan);
    else
        check_refused(cloud, plan, verdict);
    check_stays(cloud, plan, tally);
    tally->stood += plan->accepted != NULL && verdict == ORACLE_FOUND;
    tally->fell += plan->result == SOLVE_NONE && is_of_standing(plan, plan->outcome.reason.data);
    assert_true(plan->outcome.steps <= plan->request.step_limit);
    tally->found += verdict == ORACLE_FOUND;
    tally->none += verdict == ORACLE_NONE;
    tally->too_large += verdict == ORACLE_TOO_LARGE;
    check_half(cloud, plan, tally);
    check_limit(cloud, plan, verdict, tally);
    cloud_destroy(cloud);
}

static void agrees_with_the_oracle(void **state)
{
    (void)state;
    struct tally tally = {0};
    const char *seed = getenv("BERTH_SEED");
    const char *rounds = getenv("BERTH_ROUNDS");
    unsigned first = seed == NULL ? 1 : (unsigned)strtoul(seed, NULL, 10);
    unsigned count = rounds == NULL ? ROUNDS : (unsigned)strtoul(rounds, NULL, 10);
    for (unsigned i = 0; i < count; i++)
        play(first + i, &tally);
    print_message("%u found, %u none, %u too large; %u times all stayed, %u times what stays was "
                  "fine, %u not\n",
                  tally.found, tally.none, tally.too_large, tally.stayed, tally.stood, tally.fell);
    if (count < ROUNDS)
        return;
    assert_true(tally.found > count / 5 && tally.none > count / 5);
    assert_true(tally.too_large < count / 20);
    assert_true(tally.limited > 0 && tally.halved > count / 20);
    assert_true(tally.stayed > count / 100 && tally.stood > count / 20 && tally.fell > count / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
