/* Lists of providers compared with a filter written plainly, and the effects of unknown names. */
#include <stdlib.h>

#include "cloud.h"
#include "query/providers.h"
#include "unit.h"

static bool has(const struct catalog *catalog, const struct name_set *set, struct slice name)
{
    const struct catalog_row *row = catalog_find(catalog, name);
    return row != NULL && name_set_has(set, row->number);
}

static bool has_any(const struct catalog *catalog, const struct name_set *set,
                    const struct ac_names *names)
{
    bool any = false;
    for (uint32_t i = 0; i < names->count; i++)
        any = any || has(catalog, set, names->names[i]);
    return any;
}

static bool is_wanted(const struct version *version, const struct providers_query *wanted,
                      const struct provider *provider)
{
    const struct ac_group *group = &wanted->group;
    bool fits = wanted->name.len == 0 || slice_equal(wanted->name, provider_name(provider));
    fits = fits && (wanted->uuid.len == 0 || slice_equal(wanted->uuid, provider_uuid(provider)));
    for (uint32_t i = 0; i < group->required_count; i++)
        fits = fits && has_any(&version->traits, provider->traits, &group->required[i]);
    for (uint32_t i = 0; i < group->member_of_count; i++)
        fits = fits && has_any(&version->aggregates, provider->aggregates, &group->member_of[i]);
    fits = fits && !has_any(&version->traits, provider->traits, &group->forbidden) &&
           !has_any(&version->aggregates, provider->aggregates, &group->forbidden_aggregates);
    if (group->in_tree.data != NULL) {
        const struct provider *named = version_provider_by_uuid(version, group->in_tree);
        fits = fits && named != NULL && named->root.v == provider->root.v;
    }
    for (uint32_t i = 0; i < group->resource_count; i++) {
        const struct catalog_row *row =
            catalog_find(&version->classes, group->resources[i].class_name);
        const struct provider_inventory *inventory =
            provider_inventory_of(provider, (struct class_no){row->number});
        int64_t amount = group->resources[i].amount;
        fits = fits && inventory != NULL && capacity_unit_fits(&inventory->figures, amount) &&
               inventory->used + amount <= capacity_of(&inventory->figures);
    }
    return fits;
}

static struct ac_names names_of(struct cloud *cloud, const char *prefix, unsigned of, unsigned n)
{
    struct ac_names names = {arena_array(cloud->arena, n, sizeof(struct slice)), n};
    for (unsigned i = 0; i < n; i++)
        names.names[i] = cloud_text(cloud->arena, prefix, 1 + cloud_below(of));
    return names;
}

static struct ac_names *sets_of(struct cloud *cloud, const char *prefix, unsigned of, uint32_t n)
{
    struct ac_names *sets = arena_array(cloud->arena, n, sizeof(*sets));
    for (uint32_t i = 0; i < n; i++)
        sets[i] = names_of(cloud, prefix, of, 1 + cloud_below(2));
    return sets;
}

static struct providers_query random_query(struct cloud *cloud)
{
    struct providers_query wanted = {.name = {0}};
    struct ac_group *group = &wanted.group;
    if (cloud_below(12) == 0)
        wanted.name = cloud_text(cloud->arena, "P", 1 + cloud_below(cloud->providers + 1));
    else if (cloud_below(12) == 0)
        wanted.uuid = cloud_text(cloud->arena, "P", 1 + cloud_below(cloud->providers + 1));
    if (cloud_below(3) == 0) {
        group->required_count = 1 + cloud_below(2);
        group->required = sets_of(cloud, "T", CLOUD_TRAITS, group->required_count);
    }
    if (cloud_below(4) == 0)
        group->forbidden = names_of(cloud, "T", CLOUD_TRAITS, 1 + cloud_below(2));
    if (cloud_below(3) == 0) {
        group->member_of_count = 1 + cloud_below(2); /* one name more than allowed, all unknown */
        group->member_of = sets_of(cloud, "A", CLOUD_AGGREGATES + 1, group->member_of_count);
    }
    if (cloud_below(5) == 0)
        group->forbidden_aggregates = names_of(cloud, "A", CLOUD_AGGREGATES + 1, 1);
    if (cloud_below(4) == 0)
        group->in_tree = cloud_text(cloud->arena, "P", 1 + cloud_below(cloud->providers + 1));
    if (cloud_below(2) == 0) {
        group->resources = arena_array(cloud->arena, 2, sizeof(struct ac_resource));
        group->resource_count = 1 + cloud_below(2);
        for (uint32_t i = 0; i < group->resource_count; i++)
            group->resources[i] = (struct ac_resource){
                cloud_text(cloud->arena, "C", i + 1 + cloud_below(CLOUD_CLASSES - 1)),
                1 + cloud_below(4)};
    }
    return wanted;
}

