/* Errors: the first one wins, in any form; texts may hold NUL bytes. */
#include "base/arena.h"
#include "base/err.h"
#include "unit.h"

static void first_wins(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    assert_false(err_is_set(&err));
    assert_false(err_set(&err, 409, "placement.concurrent_update", "%s %d", "generation", 7));
    assert_true(err_is_set(&err));
    assert_false(err_set(&err, 400, NULL, "later"));
    assert_false(err_set_text(&err, 400, NULL, SLICE_LIT("later")));
    assert_false(err_set_join(&err, 400, NULL, SLICE_LIT("la"), SLICE_LIT("ter")));
    assert_int_equal(err.status, 409);
    assert_string_equal(err.code, "placement.concurrent_update");
    assert_true(slice_equal(err.message, SLICE_LIT("generation 7")));
    arena_destroy(arena);
}

/* A kind belongs to the error that is set: it is never inherited, and the first one stays. */
static void kinds(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena, .kind = 7};
    assert_false(err_set(&err, 409, NULL, "changed"));
    assert_int_equal(err.kind, 0);
    assert_false(err_of_kind(&err, 3));
    assert_false(err_set(&err, 400, NULL, "later"));
    assert_false(err_set_text(&err, 400, NULL, SLICE_LIT("later")));
    assert_false(err_of_kind(&err, 4));
    assert_int_equal(err.kind, 3);
    err.status = 0;
    assert_false(err_set_text(&err, 404, NULL, SLICE_LIT("gone")));
    assert_int_equal(err.kind, 0);
    err = (struct err){.arena = arena, .kind = 7};
    assert_false(err_set_join(&err, 404, NULL, SLICE_LIT("go"), SLICE_LIT("ne")));
    assert_int_equal(err.kind, 0);
    arena_destroy(arena);
}

static void forms(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    static const char READY[] = "ready\0made";
    struct err err = {.arena = arena};
    assert_false(err_set_text(&err, 404, NULL, (struct slice){READY, 10}));
    assert_ptr_equal(err.message.data, READY); /* not copied */
    assert_int_equal(err.message.len, 10);
    assert_null(err.code);
    err = (struct err){.arena = arena};
    char part[] = "A\0B";
    assert_false(err_set_join(&err, 404, "code", SLICE_LIT("No such trait(s): "),
                              ((struct slice){0}), ((struct slice){part, 3}), SLICE_LIT(".")));
    part[0] = '?'; /* copied */
    assert_true(slice_equal(err.message, SLICE_LIT("No such trait(s): A\0B.")));
    assert_string_equal(err.code, "code");
    arena_destroy(arena);
}

/* The first reason stays, whether or not an error is set. */
static void reasons(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    assert_false(err_reason(&err, "%d hosts, none of them free", 3));
    assert_false(err_is_set(&err));
    assert_false(err_reason(&err, "later"));
    assert_true(slice_equal(err.reason, SLICE_LIT("3 hosts, none of them free")));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_wins),
        cmocka_unit_test(kinds),
        cmocka_unit_test(forms),
        cmocka_unit_test(reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
