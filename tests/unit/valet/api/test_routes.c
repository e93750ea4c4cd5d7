/* Every path of the contract with its methods, in the order of Allow, and the rule of each; copied
 * from the Valet spec's sections 1 and 2.3, independently of the table under test. */
#include "policy/policy.h"
#include "policy/rules_placement.h"
#include "valet/api/routes.h"

#include "api/routes.h"
#include "unit.h"

enum { METHODS_MAX = 3 };

static const struct path {
    const char *path;
    unsigned flags;
    struct {
        const char *method;
        const char *rule;
    } methods[METHODS_MAX];
} PATHS[] = {
    {"/", 0, {{"GET", ""}}},
    {"/v1", 0, {{"GET", ""}}},
    {"/v1/groups", 0, {{"GET", "valet:group:list"}, {"POST", "valet:group:create"}}},
    {"/v1/groups/{group_id}",
     VALET_OF_GROUP,
     {{"GET", "valet:group:show"},
      {"PUT", "valet:group:update"},
      {"DELETE", "valet:group:delete"}}},
    {"/v1/groups/{group_id}/members",
     VALET_OF_GROUP,
     {{"PUT", "valet:group:members"}, {"DELETE", "valet:group:members"}}},
    {"/v1/groups/{group_id}/members/{member_id}",
     VALET_OF_GROUP | VALET_OF_MEMBER,
     {{"GET", "valet:group:members"}, {"DELETE", "valet:group:members"}}},
    {"/v1/status", 0, {{"HEAD", "valet:status"}, {"GET", "valet:status"}}},
};

static unsigned count_methods(const struct path *path)
{
    unsigned count = 0;
    while (count < METHODS_MAX && path->methods[count].method != NULL)
        count++;
    return count;
}

static void the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++) {
        const struct path *path = &PATHS[i];
        unsigned seen = 0;
        for (unsigned r = 0; r < VALET_ROUTE_COUNT; r++) {
            const struct api_route *route = &valet_routes[r];
            if (strcmp(route->path, path->path) != 0)
                continue;
            assert_true(seen < count_methods(path));
            assert_string_equal(route->method, path->methods[seen].method);
            assert_string_equal(policy_rule_name(POLICY_OF_VALET, route->policy),
                                path->methods[seen].rule);
            assert_int_equal(route->flags, path->flags);
            assert_true(route->flags == 0 || route->reads); /* ids are looked up in a version */
            seen++;
        }
        assert_int_equal(seen, count_methods(path));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
