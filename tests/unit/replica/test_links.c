/* Providers with very many aggregates: a body of 16 MiB can name hundreds of thousands. Whatever
 * their order, the work does not grow with the square of their number. */
#include <time.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/replica.h"
#include "unit.h"

enum { AGGREGATES = 60000 };

static void put_link(struct change_list *list, enum change_kind kind, int64_t provider, int64_t id)
{
    change_append(list, kind)->link = (struct change_link){provider, id};
}

static void apply(struct edit *edit, struct change_list *list)
{
    clock_t before = clock();
    apply_changes(edit, list);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (seconds > 1.5) /* some 0.05 s; 3 s and more where lists are searched */
        fail_msg("%.1f s", seconds);
    list->count = 0;
}

static uint32_t count_of(const struct edit *edit, int64_t provider)
{
    return version_provider_by_id(edit->version, provider)->aggregates->count;
}

static void any_order(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct replica *replica = replica_create();
    struct edit *edit = replica_edit(replica);
    struct change_list list = {.arena = arena};
    for (int64_t id = 1; id <= 2; id++) {
        struct slice name = arena_printf(arena, "p%d", (int)id);
        change_append(&list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, 0, id, 0, name, name};
    }
    for (int64_t id = 1; id <= AGGREGATES; id++) {
        struct slice name = arena_printf(arena, "a%d", (int)id);
        change_append(&list, CHANGE_AGGREGATE_INSERT)->catalog = (struct change_catalog){id, name};
    }
    apply(edit, &list);
    for (int64_t id = 1; id <= AGGREGATES; id++)
        put_link(&list, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, id);
    apply(edit, &list);
    for (int64_t id = AGGREGATES; id >= 1; id--)
        put_link(&list, CHANGE_PROVIDER_AGGREGATE_INSERT, 2, id);
    apply(edit, &list);
    const struct version *version = edit->version;
    assert_int_equal(count_of(edit, 1), AGGREGATES);
    assert_ptr_equal(version_provider_by_id(version, 1)->aggregates,
                     version_provider_by_id(version, 2)->aggregates);
    for (int64_t id = 1; id < AGGREGATES; id++)
        put_link(&list, CHANGE_PROVIDER_AGGREGATE_DELETE, 1, id);
    apply(edit, &list);
    for (int64_t i = 1; i <= AGGREGATES;
         i++) { /* in an order of no kind; 7 and 60 001 are coprime */
        int64_t id = i * 7 % (AGGREGATES + 1);
        if (id % 3 != 0)
            put_link(&list, CHANGE_PROVIDER_AGGREGATE_DELETE, 2, id);
    }
    apply(edit, &list);
    assert_int_equal(count_of(edit, 1), 1);
    const struct name_set *set = version_provider_by_id(version, 2)->aggregates;
    assert_int_equal(set->count, AGGREGATES / 3);
    for (uint32_t i = 0; i < set->count; i++)
        assert_int_equal(catalog_row_at(&version->aggregates, set->numbers[i])->id, 3 * (i + 1));
    struct buf why = {0};
    if (!audit_version(version, &why))
        fail_msg("%.*s", SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
    replica_abandon(replica, edit);
    replica_destroy(replica);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
