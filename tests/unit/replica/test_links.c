/* Providers with very many aggregates: a body of 16 MiB can name hundreds of thousands. Whatever
 * their order, the work does not grow with the square of their number. */
#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/replica.h"
#include "steps.h"
#include "unit.h"

enum { FEW = 3000, TIMES = 16 };

/* The steps of each list of changes. */
struct costs {
    uint64_t each[5];
    unsigned count;
};

static void put_link(struct change_list *list, enum change_kind kind, int64_t provider, int64_t id)
{
    change_append(list, kind)->link = (struct change_link){provider, id};
}

static void apply(struct edit *edit, struct change_list *list, struct costs *costs)
{
    uint64_t before = steps_now();
    apply_changes(edit, list);
    costs->each[costs->count++] = steps_since(before);
    list->count = 0;
}

static uint32_t count_of(const struct edit *edit, int64_t provider)
{
    return version_provider_by_id(edit->version, provider)->aggregates->count;
}

static void make_rows(struct change_list *list, int64_t aggregates)
{
    for (int64_t id = 1; id <= 2; id++) {
        struct slice name = arena_printf(list->arena, "p%d", (int)id);
        change_append(list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, 0, id, 0, name, name};
    }
    for (int64_t id = 1; id <= aggregates; id++) {
        struct slice name = arena_printf(list->arena, "a%d", (int)id);
        change_append(list, CHANGE_AGGREGATE_INSERT)->catalog = (struct change_catalog){id, name};
    }
}

/* In ascending and in descending order. */
static void link_all(struct edit *edit, struct change_list *list, int64_t aggregates,
                     struct costs *costs)
{
    for (int64_t id = 1; id <= aggregates; id++)
        put_link(list, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, id);
    apply(edit, list, costs);
    for (int64_t id = aggregates; id >= 1; id--)
        put_link(list, CHANGE_PROVIDER_AGGREGATE_INSERT, 2, id);
    apply(edit, list, costs);
    assert_int_equal(count_of(edit, 1), aggregates);
    assert_ptr_equal(version_provider_by_id(edit->version, 1)->aggregates,
                     version_provider_by_id(edit->version, 2)->aggregates);
}

/* All but one; and two thirds in no particular order: 7 and neither 3001 nor 48001 have a common
 * divisor. */
static void unlink_most(struct edit *edit, struct change_list *list, int64_t aggregates,
                        struct costs *costs)
{
    for (int64_t id = 1; id < aggregates; id++)
        put_link(list, CHANGE_PROVIDER_AGGREGATE_DELETE, 1, id);
    apply(edit, list, costs);
    for (int64_t i = 1; i <= aggregates; i++) {
        int64_t id = i * 7 % (aggregates + 1);
        if (id % 3 != 0)
            put_link(list, CHANGE_PROVIDER_AGGREGATE_DELETE, 2, id);
    }
    apply(edit, list, costs);
    const struct version *version = edit->version;
    const struct name_set *set = version_provider_by_id(version, 2)->aggregates;
    assert_int_equal(count_of(edit, 1), 1);
    assert_int_equal(set->count, aggregates / 3);
    for (uint32_t i = 0; i < set->count; i++)
        assert_int_equal(catalog_row_at(&version->aggregates, set->numbers[i])->id, 3 * (i + 1));
}

static struct costs cost_of_links(int64_t aggregates)
{
    struct costs costs = {0};
    struct arena *arena = arena_create();
    struct replica *replica = replica_create();
    struct edit *edit = replica_edit(replica);
    struct change_list list = {.arena = arena};
    make_rows(&list, aggregates);
    apply(edit, &list, &costs);
    link_all(edit, &list, aggregates, &costs);
    unlink_most(edit, &list, aggregates, &costs);
    struct buf why = {0};
    if (!audit_version(edit->version, &why))
        fail_msg("%.*s", SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
    replica_abandon(replica, edit);
    replica_destroy(replica);
    arena_destroy(arena);
    return costs;
}

static void any_order(void **state)
{
    (void)state;
    static const char *const LISTS[] = {"rows", "ascending", "descending", "all but one", "mixed"};
    struct costs few = cost_of_links(FEW);
    struct costs many = cost_of_links((int64_t)FEW * TIMES);
    for (unsigned i = 0; i < few.count; i++)
        steps_assert_linear(LISTS[i], (struct steps_cost){FEW, few.each[i]},
                            (struct steps_cost){FEW * TIMES, many.each[i]});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
