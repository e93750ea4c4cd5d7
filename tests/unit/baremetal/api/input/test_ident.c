/* Idents and names. */
#include "baremetal/api/input/ident.h"

#include "baremetal/api/checking.h"

#define UUID "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101"

static void kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ident_kind kind;
    } CASES[] = {
        {UUID, IDENT_UUID},
        {"5C0F4A1E-7D51-4A8E-9A51-6D1F0A4BE101", IDENT_UUID},
        {"5c0f4a1e7d514a8e9a516d1f0a4be101", IDENT_NOBODY},
        {"{" UUID "}", IDENT_NOBODY},
        {"urn:uuid:" UUID, IDENT_NOBODY},
        {"5c0f4a1e7d51-4a8e-9a51-6d1f0a4be101-", IDENT_NOBODY},
        {UUID "0", IDENT_NAME},
        {"web-01.a_b~c", IDENT_NAME},
        {"12", IDENT_NAME},
        {"", IDENT_NEITHER},
        {"a b", IDENT_NEITHER},
        {"a\n", IDENT_NEITHER},
        {"n\xc3\xa4me", IDENT_NEITHER},
        {"a/b", IDENT_NEITHER},
    };
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct ident ident = ident_read(arena, slice_of(CASES[i].text));
        assert_int_equal(ident.kind, CASES[i].kind);
        struct slice want = ident.kind == IDENT_UUID ? SLICE_LIT(UUID) : slice_of(CASES[i].text);
        assert_true(slice_equal(ident.text, want));
    }
    assert_int_equal(ident_read(arena, (struct slice){"a\0b", 3}).kind, IDENT_NEITHER);
    char name[256];
    memset(name, 'x', sizeof(name));
    assert_true(ident_is_name((struct slice){name, 255}));
    assert_false(ident_is_name((struct slice){name, 256}));
    arena_destroy(arena);
}

static void name_is(const char *json, const char *as_allocation, const char *as_node)
{
    struct err err = {.arena = arena_create()};
    json_t *name = json_of(json);
    assert_message(ident_check_allocation_name(name, false, &err), &err, 400, as_allocation);
    assert_message(ident_check_node_name(name, (struct slice){0}, &err), &err, 400, as_node);
    json_decref(name);
    arena_destroy(err.arena);
}

static void names(void **state)
{
    (void)state;
    name_is("null", NULL, NULL);
    name_is("\"web-01\"", NULL, NULL);
    name_is("\"" UUID "\"", NULL, "Cannot create node with invalid name '" UUID "'");
    name_is("\"\"", "Cannot create allocation with invalid name ''",
            "Cannot create node with invalid name ''");
    name_is("5", "Cannot create allocation with invalid name '5'",
            "Cannot create node with invalid name '5'");
    name_is(
        "\"states\"", NULL,
        "The word \"states\" is reserved and can not be used as a node name. Reserved words are: "
        "maintenance, management, states, vendor_passthru, detail, validate.");
    struct err err = {.arena = arena_create()};
    json_t *name = json_of("\"a b\"");
    assert_message(ident_check_allocation_name(NULL, true, &err), &err, 400, NULL);
    assert_message(ident_check_allocation_name(name, true, &err), &err, 400,
                   "Cannot update allocation with invalid name 'a b'");
    assert_message(ident_check_node_name(name, SLICE_LIT("n1"), &err), &err, 400,
                   "Node n1: Cannot change name to invalid name 'a b'");
    json_decref(name);
    arena_destroy(err.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
