/* Bodies: objects within limits, and the errors for their members (Valet spec, 2.4 and 2.6). */
#include "base/arena.h"
#include "valet/api/body.h"

#include <stdio.h>

#include "unit.h"
#include "valet/api/body_schemas.h"
#include "valet/write/plan_groups.h"

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

/* "%a": a text of 255 characters; "%b": of 256; "%c", "%d": the same with 4096. */
static struct slice expand(const char *text)
{
    struct buf out = {0};
    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '%') {
            buf_append_char(&out, *c);
            continue;
        }
        c++;
        int count = (*c >= 'c' ? 4096 : 255) + (*c == 'b' || *c == 'd');
        for (int i = 0; i < count; i++)
            buf_append_lit(&out, "\xc3\xa9");
    }
    struct slice copy = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return copy;
}

#define GROUP_NAME                                                                                 \
    " did not pass validation against callable: group_name_type (must contain only uppercase and " \
    "lowercase letters, decimal digits, hyphens, periods, underscores, and tildes [RFC 3986, "     \
    "Section 2.3])"

/* Each row has one fault, or several of which the first one is reported. */
static void schemas(void **state)
{
    (void)state;
    static const struct {
        const struct schema *schema;
        const char *body;
        const char *said; /* NULL: it passes */
    } CASES[] = {
        {&BODY_GROUP_CREATE, "{'name': 'a-._~Z9', 'type': 'exclusivity'}", NULL},
        {&BODY_GROUP_CREATE, "{'type': 5, 'A': 1}", "-> A is not known here"},
        {&BODY_GROUP_CREATE, "{'type': 5}", "-> name -> is missing"},
        {&BODY_GROUP_CREATE, "{'name': null}", "-> name -> is not a string"},
        {&BODY_GROUP_CREATE, "{'name': ['a']}", "-> name -> is not a string"},
        {&BODY_GROUP_CREATE, "{'name': '%b'}", "-> name -> has more than 255 characters"},
        {&BODY_GROUP_CREATE, "{'name': ''}", "-> name -> " GROUP_NAME},
        {&BODY_GROUP_CREATE, "{'name': 'a b', 'type': 5}", "-> name -> a b" GROUP_NAME},
        {&BODY_GROUP_CREATE, "{'name': 'a', 'description': 5}", "-> type -> is missing"},
        {&BODY_GROUP_CREATE, "{'name': 'a', 'type': 5}", "-> type -> is not a string"},
        {&BODY_GROUP_CREATE, "{'name': 'a', 'type': '%b'}",
         "-> type -> has more than 255 characters"},
        {&BODY_GROUP_CREATE, "{'name': 'a', 'type': ''}",
         "-> type -> is not exclusivity, the only type there is"},
        {&BODY_GROUP_CREATE, "{'name': 'a', 'type': 'exclusivity', 'description': '%c'}", NULL},
        {&BODY_GROUP_CREATE, "{'name': 'a', 'type': 'exclusivity', 'description': '%d'}",
         "-> description -> has more than 4096 characters"},
        {&BODY_GROUP_UPDATE, "{}", "-> description -> is missing"},
        {&BODY_GROUP_UPDATE, "{'description': ''}", NULL},
        {&BODY_MEMBERS, "{}", "-> members -> is missing"},
        {&BODY_MEMBERS, "{'members': {}}", "-> members -> is not a list"},
        {&BODY_MEMBERS, "{'members': [5, '%a']}", NULL},
        {&BODY_MEMBERS, "{'members': [5, '%b']}", "-> members -> one has more than 255 characters"},
        {&BODY_PLAN_CREATE, "{'plan_name': 'a', 'stack_id': 'b', 'resources': {}}", NULL},
        {&BODY_PLAN_CREATE, "{'plan_name': '', 'stack_id': ''}", "-> plan_name -> is empty"},
        {&BODY_PLAN_CREATE, "{'plan_name': 'a', 'resources': 5}", "-> stack_id -> is missing"},
        {&BODY_PLAN_CREATE, "{'plan_name': 'a', 'stack_id': 'b', 'resources': [], 'timeout': 5}",
         "-> resources -> is not an object"},
        {&BODY_PLAN_CREATE, "{'plan_name': 'a', 'stack_id': 'b', 'resources': {}, 'locations': {}}",
         "-> locations -> is not a list"},
        {&BODY_PLAN_CREATE, "{'plan_name': 'a', 'stack_id': 'b', 'resources': {}, 'timeout': 5}",
         "-> timeout -> is not a string"},
        {&BODY_PLAN_CREATE, "{'plan_name': 'a', 'stack_id': 'b', 'resources': {}, 'timeout': '%d'}",
         NULL},
        {&BODY_PLAN_ACTION, "{'other': 5}", "-> action -> is missing"},
        {&BODY_PLAN_ACTION, "{'action': 'Update', 'other': 5}",
         "-> action -> is neither migrate nor update"},
        {&BODY_PLAN_ACTION, "{'action': 'migrate', 'other': 5}", NULL},
        {&BODY_PLAN_UPDATE, "{'action': 'update'}", "-> resources -> is missing"},
        {&BODY_PLAN_UPDATE, "{'action': 'update', 'resources': {}, 'plan_name': ''}",
         "-> plan_name -> is empty"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate'}", "-> resources -> is missing"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate', 'resources': {}}",
         "-> resources -> is not a list"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate', 'resources': ['a', 5]}",
         "resources is not a list of strings"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate', 'resources': ['a', '%b']}",
         "resources: one has more than 255 characters"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate', 'resources': ['a', 'b'], 'timeout': 5}",
         "-> resources -> is not a list of one string"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate', 'resources': []}",
         "-> resources -> is not a list of one string"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate', 'resources': ['a'], 'excluded_hosts': 5}",
         "excluded_hosts is not a list of strings"},
        {&BODY_PLAN_MIGRATE, "{'action': 'migrate', 'resources': ['a'], 'plan_name': ''}", NULL},
        {&BODY_RESERVE, "{}", NULL},
        {&BODY_RESERVE, "{'locations': null}", "locations is not a list of strings"},
        {&BODY_RESERVE, "{'locations': ['%b']}", "locations: one has more than 255 characters"},
        {&BODY_RESERVE, "{'resource_id': '', 'action': 5}", "-> resource_id -> is empty"},
        {&BODY_RESERVE, "{'action': 5}", "-> action -> is not a string"},
        {&BODY_RESERVE, "{'action': ''}", "-> action -> is neither reserve nor replan"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct buf text = {0};
        buf_append_slice(&text, expand(CASES[i].body));
        for (size_t c = 0; c < text.len; c++)
            if (text.data[c] == '\'')
                text.data[c] = '"';
        json_t *body = body_parse(buf_slice(&text), NULL, &err);
        assert_non_null(body);
        if (body_check(body, CASES[i].schema, &err) != (CASES[i].said == NULL))
            fail_msg("%s", CASES[i].body);
        if (CASES[i].said != NULL)
            assert_said(CASES[i].said);
        json_decref(body);
        buf_free(&text);
    }
}

