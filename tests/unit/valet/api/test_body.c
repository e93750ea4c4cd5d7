/* Bodies: objects within limits, and what is said of their members (Valet spec, 2.4 and 2.6). */
#include "valet/api/body.h"

#include "unit.h"

static struct arena *arena;
static struct err err;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    err = (struct err){.arena = arena};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void assert_said(const char *words)
{
    assert_int_equal(err.status, 400);
    assert_string_equal(arena_copy(arena, err.message).data, words);
    err = (struct err){.arena = arena};
}

static json_t *parse(const char *text)
{
    return body_parse(slice_of(text), NULL, &err);
}

static void documents(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"{",
                                        "[]",
                                        "\"a\"",
                                        "null",
                                        "5",
                                        "{} {}",
                                        "{\"a\": nan}",
                                        "{\"a\": \"\\ud800\"}",
                                        "{\"a\\u0000\": 1}",
                                        "\xff"};
    assert_null(parse(""));
    assert_said("The body is empty, and a JSON object is needed.");
    assert_null(parse("[]"));
    assert_said("The body is no JSON object.");
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        assert_null(parse(WRONG[i]));
        assert_int_equal(err.status, 400);
        err = (struct err){.arena = arena};
    }
    assert_null(body_parse(SLICE_LIT("{}\0"), NULL, &err));
    assert_int_equal(err.status, 400);
    err = (struct err){.arena = arena};
    json_t *body = parse(" {\"a\": {}} ");
    assert_non_null(body);
    json_decref(body);
}

static void nesting(void **state)
{
    (void)state;
    for (int depth = BODY_NESTING_MAX; depth <= BODY_NESTING_MAX + 1; depth++) {
        struct buf text = {0};
        buf_append_lit(&text, "{\"a\": ");
        for (int i = 1; i < depth; i++)
            buf_append_char(&text, '[');
        for (int i = 1; i < depth; i++)
            buf_append_char(&text, ']');
        buf_append_char(&text, '}');
        json_t *body = body_parse(buf_slice(&text), NULL, &err);
        assert_int_equal(body != NULL, depth == BODY_NESTING_MAX);
        json_decref(body);
        buf_free(&text);
    }
    assert_said("The body is nested deeper than 25.");
}

static void keys(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a", "b", NULL};
    static const char *const NOTHING[] = {NULL};
    json_t *body = parse("{\"a\": 1, \"b\": 2}");
    assert_true(body_check_keys(body, NAMES, &err));
    assert_false(body_check_keys(body, NOTHING, &err));
    assert_int_equal(err.status, 400);
    err = (struct err){.arena = arena};
    json_decref(body);
    body = parse("{\"a\": 1, \"A\": 2}");
    assert_false(body_check_keys(body, NAMES, &err));
    assert_said("-> A is not known here");
    json_decref(body);
}

static void texts(void **state)
{
    (void)state;
    const struct body_text one = {.name = "a", .min = 1, .max = 3};
    const struct body_text maybe = {.name = "b", .is_optional = true, .max = 3};
    static const struct {
        const char *body;
        const char *said; /* NULL: it passes */
    } CASES[] = {
        {"{\"a\": \"xyz\"}", NULL},
        {"{\"a\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}", NULL},
        {"{\"a\": \"\"}", "-> a -> is empty"},
        {"{\"a\": \"wxyz\"}", "-> a -> has more than 3 characters"},
        {"{\"a\": null}", "-> a -> is not a string"},
        {"{\"a\": [\"a\"]}", "-> a -> is not a string"},
        {"{}", "-> a -> is missing"},
    };
    struct slice text;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        json_t *body = parse(CASES[i].body);
        assert_int_equal(body_get_text(body, &one, &text, &err), CASES[i].said == NULL);
        if (CASES[i].said != NULL)
            assert_said(CASES[i].said);
        json_decref(body);
    }
    json_t *body = parse("{\"a\": \"x\\u0000y\"}");
    assert_true(body_get_text(body, &one, &text, &err));
    assert_true(slice_equal(text, SLICE_LIT("x\0y")));
    assert_true(body_get_text(body, &maybe, &text, &err));
    assert_null(text.data);
    json_decref(body);
}

static void lists(void **state)
{
    (void)state;
    const json_t *value;
    json_t *body = parse("{\"a\": [\"x\", \"y\"], \"b\": {}}");
    assert_true(body_get_list(body, "a", false, &value, &err) && json_array_size(value) == 2);
    assert_true(body_get_list(body, "e", true, &value, &err) && value == NULL);
    assert_false(body_get_list(body, "b", false, &value, &err));
    assert_said("-> b -> is not a list");
    assert_true(body_get_object(body, "b", false, &value, &err) && value != NULL);
    assert_true(body_get_object(body, "e", true, &value, &err) && value == NULL);
    assert_false(body_get_object(body, "a", true, &value, &err));
    assert_said("-> a -> is not an object");
    assert_false(body_get_list(body, "e", false, &value, &err));
    assert_said("-> e -> is missing");
    json_decref(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(documents, setup, teardown),
        cmocka_unit_test_setup_teardown(nesting, setup, teardown),
        cmocka_unit_test_setup_teardown(keys, setup, teardown),
        cmocka_unit_test_setup_teardown(texts, setup, teardown),
        cmocka_unit_test_setup_teardown(lists, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
