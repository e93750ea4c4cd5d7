/* Every path with its methods, in the order of Allow, and the first microversion of each; written
 * from the API reference, independently of the table under test. */
#include "api/api.h"
#include "api/fake_request.h"
#include "api/routes.h"
#include "base/arena.h"
#include "policy/rules_placement.h"
#include "unit.h"

static const struct api API = {0};

enum { METHODS_MAX = 4 };

static const struct path {
    const char *path, *allow;
    const char *args[API_ARGS_MAX];
    struct {
        const char *method;
        unsigned min_minor;
        enum policy_placement_rule policy;
    } methods[METHODS_MAX];
} PATHS[] = {
    {"/", "GET", {NULL}, {{"GET", 0, POLICY_PLACEMENT_NONE}}},
    {"/resource_classes",
     "GET, POST",
     {NULL},
     {{"GET", 2, POLICY_CLASSES_LIST}, {"POST", 2, POLICY_CLASSES_CREATE}}},
    {"/resource_classes/CUSTOM_X",
     "GET, PUT, DELETE",
     {"CUSTOM_X"},
     {{"GET", 2, POLICY_CLASSES_SHOW},
      {"PUT", 2, POLICY_CLASSES_UPDATE},
      {"DELETE", 2, POLICY_CLASSES_DELETE}}},
    {"/resource_providers",
     "GET, POST",
     {NULL},
     {{"GET", 0, POLICY_PROVIDERS_LIST}, {"POST", 0, POLICY_PROVIDERS_CREATE}}},
    {"/resource_providers/u",
     "GET, DELETE, PUT",
     {"u"},
     {{"GET", 0, POLICY_PROVIDERS_SHOW},
      {"DELETE", 0, POLICY_PROVIDERS_DELETE},
      {"PUT", 0, POLICY_PROVIDERS_UPDATE}}},
    {"/resource_providers/u/inventories",
     "GET, POST, PUT, DELETE",
     {"u"},
     {{"GET", 0, POLICY_INVENTORIES_LIST},
      {"POST", 0, POLICY_INVENTORIES_CREATE},
      {"PUT", 0, POLICY_INVENTORIES_UPDATE},
      {"DELETE", 5, POLICY_INVENTORIES_DELETE}}},
    {"/resource_providers/u/inventories/VCPU",
     "GET, PUT, DELETE",
     {"u", "VCPU"},
     {{"GET", 0, POLICY_INVENTORIES_SHOW},
      {"PUT", 0, POLICY_INVENTORIES_UPDATE},
      {"DELETE", 0, POLICY_INVENTORIES_DELETE}}},
    {"/resource_providers/u/usages", "GET", {"u"}, {{"GET", 0, POLICY_PROVIDER_USAGES}}},
    {"/resource_providers/u/aggregates",
     "GET, PUT",
     {"u"},
     {{"GET", 1, POLICY_AGGREGATES_LIST}, {"PUT", 1, POLICY_AGGREGATES_UPDATE}}},
    {"/resource_providers/u/allocations",
     "GET",
     {"u"},
     {{"GET", 0, POLICY_PROVIDER_ALLOCATIONS_LIST}}},
    {"/resource_providers/u/traits",
     "GET, PUT, DELETE",
     {"u"},
     {{"GET", 6, POLICY_PROVIDER_TRAITS_LIST},
      {"PUT", 6, POLICY_PROVIDER_TRAITS_UPDATE},
      {"DELETE", 6, POLICY_PROVIDER_TRAITS_DELETE}}},
    {"/allocations", "POST", {NULL}, {{"POST", 13, POLICY_ALLOCATIONS_MANAGE}}},
    {"/allocations/c",
     "GET, PUT, DELETE",
     {"c"},
     {{"GET", 0, POLICY_ALLOCATIONS_LIST},
      {"PUT", 0, POLICY_ALLOCATIONS_UPDATE},
      {"DELETE", 0, POLICY_ALLOCATIONS_DELETE}}},
    {"/allocation_candidates", "GET", {NULL}, {{"GET", 10, POLICY_CANDIDATES_LIST}}},
    {"/traits", "GET", {NULL}, {{"GET", 6, POLICY_TRAITS_LIST}}},
    {"/traits/T",
     "GET, PUT, DELETE",
     {"T"},
     {{"GET", 6, POLICY_TRAITS_SHOW},
      {"PUT", 6, POLICY_TRAITS_UPDATE},
      {"DELETE", 6, POLICY_TRAITS_DELETE}}},
    {"/usages",
     "GET",
     {NULL},
     {{"GET", 9, POLICY_PLACEMENT_NONE}}}, /* its handler checks the policy itself */
    {"/reshaper", "POST", {NULL}, {{"POST", 30, POLICY_RESHAPE}}},
};

