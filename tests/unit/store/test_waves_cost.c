/* The cost of waves grows with the changes of a batch, whatever depends on what. */
#include "base/arena.h"
#include "steps.h"
#include "store/waves.h"
#include "unit.h"

enum { FEW = 400, MANY = 8 * FEW };

/* Claims of different consumers. */
static void append_claim(struct change_list *list, int n)
{
    struct slice uuid = arena_printf(list->arena, "%036d", n);
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = n, .project_id = 1, .user_id = 1, .uuid = uuid};
    for (int i = 1; i <= 3; i++)
        change_append(list, CHANGE_ALLOCATION_INSERT)->allocation =
            (struct change_allocation){3 * n + i, n, n % 64, i, 1, uuid};
    change_append(list, CHANGE_PROVIDER_GENERATION)->generation =
        (struct change_generation){n % 64 + 1, n / 64, n / 64 + 1};
}

/* One consumer again and again: two statements in each of as many waves. */
static void append_replacement(struct change_list *list, int n)
{
    struct slice uuid = SLICE_LIT("00000000-0000-4000-8000-000000000001");
    change_append(list, CHANGE_ALLOCATIONS_OF_DELETE)->allocation.consumer_uuid = uuid;
    change_append(list, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){n, 1, 1, 1, 1, uuid};
}

/* Providers come, are linked and go: each delete waits for the inserts before it. */
static void append_provider(struct change_list *list, int n)
{
    change_append(list, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){.id = n, .root_id = n};
    change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){n, 1};
    change_append(list, CHANGE_PROVIDER_TRAIT_DELETE)->link = (struct change_link){n, 1};
    change_append(list, CHANGE_PROVIDER_DELETE)->provider.id = n;
}

static struct steps_cost cost_of(void (*append)(struct change_list *list, int n), int requests)
{
    struct arena *arena = arena_create();
    struct change_list list = {.arena = arena};
    for (int n = 1; n <= requests; n++)
        append(&list, n);
    struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    uint64_t before = steps_now();
    struct waves waves = waves_arrange(&batch, arena);
    struct steps_cost cost = {(uint64_t)requests, steps_since(before)};
    assert_true(waves.count > 0);
    arena_destroy(arena);
    return cost;
}

static void test_linear(void **state)
{
    (void)state;
    steps_assert_linear("claims", cost_of(append_claim, FEW), cost_of(append_claim, MANY));
    steps_assert_linear("replacements", cost_of(append_replacement, FEW),
                        cost_of(append_replacement, MANY));
    steps_assert_linear("providers", cost_of(append_provider, FEW), cost_of(append_provider, MANY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