static void too_many_members(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        json_t *list = json_array();
        for (size_t i = 0; i < PLAN_GROUP_MEMBERS_MAX + more; i++)
            json_array_append_new(list, json_integer(1));
        json_t *body = json_pack("{so}", "members", list);
        assert_int_equal(body_check(body, &BODY_MEMBERS, &err), more == 0);
        json_decref(body);
    }
    char words[64];
    snprintf(words, sizeof(words), "-> members -> there are more than %d", PLAN_GROUP_MEMBERS_MAX);
    assert_said(words);
}

/* Text after a NUL byte counts, and is reported. */
static void zero_bytes(void **state)
{
    (void)state;
    json_t *body = parse("{\"name\": \"x\\u0000y\", \"type\": \"exclusivity\"}");
    assert_true(slice_equal(body_text(body, "name"), SLICE_LIT("x\0y")));
    assert_null(body_text(body, "description").data);
    assert_false(body_check(body, &BODY_GROUP_CREATE, &err));
    assert_true(slice_starts_with(err.message, SLICE_LIT("-> name -> x\0y did not pass")));
    json_decref(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(documents, setup, teardown),
        cmocka_unit_test_setup_teardown(nesting, setup, teardown),
        cmocka_unit_test_setup_teardown(schemas, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_members, setup, teardown),
        cmocka_unit_test_setup_teardown(zero_bytes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
