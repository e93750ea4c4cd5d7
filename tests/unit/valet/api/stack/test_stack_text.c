/* Stacks as texts: what is written is read again, and a broken text is refused. */
#include "valet/api/stack/stack_text.h"

#include <stdlib.h>

#include "unit.h"

static const struct stack_amount AMOUNTS[] = {{SLICE_LIT("VCPU"), 1},
                                              {SLICE_LIT("CUSTOM_A"), INT32_MAX}};
static const struct slice TRAITS[] = {SLICE_LIT("HW_A"), SLICE_LIT("HW_B")};
static const struct stack_server SERVERS[] = {
    {.orchestration_id = SLICE_LIT("a \"quoted\" one"),
     .name = SLICE_LIT("nul\0inside"),
     .amounts = AMOUNTS,
     .amount_count = 2,
     .required = {TRAITS, 1},
     .forbidden = {TRAITS + 1, 1},
     .zone = SLICE_LIT("z\xc3\xa4"),
     .locations = {TRAITS, 2}},
    {.orchestration_id = SLICE_LIT("b"),
     .name = SLICE_LIT(""),
     .amounts = AMOUNTS,
     .amount_count = 1},
};
static const struct stack_element ELEMENTS[] = {{false, 0}, {false, 1}, {true, 0}};
static const struct stack_group GROUPS[] = {
    {.orchestration_id = SLICE_LIT("A"),
     .name = SLICE_LIT("A"),
     .type = STACK_AFFINITY,
     .level = STACK_HOST,
     .elements = ELEMENTS,
     .element_count = 2},
    {.orchestration_id = SLICE_LIT("E"),
     .name = SLICE_LIT("E"),
     .type = STACK_EXCLUSIVITY,
     .level = STACK_RACK,
     .group_name = SLICE_LIT("gold"),
     .elements = ELEMENTS + 2,
     .element_count = 1},
    {.orchestration_id = SLICE_LIT("D"),
     .name = SLICE_LIT("D"),
     .type = STACK_DIVERSITY,
     .level = STACK_HOST,
     .elements = ELEMENTS,
     .element_count = 0},
};
static const struct stack STACK = {SERVERS, 2, GROUPS, 3, {TRAITS, 1}};

static void test_round_trip(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct buf text = {0};
    struct buf again = {0};
    struct stack stack;
    stack_text_write(&STACK, &text);
    assert_true(stack_text_read(buf_slice(&text), arena, &stack));
    stack_text_write(&stack, &again);
    assert_true(slice_equal(buf_slice(&text), buf_slice(&again)));
    assert_true(slice_equal(stack.servers[0].name, SLICE_LIT("nul\0inside")));
    assert_true(slice_equal(stack.servers[0].zone, SLICE_LIT("z\xc3\xa4")));
    assert_int_equal(stack.servers[0].amounts[1].amount, INT32_MAX);
    assert_null(stack.servers[1].zone.data);
    assert_int_equal(stack.servers[1].locations.count, 0);
    assert_int_equal(stack.group_count, 3);
    assert_true(stack.groups[1].elements[0].is_group);
    assert_int_equal(stack.groups[1].level, STACK_RACK);
    assert_true(slice_equal(stack.groups[1].group_name, SLICE_LIT("gold")));
    assert_int_equal(stack.locations.count, 1);
    struct stack none = {0};
    again.len = 0;
    stack_text_write(&none, &again);
    assert_true(stack_text_read(buf_slice(&again), arena, &stack));
    buf_free(&text);
    buf_free(&again);
    arena_destroy(arena);
}

#define ONE                   "{\"id\":\"a\",\"name\":\"a\",\"amounts\":{\"VCPU\":1}}"
#define TEXT(servers, groups) "{\"version\":1,\"servers\":[" servers "],\"groups\":[" groups "]}"
#define LISTING(more)                                                                              \
    "{\"id\":\"g\",\"name\":\"g\",\"type\":\"affinity\",\"level\":\"host\",\"elements\":" more "}"

static void test_broken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{}",
        "null",
        "[]",
        "{\"version\":1}",
        "{\"version\":2,\"servers\":[],\"groups\":[]}",
        "{\"version\":1,\"servers\":{},\"groups\":[]}",
        "{\"version\":1,\"servers\":[],\"groups\":[],\"locations\":1}",
        TEXT("1", ""),
        TEXT("{\"id\":\"a\",\"name\":\"a\",\"amounts\":{}}", ""),
        TEXT("{\"id\":\"a\",\"name\":\"a\",\"amounts\":{\"VCPU\":0}}", ""),
        TEXT("{\"id\":\"a\",\"name\":\"a\",\"amounts\":{\"VCPU\":1e3}}", ""),
        TEXT("{\"id\":\"a\",\"name\":\"a\",\"amounts\":{\"VCPU\":9223372036854775807}}", ""),
        TEXT("{\"id\":1,\"name\":\"a\",\"amounts\":{\"VCPU\":1}}", ""),
        TEXT("{\"id\":\"a\",\"name\":\"a\",\"amounts\":{\"VCPU\":1},\"zone\":1}", ""),
        TEXT("{\"id\":\"a\",\"name\":\"a\",\"amounts\":{\"VCPU\":1},\"required\":[1]}", ""),
        TEXT(ONE "," ONE, ""), /* one id twice */
        TEXT(ONE, "1"),
        TEXT(ONE, LISTING("[1]")),
        TEXT(ONE, LISTING("[-2]")),
        TEXT(ONE, LISTING("[9223372036854775807]")),
        TEXT(ONE, LISTING("[\"0\"]")),
        TEXT(ONE, LISTING("{}")),
        TEXT(ONE, LISTING("[-1]")), /* a circle */
        TEXT(ONE, "{\"id\":\"g\",\"name\":\"g\",\"type\":\"exclusivity\",\"level\":\"host\","
                  "\"elements\":[0]}"),
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct stack stack;
        if (stack_text_read(slice_of(texts[i]), arena, &stack))
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(stack.server_count + stack.group_count + stack.locations.count, 0);
    }
    struct stack stack;
    assert_true(stack_text_read(slice_of(TEXT(ONE, LISTING("[0]"))), arena, &stack));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
