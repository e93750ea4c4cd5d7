/* Stacks on large clouds: an answer, or a refusal, far below the limit of steps. No clock is used.
 */
#include <stdio.h>
#include <stdlib.h>

#include "large.h"
#include "unit.h"

static struct plan *play(const struct large *large, struct cloud **cloud)
{
    *cloud = large_cloud(large);
    struct plan *plan = large_plan(large, (*cloud)->arena);
    plan_solve(plan, (*cloud)->version);
    return plan;
}

static const struct provider *rack_of(const struct cloud *cloud, const struct provider *host)
{
    bool several;
    struct host_marks marks = host_marks_of(cloud->version);
    return host_rack(cloud->version, &marks, host, &several);
}

/* Different racks in each diversity group, enough capacity for all, and nothing else on the hosts
 * of the exclusive servers. */
static void check_found(const struct cloud *cloud, const struct plan *plan,
                        const struct large *large)
{
    assert_int_equal(plan->result, SOLVE_FOUND);
    for (uint32_t a = 0; a < large->servers; a++) {
        const struct provider *host = plan->outcome.servers[a].host;
        for (uint32_t b = 0; b < a; b++) {
            const struct provider *other = plan->outcome.servers[b].host;
            if (a % 2 == b % 2)
                assert_ptr_not_equal(rack_of(cloud, host), rack_of(cloud, other));
            if ((a < large->exclusive) != (b < large->exclusive))
                assert_ptr_not_equal(host, other);
        }
        for (uint32_t i = 0; i < host->inventory_count; i++) {
            int64_t sum = host->inventory[i].used;
            for (uint32_t b = 0; b < large->servers; b++)
                for (uint32_t r = 0; r < plan->outcome.servers[b].row_count; r++) {
                    const struct solve_row *row = &plan->outcome.servers[b].rows[r];
                    if (row->provider == host && row->class_no.v == host->inventory[i].class_no.v)
                        sum += row->amount;
                }
            assert_true(sum <= LARGE_TOTAL);
        }
        if (a < large->exclusive)
            assert_true(host_is_empty(cloud->version, host));
    }
}

static void ends_with_an_answer(void **state)
{
    (void)state;
    static const struct large CLOUDS[] = {
        {1000, 40, 80, 20, 4, 20, 1}, {1000, 40, 99, 20, 4, 20, 2},   {1000, 12, 95, 20, 4, 20, 3},
        {1000, 10, 80, 20, 4, 90, 4}, {3000, 60, 90, 100, 10, 70, 5},
    };
    for (size_t i = 0; i < sizeof(CLOUDS) / sizeof(CLOUDS[0]); i++) {
        struct cloud *cloud;
        struct plan *plan = play(&CLOUDS[i], &cloud);
        check_found(cloud, plan, &CLOUDS[i]);
        assert_true(plan->outcome.steps < 20000);
        cloud_destroy(cloud);
    }
}

static void ends_with_a_refusal(void **state)
{
    (void)state;
    static const struct large CLOUDS[] = {
        {1000, 9, 80, 20, 4, 20, 1},  /* ten servers, nine racks */
        {1000, 40, 100, 20, 4, 0, 2}, /* full */
        {1000, 40, 80, 20, 4, 0, 3},  /* no free host for the exclusive ones */
    };
    for (size_t i = 0; i < sizeof(CLOUDS) / sizeof(CLOUDS[0]); i++) {
        struct cloud *cloud;
        struct plan *plan = play(&CLOUDS[i], &cloud);
        assert_int_equal(plan->result, SOLVE_NONE);
        assert_int_equal(plan->outcome.steps, 0); /* known without a search */
        cloud_destroy(cloud);
    }
}

/* Random ones: each search ends, a result is valid, and few searches reach the limit. */
static void ends_anyhow(void **state)
{
    (void)state;
    unsigned limits = 0;
    for (unsigned seed = 0; seed < 30; seed++) {
        struct large large = {.hosts = 200 + seed * 17,
                              .racks = 8 + seed % 7,
                              .per_cent = 96 + seed % 4,
                              .servers = 16 + seed % 9,
                              .exclusive = seed % 5,
                              .empty_hosts = seed % 3 == 0 ? 0 : 3 + seed % 4,
                              .seed = seed};
        struct cloud *cloud;
        struct plan *plan = play(&large, &cloud);
        if (plan->result == SOLVE_FOUND)
            check_found(cloud, plan, &large);
        else
            limits += strstr(plan->outcome.reason.data, "search limit of 200000 steps") != NULL;
        cloud_destroy(cloud);
    }
    assert_true(limits <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_with_an_answer),
        cmocka_unit_test(ends_with_a_refusal),
        cmocka_unit_test(ends_anyhow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