static struct providers_found ask(struct cloud *cloud, const struct providers_query *wanted)
{
    struct budget budget = {.left = INT64_MAX / 2};
    struct providers_found found;
    struct err err = {.arena = cloud->arena};
    assert_int_equal(providers_find(cloud->version, wanted, cloud->arena, &budget, &found, &err),
                     PROVIDERS_DONE);
    assert_false(err_is_set(&err));
    return found;
}

static void against_a_plain_filter(void **state)
{
    (void)state;
    unsigned nonempty = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        srandom(seed);
        struct cloud cloud = cloud_create(5 + cloud_below(60), 5, 1);
        for (unsigned i = 0; i < 50; i++) {
            struct providers_query wanted = random_query(&cloud);
            struct providers_found found = ask(&cloud, &wanted);
            uint32_t next = 0;
            for (unsigned id = 1; id <= cloud.providers; id++) { /* in the order of the rows */
                const struct provider *provider = version_provider_by_id(cloud.version, id);
                if (!is_wanted(cloud.version, &wanted, provider))
                    continue;
                assert_true(next < found.count);
                assert_ptr_equal(found.providers[next++], provider);
            }
            assert_int_equal(next, found.count);
            nonempty += next > 0;
        }
        cloud_destroy(&cloud);
    }
    assert_true(nonempty > 600);
}

static void assert_refused(struct cloud *cloud, const struct providers_query *wanted,
                           struct slice message)
{
    struct budget budget = {.left = 1000000};
    struct providers_found found;
    struct err err = {.arena = cloud->arena};
    assert_int_equal(providers_find(cloud->version, wanted, cloud->arena, &budget, &found, &err),
                     PROVIDERS_REFUSED);
    assert_int_equal(err.status, 400);
    if (!slice_equal(err.message, message))
        fail_msg("%.*s", SLICE_ARG(err.message));
}

static void unknown_names(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(20, 3, 1);
    struct slice known = SLICE_LIT("T1");
    struct slice unknown[] = {SLICE_LIT("T1"), SLICE_LIT("NO"), SLICE_LIT("NEITHER")};
    struct ac_names any = {unknown, 3};
    struct providers_query wanted = {.group = {.required = &any, .required_count = 1}};
    assert_refused(&cloud, &wanted,
                   SLICE_LIT("Invalid trait(s) in \"required\" parameter: "
                             "No such trait(s): NO."));
    wanted.group = (struct ac_group){.forbidden = any};
    assert_refused(&cloud, &wanted,
                   SLICE_LIT("Invalid trait(s) in \"required\" parameter: "
                             "No such trait(s): NO, NEITHER."));
    struct ac_resource resource = {SLICE_LIT("C\0D"), 1};
    wanted.group = (struct ac_group){.resources = &resource, .resource_count = 1};
    assert_refused(&cloud, &wanted,
                   SLICE_LIT("Invalid resource class in resources parameter: "
                             "No such resource class C\0D."));
    /* nothing is refused where the earlier conditions have left nothing */
    wanted.group.in_tree = SLICE_LIT("P99");
    assert_int_equal(ask(&cloud, &wanted).count, 0);
    struct slice nowhere = SLICE_LIT("A99");
    struct ac_names members = {&nowhere, 1};
    wanted.group.in_tree = (struct slice){0};
    wanted.group.member_of = &members;
    wanted.group.member_of_count = 1;
    assert_int_equal(ask(&cloud, &wanted).count, 0);
    struct ac_names none = {&known, 0};
    wanted.group = (struct ac_group){.required = &none, .required_count = 1, .forbidden = any};
    assert_int_equal(ask(&cloud, &wanted).count, 0);
    cloud_destroy(&cloud);
}

static void budget_ends(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(50, 0, 0);
    struct providers_query wanted = {.name = {0}};
    struct budget budget = {.left = 100};
    struct providers_found found;
    struct err err = {.arena = cloud.arena};
    assert_int_equal(providers_find(cloud.version, &wanted, cloud.arena, &budget, &found, &err),
                     PROVIDERS_EXPENSIVE);
    assert_false(err_is_set(&err));
    cloud_destroy(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_plain_filter),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(budget_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
