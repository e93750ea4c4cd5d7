/* The cost of thousands of groups is charged to the budget: about four counted steps for each step
 * of the budget, twenty at most. */
#include "devices.h"
#include "steps.h"
#include "unit.h"

enum { BUDGET = 200000, STEPS_A_CHARGE = 40 };

static void ignore(void *cls, const struct ac_candidate *candidate)
{
    (void)cls;
    (void)candidate;
}

/* Identical, different, and with a common subtree. */
static struct ac_request make_request(struct arena *arena, unsigned q)
{
    unsigned groups = q % 2 == 0 ? 3000 : 300;
    struct ac_request request =
        devices_ask(arena, groups, 1, q / 2 % 2 == 0, (enum devices_traits)(q / 4 % 3));
    for (unsigned g = 0; g < groups && q >= 12; g++)
        request.groups[g].resources[0].amount = 1 + g % 40;
    struct ac_names *all = arena_array(arena, 1, sizeof(*all));
    *all = (struct ac_names){arena_array(arena, groups, sizeof(struct slice)), 0};
    for (unsigned g = 0; g < groups; g++)
        all->names[all->count++] = request.groups[g].suffix;
    request.same_subtrees = all;
    request.same_subtree_count = q % 3 == 0;
    request.order = q % 5 == 0 ? AC_ORDER_SPREAD : AC_ORDER_DEPTH;
    request.limit = q % 5 == 0 ? 1000 : -1;
    return request;
}

/* Whatever the groups are, the budget ends near the work that it stands for. */
static void steps_are_charged(void **state)
{
    (void)state;
    struct devices_shape shape = {400, 16, 4096, false, 128, 0};
    struct devices_fleet fleet = devices_create(&shape);
    for (unsigned q = 0; q < 24; q++) {
        struct arena *arena = arena_create();
        struct ac_request request = make_request(arena, q);
        struct budget budget = {.left = BUDGET};
        struct err err = {.arena = arena};
        struct ac_summaries summaries;
        struct ac_reason reason;
        uint64_t before = steps_now();
        enum ac_outcome outcome = ac_search(fleet.version, &request, arena, &budget, ignore, NULL,
                                            &summaries, &reason, &err);
        uint64_t steps = steps_since(before);
        assert_true(outcome != AC_REFUSED);
        uint64_t charged = (uint64_t)(BUDGET - budget.left);
        if (steps > charged * STEPS_A_CHARGE)
            fail_msg("request %u: charged %llu for %llu steps", q, (unsigned long long)charged,
                     (unsigned long long)steps);
        assert_true(charged < 2 * BUDGET);
        arena_destroy(arena);
    }
    devices_destroy(&fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
