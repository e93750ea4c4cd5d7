/* YAML to values: what unquoted scalars are, what is refused and where, aliases. */
#include "policy/yaml_text.h"

#include "base/buf.h"
#include "policy/scalar.h"
#include "unit.h"

static void scalars(void **state)
{
    (void)state;
    static const char *const NULLS[] = {"", "~", "null", "Null", "NULL"};
    static const char *const OTHERS[] = {"yes",
                                         "No",
                                         "TRUE",
                                         "off",
                                         "On",
                                         "=",
                                         "0",
                                         "7",
                                         "-12",
                                         "+1_000",
                                         "017",
                                         "0b101",
                                         "0xfF",
                                         "1:30",
                                         "190:20:30",
                                         "1.5",
                                         "1.",
                                         "-1.5e+3",
                                         ".5",
                                         ".5e-1",
                                         "1:30.5",
                                         ".inf",
                                         "-.INF",
                                         ".nan",
                                         "2001-01-01",
                                         "2001-1-1 10:00:00",
                                         "2001-12-14t21:59:43.10-05:00"};
    static const char *const TEXTS[] = {
        "role:admin", "nul",  "nULL", "y",    "n",     "yEs",   "tRue",       "1e5",
        "1.5e3",      "0o17", "08",   "0b",   "0x",    "1a",    "-",          "+",
        ".",          "-.5",  "1:99", "0:30", "1:30:", "+.nan", "2001-01",    "20010-01-01",
        "1.2.3",      "a:b",  "@x",   "<",    "==",    "1 2",   "2001-001-01"};
    for (size_t i = 0; i < sizeof(NULLS) / sizeof(NULLS[0]); i++)
        assert_int_equal(policy_yaml_scalar_kind(slice_of(NULLS[i])), POLICY_VALUE_NULL);
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        if (policy_yaml_scalar_kind(slice_of(OTHERS[i])) != POLICY_VALUE_OTHER)
            fail_msg("%s is text", OTHERS[i]);
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        if (policy_yaml_scalar_kind(slice_of(TEXTS[i])) != POLICY_VALUE_TEXT)
            fail_msg("%s is no text", TEXTS[i]);
    assert_int_equal(policy_yaml_scalar_kind(SLICE_LIT("<<")), POLICY_VALUE_MERGE);
    assert_int_equal(policy_yaml_scalar_kind(SLICE_LIT("0\0001")), POLICY_VALUE_TEXT);
}

static void values(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    const struct policy_value *root = policy_yaml_read(
        arena, "f", SLICE_LIT("# comment\na: &x [b, 'yes', yes]\nc: *x\nd: |\n  one\n  two\n"),
        &err);
    assert_non_null(root);
    assert_int_equal(root->kind, POLICY_VALUE_MAP);
    assert_int_equal(root->count, 6);
    const struct policy_value *list = root->items[1];
    assert_int_equal(root->items[0]->line, 2);
    assert_int_equal(list->kind, POLICY_VALUE_LIST);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->items[1]->kind, POLICY_VALUE_TEXT);
    assert_int_equal(list->items[2]->kind, POLICY_VALUE_OTHER);
    assert_ptr_equal(root->items[3], list);
    assert_true(slice_equal(root->items[5]->text, SLICE_LIT("one\ntwo\n")));
    const struct policy_value *nothing = policy_yaml_read(arena, "f", SLICE_LIT("# x\n"), &err);
    assert_int_equal(nothing->kind, POLICY_VALUE_NULL);
    const struct policy_value *json =
        policy_yaml_read(arena, "f", SLICE_LIT("{\n\t\"a\": [\"\\u0041\\/\", null]\n}"), &err);
    assert_true(slice_equal(json->items[1]->items[0]->text, SLICE_LIT("A/")));
    assert_int_equal(json->items[1]->items[1]->kind, POLICY_VALUE_NULL);
    arena_destroy(arena);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"a: b\nc: 'open\n", "f:3: found unexpected end of stream while scanning a quoted scalar"},
        {"a: @\n",
         "f:1: found character that cannot start any token while scanning for the next token"},
        {"a: b\n---\nc: d\n", "f:2: a second document"},
        {"a: *b\n", "f:1: an alias without an anchor before it"},
        {"a: &b [*b]\n", "f:1: an alias inside its own anchor"},
        {"a: !\n", "f:1: an exclamation mark that is meant as text must be in quotes"},
        {"a: !!int 5\n", "f:1: a tag"},
        {"a: !!set {x}\n", "f:1: a tag"},
        {"\n\na: [[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]\n", "f:3: nested too deep"},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        struct arena *arena = arena_create();
        struct err err = {.arena = arena};
        assert_null(policy_yaml_read(arena, "f", slice_of(ROWS[i][0]), &err));
        assert_string_equal(arena_copy(arena, err.message).data, ROWS[i][1]);
        arena_destroy(arena);
    }
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    assert_null(policy_yaml_read(arena, "f", SLICE_LIT("a: \xff\n"), &err));
    assert_string_equal(arena_copy(arena, err.message).data,
                        "f: invalid leading UTF-8 octet at byte 3");
    arena_destroy(arena);
}

static const struct policy_value *read_many(struct arena *arena, bool anchors, unsigned count,
                                            struct err *err)
{
    struct buf text = {0};
    buf_append_char(&text, '[');
    for (unsigned i = 0; i < count; i++)
        if (anchors)
            buf_printf(&text, "&a%u x,", i);
        else
            buf_append_lit(&text, "x,");
    buf_append_char(&text, ']');
    const struct policy_value *value = policy_yaml_read(arena, "f", buf_slice(&text), err);
    buf_free(&text);
    return value;
}

static void limits(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    assert_non_null(read_many(arena, false, POLICY_YAML_NODES_MAX - 1, &err));
    assert_null(read_many(arena, false, POLICY_YAML_NODES_MAX, &err));
    assert_string_equal(arena_copy(arena, err.message).data, "f:1: more than 50000 values");
    err = (struct err){.arena = arena};
    assert_non_null(read_many(arena, true, POLICY_YAML_ANCHORS_MAX, &err));
    assert_null(read_many(arena, true, POLICY_YAML_ANCHORS_MAX + 1, &err));
    assert_string_equal(arena_copy(arena, err.message).data, "f:1: more than 256 anchors");
    arena_destroy(arena);
}

/* Nine levels of nine aliases would be 387 million values if they were copied. */
static void expansion(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct buf text = {0};
    buf_printf(&text, "a0: &a0 x\n");
    for (unsigned i = 1; i < 10; i++)
        buf_printf(&text, "a%u: &a%u [*a%u,*a%u,*a%u,*a%u,*a%u,*a%u,*a%u,*a%u,*a%u]\n", i, i, i - 1,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_non_null(policy_yaml_read(arena, "f", buf_slice(&text), &err));
    assert_in_range(arena_footprint_bytes(arena), 0, 100000);
    buf_free(&text);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars), cmocka_unit_test(values),    cmocka_unit_test(refusals),
        cmocka_unit_test(limits),  cmocka_unit_test(expansion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
