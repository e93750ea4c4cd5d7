/* What it costs to find that no node has the traits of an allocation. A body holds tens of
 * thousands of them; comparing each with each would stop every other write. */
#include "baremetal/write/metal_world.h"
#include "base/buf.h"
#include "steps.h"
#include "unit.h"

/* In descending order, with one again and again. Fails the allocation, which names them all. */
static struct steps_cost cost_of_traits(unsigned count)
{
    static struct metal_world metal;
    struct buf words = {0};
    struct buf error = {0};
    buf_append_lit(&error, "Failed to process allocation a1: no suitable nodes have the requested "
                           "traits CUSTOM_A");
    for (unsigned i = count; i > 0; i--) {
        buf_printf(&words, "CUSTOM_A CUSTOM_%u ", i);
        buf_printf(&error, ", CUSTOM_%u", i);
    }
    words.len--;
    buf_append_lit(&error, ".");
    buf_append_char(&error, '\0');
    metal_open(&metal);
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A"));
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, buf_slice(&words));
    assert_true(metal_allocate_drafted(&metal, &draft, NULL));
    uint64_t before = steps_now();
    assert_true(metal_decide(&metal, "a1", NULL));
    struct steps_cost cost = {count, steps_since(before)};
    metal_assert_failed(&metal, "a1", error.data);
    metal_close(&metal);
    buf_free(&words);
    buf_free(&error);
    return cost;
}

static void thousands_of_traits(void **state)
{
    (void)state;
    steps_assert_linear("traits", cost_of_traits(4000), cost_of_traits(32000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_traits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