static enum route_found find(struct fake_request *fake, const char *method, const char *path,
                             unsigned minor)
{
    fake->exchange.http.method = slice_of(method);
    fake->request.minor = minor;
    fake->request.allow = (struct slice){0};
    memset(fake->request.args, 0, sizeof(fake->request.args));
    return routes_find(fake->endpoint.routes, slice_of(path), &fake->request);
}

static void check_args(const struct fake_request *fake, const struct path *path)
{
    for (unsigned i = 0; i < API_ARGS_MAX; i++) {
        struct slice arg = fake->request.args[i];
        assert_int_equal(arg.data != NULL, path->args[i] != NULL);
        assert_true(arg.data == NULL || slice_equal(arg, slice_of(path->args[i])));
    }
}

static void every_route(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++)
        for (unsigned m = 0; m < METHODS_MAX && PATHS[i].methods[m].method != NULL; m++) {
            const char *method = PATHS[i].methods[m].method;
            assert_int_equal(find(&fake, method, PATHS[i].path, 39), ROUTE_FOUND);
            const struct api_route *route = fake.request.route;
            assert_string_equal(route->method, method);
            assert_int_equal(route->policy, PATHS[i].methods[m].policy);
            assert_int_equal(route->max_minor, 39);
            assert_non_null(route->handle);
            assert_int_equal(route->finish == NULL, strcmp(method, "GET") == 0);
            check_args(&fake, &PATHS[i]);
            for (unsigned minor = 0; minor < 40; minor++) {
                assert_int_equal(find(&fake, method, PATHS[i].path, minor), ROUTE_FOUND);
                route = fake.request.route;
                bool in_range = minor >= route->min_minor && minor <= route->max_minor;
                assert_int_equal(in_range, minor >= PATHS[i].methods[m].min_minor);
            }
        }
    fake_request_close(&fake);
}

static void unknown_methods(void **state)
{
    (void)state;
    static const char *const METHODS[] = {"GET",  "PUT",   "POST",    "DELETE",
                                          "HEAD", "PATCH", "OPTIONS", "get"};
    struct fake_request fake;
    fake_request_open(&fake, &API);
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++)
        for (size_t k = 0; k < sizeof(METHODS) / sizeof(METHODS[0]); k++) {
            bool known = false;
            for (unsigned m = 0; m < METHODS_MAX && PATHS[i].methods[m].method != NULL; m++)
                known = known || strcmp(METHODS[k], PATHS[i].methods[m].method) == 0;
            enum route_found found = find(&fake, METHODS[k], PATHS[i].path, 39);
            assert_int_equal(found, known ? ROUTE_FOUND : ROUTE_UNKNOWN_METHOD);
            if (!known)
                assert_string_equal(arena_copy(fake.arena, fake.request.allow).data,
                                    PATHS[i].allow);
        }
    fake_request_close(&fake);
}

static void unknown_paths(void **state)
{
    (void)state;
    static const char *const UNKNOWN[] = {
        "/x",
        "//",
        "resource_providers",
        "/resource_provider",
        "/resource_providersx",
        "/Resource_Providers",
        "/resource_providers/",
        "/resource_providers//traits",
        "/resource_providers/u/",
        "/resource_providers/u/trait",
        "/resource_providers/u/traits/",
        "/resource_providers/u/traits/T",
        "/resource_providers/u/inventories/",
        "/resource_providers/u/inventories/VCPU/",
        "/resource_providers/u/inventories/VCPU/x",
        "/allocations/",
        "/allocations/c/d",
        "/usages/x",
    };
    struct fake_request fake;
    fake_request_open(&fake, &API);
    for (size_t i = 0; i < sizeof(UNKNOWN) / sizeof(UNKNOWN[0]); i++) {
        if (find(&fake, "GET", UNKNOWN[i], 39) != ROUTE_UNKNOWN_PATH)
            fail_msg("%s", UNKNOWN[i]);
        assert_null(fake.request.allow.data);
    }
    assert_int_equal(find(&fake, "GET", "", 0), ROUTE_FOUND); /* equivalent to "/" */
    fake_request_close(&fake);
}

/* PUT of a class is a rename until 1.6, and an ensure since then. */
static void two_routes_of_one_method(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    const struct api_route *routes[40];
    for (unsigned minor = 0; minor < 40; minor++) {
        find(&fake, "PUT", "/resource_classes/CUSTOM_X", minor);
        routes[minor] = fake.request.route;
        assert_ptr_equal(routes[minor], routes[minor < 7 ? 0 : 7]);
    }
    assert_ptr_not_equal(routes[0], routes[7]);
    assert_true((routes[0]->flags & ROUTE_TAKES_JSON) != 0);
    assert_true((routes[7]->flags & ROUTE_TAKES_JSON) == 0);
    fake_request_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route),
        cmocka_unit_test(unknown_methods),
        cmocka_unit_test(unknown_paths),
        cmocka_unit_test(two_routes_of_one_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
