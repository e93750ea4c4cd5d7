/* Whether the planner works, as the status reports it: also on an empty cloud, but not if its limit
 * of steps is too low for one server. */
#include "valet/api/planner_check.h"

#include "unit.h"
#include "valet/solve/cloud.h"

enum { MANY = 4000 };

static const int64_t PLENTY = INT64_MAX / 2;

static enum planner_state check_cloud(struct cloud *cloud, int64_t step_limit, int64_t steps,
                                      struct slice *message)
{
    const struct conf_valet conf = {.default_zone = SLICE_LIT("nova"), .step_limit = step_limit};
    struct budget budget = {.left = steps};
    *message = (struct slice){0};
    return planner_check(cloud->version, &conf, cloud->arena, &budget, message);
}

static void it_works_with_or_without_hosts(void **state)
{
    (void)state;
    for (int hosts = 0; hosts <= 2; hosts++) {
        struct cloud *cloud = cloud_create();
        struct slice message;
        for (int i = 0; i < hosts; i++)
            cloud_add_host(cloud, arena_printf(cloud->arena, "h%d", i).data, -1, i);
        cloud_publish(cloud);
        assert_int_equal(check_cloud(cloud, 100, PLENTY, &message), PLANNER_WORKS);
        assert_true(slice_equal(message, SLICE_LIT("ping")));
        assert_int_equal(check_cloud(cloud, 100, 1, &message), PLANNER_EXPENSIVE);
        assert_null(message.data);
        cloud_destroy(cloud);
    }
}

static void it_fails_if_its_limit_is_too_low(void **state)
{
    (void)state;
    struct cloud *cloud = cloud_create();
    struct slice message;
    for (int i = 0; i < MANY; i++)
        cloud_add_host(cloud, arena_printf(cloud->arena, "h%04d", i).data, -1, 1 + i);
    cloud_publish(cloud);
    assert_int_equal(check_cloud(cloud, 1, PLENTY, &message), PLANNER_FAILS);
    assert_true(slice_starts_with(message, SLICE_LIT("Valet error: ")));
    assert_int_equal(check_cloud(cloud, 1000, PLENTY, &message), PLANNER_WORKS);
    cloud_destroy(cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_works_with_or_without_hosts),
        cmocka_unit_test(it_fails_if_its_limit_is_too_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
