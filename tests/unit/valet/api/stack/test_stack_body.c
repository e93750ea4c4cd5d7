/* Bodies of plans: what is accepted, what is refused and with which error, fingerprints. */
#include "valet/api/stack/stack_body.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "unit.h"

struct fixture {
    struct arena *arena;
    struct flavors *flavors;
    struct err err;
    json_t *resources;
    struct stack stack;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->arena = arena_create();
    fixture->err.arena = fixture->arena;
    fixture->flavors =
        flavors_parse(SLICE_LIT("{\"s\": {\"id\": \"2\", \"vcpus\": 1, \"ram\": 5, \"disk\": 0}}"),
                      SLICE_LIT("test"), &fixture->err);
    assert_non_null(fixture->flavors);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    json_decref(fixture->resources);
    flavors_give_back(fixture->flavors);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

/* Apostrophes stand for quotation marks. */
static json_t *document(const char *text)
{
    char *quoted = strdup(text);
    for (char *at = quoted; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    json_error_t error;
    json_t *value = json_loads(quoted, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (value == NULL)
        print_error("%s: %s\n", quoted, error.text);
    assert_non_null(value);
    free(quoted);
    return value;
}

static bool read_with(struct fixture *fixture, const char *text, const char *locations)
{
    struct stack_body input = {fixture->flavors, 4, fixture->arena};
    json_t *list = locations == NULL ? NULL : document(locations);
    json_decref(fixture->resources);
    fixture->resources = document(text);
    fixture->err = (struct err){.arena = fixture->arena};
    bool good = stack_body_read(&input, fixture->resources, list, &fixture->stack, &fixture->err);
    assert_int_equal(good, !err_is_set(&fixture->err));
    json_decref(list);
    return good;
}

static void assert_read(struct fixture *fixture, const char *text)
{
    if (!read_with(fixture, text, NULL))
        fail_msg("%s: %.*s", text, SLICE_ARG(fixture->err.message));
}

static void assert_refused(struct fixture *fixture, const char *text, int status, const char *why)
{
    assert_false(read_with(fixture, text, NULL));
    assert_int_equal(fixture->err.status, status);
    char *message = slice_dup(fixture->err.message);
    if (strstr(message, why) == NULL)
        fail_msg("%s: '%s' instead of '%s'", text, message, why);
    free(message);
}

#define SERVER "{'type': 'OS::Nova::Server', 'properties': {'flavor': 's'}}"
#define GROUP(type, level, resources)                                                              \
    "{'type': 'OS::Valet::GroupAssignment', 'properties': {'group_type': '" type                   \
    "', 'level': '" level "', 'resources': " resources "}}"
#define NAMED(name)                                                                                \
    "{'name': '" name "', 'type': 'OS::Nova::Server', 'properties': {'flavor': 's'}}"
#define EXCLUSIVE(name, level, resources)                                                          \
    "{'type': 'OS::Valet::GroupAssignment', 'properties': {'group_type': 'exclusivity', "          \
    "'group_name': '" name "', 'level': '" level "', 'resources': " resources "}}"

static void test_servers(void **state)
{
    struct fixture *fixture = *state;
    assert_true(read_with(fixture,
                          "{'a': {'TYPE': 'OS::Nova::Server', 'Name': 'first', 'locations': ['h'],"
                          " 'Properties': {'flavor': '2', 'availability_zone': 'z:h:n',"
                          " 'user_data': {'x': [1, null]}}, 'other': 5},"
                          "'v': {'type': 'OS::Cinder::Volume'},"
                          "'b': {'type': 'OS::Nova::Server', 'properties': {'flavor': {'vcpus': 0,"
                          " 'ram': 7, 'disk': 0}, 'availability_zone': ':h'}}}",
                          NULL));
    assert_int_equal(fixture->stack.server_count, 2);
    const struct stack_server *a = &fixture->stack.servers[0];
    assert_true(slice_equal(a->orchestration_id, SLICE_LIT("a")));
    assert_true(slice_equal(a->name, SLICE_LIT("first")));
    assert_true(slice_equal(a->zone, SLICE_LIT("z")));
    assert_int_equal(a->amount_count, 2);
    assert_int_equal(a->locations.count, 1);
    const struct stack_server *b = &fixture->stack.servers[1];
    assert_true(slice_equal(b->name, SLICE_LIT("b")));
    assert_null(b->zone.data);
    assert_int_equal(b->amount_count, 1);
    assert_int_equal(b->amounts[0].amount, 7);
    assert_int_equal(fixture->stack.locations.count, 0);
    assert_read(fixture, "{}");
    assert_int_equal(fixture->stack.server_count, 0);
}

static void test_schema(void **state)
{
    struct fixture *fixture = *state;
    assert_refused(fixture, "[]", 400, "resources is not an object");
    assert_refused(fixture, "null", 400, "resources is not an object");
    assert_refused(fixture, "{'a': 1}", 400, "resources -> a -> it is not an object");
    assert_refused(fixture, "{'a': {}}", 400, "type is missing");
    assert_refused(fixture, "{'a': {'type': null}}", 400, "type is not a string");
    assert_refused(fixture, "{'a': {'type': 'x', 'Type': 'x'}}", 400, "type is there twice");
    assert_refused(fixture, "{'a': {'type': 'x', 'name': 1}}", 400, "name is not a string");
    assert_refused(fixture, "{'a': {'type': 'x', 'properties': []}}", 400, "is not an object");
    assert_refused(fixture, "{'a': {'type': 'OS::Nova::Server'}}", 400, "properties is missing");
    assert_refused(fixture, "{'': " SERVER "}", 400, "its id is empty");
    assert_refused(fixture,
                   "{'a': {'type': 'OS::Nova::Server', 'locations': 'h', 'properties': "
                   "{'flavor': 's'}}}",
                   400, "resources -> a -> locations is not a list");
    assert_refused(fixture,
                   "{'a':" SERVER ",'b':" SERVER ",'c':" SERVER ",'d':" SERVER ",'e':" SERVER "}",
                   400, "more than 4 servers");
    assert_false(read_with(fixture, "{}", "['h', 1]"));
    assert_false(read_with(fixture, "{}", "{}"));
    assert_true(read_with(fixture, "{}", "['h', 'i']"));
    assert_int_equal(fixture->stack.locations.count, 2);
}

static void test_long_texts(void **state)
{
    struct fixture *fixture = *state;
    char name[3 * 256 + 1] = "";
    for (int i = 0; i < 255; i++)
        strcat(name, "ä");
    struct slice text = arena_printf(fixture->arena, "{'%s': " SERVER "}", name);
    assert_read(fixture, text.data);
    strcat(name, "x");
    text = arena_printf(fixture->arena, "{'%s': " SERVER "}", name);
    assert_refused(fixture, text.data, 400, "more than 255 characters");
    text =
        arena_printf(fixture->arena,
                     "{'a': {'type': 'OS::Nova::Server', 'name': '%s', 'properties': {}}}", name);
    assert_refused(fixture, text.data, 400, "name has more than 255 characters");
    /* what is ignored has no limit */
    text = arena_printf(fixture->arena, "{'%s': {'type': 'other', 'name': '%s'}}", name, name);
    assert_read(fixture, text.data);
}

static void test_flavors(void **state)
{
    struct fixture *fixture = *state;
    static const char *const cases[][2] = {
        {"{}", "flavor is missing"},
        {"{'flavor': null}", "neither a string nor an object"},
        {"{'flavor': 'm1.none'}", "there is no flavor 'm1.none'"},
        {"{'flavor': {'vcpus': 1}}", "ram is missing"},
        {"{'flavor': {'vcpus': 0, 'ram': 0, 'disk': 0}}", "asks for nothing"},
        {"{'flavor': 's', 'availability_zone': 1}", "availability_zone is not a string"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct slice text = arena_printf(
            fixture->arena, "{'a': {'type': 'OS::Nova::Server', 'properties': %s}}", cases[i][0]);
        assert_refused(fixture, text.data, 400, cases[i][1]);
        assert_true(slice_starts_with(fixture->err.message, SLICE_LIT("Valet error: ")));
    }
}

static void test_groups(void **state)
{
    struct fixture *fixture = *state;
    assert_read(
        fixture,
        "{'a': " SERVER ", 'b': {'name': 'bee', 'type': 'OS::Nova::Server', "
        "'properties': {'flavor': 's'}}, 'v': {'type': 'volume', 'name': 'vol'},"
        "'A': " GROUP("Affinity", "host",
                      "['a', 'bee', 'a', 'vol', 'b']") ","
                                                       "'D': " GROUP("DIVERSITY", "rack",
                                                                     "['A']") ","
                                                                              "'E': " EXCLUSIVE(
                                                                                  "gold", "host",
                                                                                  "['A']") "}");
    assert_int_equal(fixture->stack.group_count, 3);
    const struct stack_group *group = fixture->stack.groups;
    assert_int_equal(group[0].type, STACK_AFFINITY);
    assert_int_equal(group[0].element_count, 2);
    assert_int_equal(group[1].type, STACK_DIVERSITY);
    assert_int_equal(group[1].level, STACK_RACK);
    assert_true(group[1].elements[0].is_group);
    assert_int_equal(group[1].elements[0].at, 0);
    assert_true(slice_equal(group[2].group_name, SLICE_LIT("gold")));
    assert_read(fixture, "{'v': {'type': 'x'}, 'A': " GROUP("affinity", "host", "['v']") "}");
    assert_int_equal(fixture->stack.groups[0].element_count, 0);
}

static void test_refused_groups(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        int status;
        const char *why;
    } cases[] = {
        {GROUP("quality", "host", "['a']"), 400, "group_type is to be one of"},
        {GROUP("affinity", "Rack", "['a']"), 400, "level is to be"},
        {GROUP("affinity", "cluster", "['a']"), 400, "level is to be"},
        {GROUP("affinity", "host", "[]"), 400, "at least one string"},
        {GROUP("affinity", "host", "{}"), 400, "at least one string"},
        {GROUP("affinity", "host", "[1]"), 400, "a list of strings"},
        {GROUP("affinity", "host", "['nobody']"), 400, "something unknown, 'nobody'"},
        {GROUP("affinity", "host", "['twin']"), 400, "several resources have the name 'twin'"},
        {GROUP("affinity", "host", "['G']"), 400, "circle with itself"},
        {GROUP("affinity", "host", "['H']"), 400, "is part of a circle"},
        {GROUP("exclusivity", "host", "['a']"), 400, "needs a group_name"},
        {EXCLUSIVE("", "host", "['a']"), 400, "needs a group_name"},
        {GROUP("diversity", "host", "['D']"), 400, "take servers and affinity groups"},
        {EXCLUSIVE("gold", "rack", "['D']"), 400, "take servers and affinity groups"},
        {GROUP("affinity", "host", "['R']"), 400, "of a higher level"},
        {"{'type': 'ATT::Valet::GroupAssignment', 'properties': {'group_type': 'affinity', "
         "'group_name': 'gold', 'level': 'host', 'resources': ['a']}}",
         409, "only an exclusivity group has a group_name"},
        {"{'type': 'ATT::Valet::GroupAssignment', 'properties': {'group_type': 'affinity', "
         "'group_name': null, 'level': 'host', 'resources': ['a']}}",
         400, "group_name is not a string"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct slice text = arena_printf(
            fixture->arena,
            "{'a': " SERVER ", 'b': {'name': 'twin', 'type': 'OS::Nova::Server', 'properties': "
            "{'flavor': 's'}}, 'c': {'name': 'twin', 'type': 'other'}, 'G': %s,"
            "'H': " GROUP("affinity", "rack", "['G']") ", 'D': " GROUP(
                "diversity", "host", "['a']") ", 'R': " GROUP("affinity", "rack", "['a']") "}",
            cases[i].text);
        assert_refused(fixture, text.data, cases[i].status, cases[i].why);
        assert_true(slice_starts_with(fixture->err.message, SLICE_LIT("Valet error: ")));
    }
    assert_refused(fixture, "{'G': {'type': 'OS::Valet::GroupAssignment'}}", 400, "is missing");
    /* of three servers with a name, the third is not needed to detect it */
    assert_refused(fixture,
                   "{'a': {'type': 'x', 'name': 't'}, 'b': {'type': 'x', 'name': 't'},"
                   "'c': {'type': 'x', 'name': 't'}, 'G': " GROUP("affinity", "host", "['t']") "}",
                   400, "several resources");
}

/* One has that id, the other that name; what is ignored hides nothing. */
static void test_ids_that_are_names(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *one, *other;
        bool is_good;
    } cases[] = {
        {"'t': " SERVER, "'b': {'type': 'x', 'name': 't'}", false},
        {"'t': {'type': 'x'}", "'b': " NAMED("t"), false},
        {"'t': {'type': 'x', 'name': 'other'}", "'b': " NAMED("t"), false},
        {"'t': " NAMED("b"), "'b': " NAMED("t"), false},
        {"'b': " NAMED("t"), "'c': " NAMED("t"), false},
        {"'b': {'type': 'x', 'name': 't'}", "'c': {'type': 'x', 'name': 't'}", false},
        {"'t': " NAMED("t"), "'b': {'type': 'x'}", true},
        {"'t': " NAMED("b"), "'b': {'type': 'x'}", true},
        {"'b': " NAMED("t"), "'c': {'type': 'x'}", true},
        {"'t': {'type': 'x'}", "'c': {'type': 'x'}", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            struct slice text = arena_printf(
                fixture->arena, "{%s, %s, 'G': " GROUP("affinity", "host", "['t']") "}",
                swapped ? cases[i].other : cases[i].one, swapped ? cases[i].one : cases[i].other);
            if (cases[i].is_good)
                assert_read(fixture, text.data);
            else
                assert_refused(fixture, text.data, 400, "several resources have the name 't'");
        }
}

static void test_one_id_in_two_forms(void **state)
{
    struct fixture *fixture = *state;
    assert_refused(fixture,
                   "{'0B8E4CD56A7F4D1C9A3B5D2E8F10C6A7': " SERVER
                   ", '0b8e4cd5-6a7f-4d1c-9a3b-5d2e8f10c6a7': " SERVER "}",
                   400, "in another form");
    assert_read(fixture, "{'0B8E4CD56A7F4D1C9A3B5D2E8F10C6A7': " SERVER
                         ", '0b8e4cd5-6a7f-4d1c-9a3b-5d2e8f10c6a7': {'type': 'x'}, 'a': " SERVER
                         ", 'A': " SERVER "}");
}

#define TWO(one, one_level, other, other_level, second)                                            \
    "'E': " EXCLUSIVE(one, one_level, "['a']") ", 'F': " EXCLUSIVE(other, other_level, second)
#define BOTH(level) "'A': " GROUP("affinity", level, "['a', 'b']") ", "
#define APART       "'D': " GROUP("diversity", "host", "['a', 'b']") ", "

static void test_two_exclusivity_groups(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *more;
        bool is_good;
    } cases[] = {
        {TWO("g", "host", "h", "host", "['a']"), false},
        {TWO("g", "host", "h", "rack", "['a']"), false},
        {TWO("g", "host", "g", "rack", "['a']"), true},
        {TWO("g", "host", "h", "host", "['b']"), true},
        /* it spreads through affinity of the same or a lower level */
        {BOTH("host") TWO("g", "host", "h", "host", "['b']"), false},
        {BOTH("rack") TWO("g", "host", "h", "host", "['b']"), true},
        {BOTH("rack") TWO("g", "rack", "h", "host", "['b']"), false},
        {BOTH("host") TWO("g", "host", "h", "rack", "['A']"), false},
        /* also through a diversity group that an affinity group binds */
        {APART TWO("g", "rack", "h", "rack", "['b']"), true},
        {APART "'A': " GROUP("affinity", "rack", "['D', 'c']") ", " TWO("g", "rack", "h", "rack",
                                                                        "['b']"),
         false},
        /* a group that lists only ignored names binds nothing */
        {"'A': " GROUP("affinity", "host", "['N', 'a']") ", " TWO("g", "host", "h", "host",
                                                                  "['N']"),
         true},
        {"'A': " GROUP("affinity", "host", "['N', 'a']") ", " TWO("g", "host", "h", "host",
                                                                  "['A']"),
         false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct slice text =
            arena_printf(fixture->arena,
                         "{'a': " SERVER ", 'b': " SERVER ", 'c': " SERVER
                         ", 'v': {'type': 'x'}, 'N': " GROUP("affinity", "host", "['v']") ", %s}",
                         cases[i].more);
        if (cases[i].is_good)
            assert_read(fixture, text.data);
        else
            assert_refused(fixture, text.data, 400, "is in two exclusivity groups");
    }
}

/* Groups in a long chain, each listed by the one before and by the first: no deep recursion. */
static void test_many_groups(void **state)
{
    struct fixture *fixture = *state;
    struct buf text = {0};
    buf_append_lit(&text, "{'a': " SERVER ", 'b': " SERVER);
    for (int i = 0; i < 20000; i++) {
        if (i < 19999)
            buf_printf(&text, ", 'g%d': " GROUP("affinity", "host", "['g%d', 'g%d', 'a']"), i,
                       i + 1, i < 19998 ? i + 2 : i + 1);
        else
            buf_printf(&text, ", 'g%d': " GROUP("affinity", "host", "['b']"), i);
    }
    buf_append_lit(&text, ", 'E': " EXCLUSIVE("g", "host", "['a']"));
    size_t len = text.len;
    buf_append(&text, "}", 2);
    assert_read(fixture, text.data);
    text.len = len;
    buf_append_lit(&text, ", 'F': " EXCLUSIVE("h", "host", "['b']") "}");
    buf_append(&text, "", 1);
    assert_refused(fixture, text.data, 400, "is in two exclusivity groups");
    buf_free(&text);
}

static struct slice print_of(struct fixture *fixture, const char *name, const char *resources,
                             const char *locations)
{
    char *out = arena_alloc(fixture->arena, STACK_FINGERPRINT_LEN);
    json_t *one = document(resources);
    json_t *other = locations == NULL ? NULL : document(locations);
    stack_fingerprint(slice_of(name), one, other, out);
    json_decref(one);
    json_decref(other);
    return (struct slice){out, STACK_FINGERPRINT_LEN};
}

static void test_fingerprints(void **state)
{
    struct fixture *fixture = *state;
    struct slice first = print_of(fixture, "p", "{'a': {'x': 1, 'y': 2}, 'b': {}}", NULL);
    assert_true(
        slice_equal(first, print_of(fixture, "p", "{'b': {}, 'a': {'y': 2, 'x': 1}}", "[]")));
    assert_false(
        slice_equal(first, print_of(fixture, "q", "{'a': {'x': 1, 'y': 2}, 'b': {}}", "[]")));
    assert_false(
        slice_equal(first, print_of(fixture, "p", "{'a': {'x': 1, 'y': 3}, 'b': {}}", "[]")));
    assert_false(
        slice_equal(first, print_of(fixture, "p", "{'a': {'x': 1, 'y': 2}, 'b': {}}", "['h']")));
    assert_false(slice_equal(print_of(fixture, "", "{}", "['h', 'i']"),
                             print_of(fixture, "", "{}", "['i', 'h']")));
    assert_true(slice_equal(print_of(fixture, "p", "{'a\\u0062': '\\u0000'}", NULL),
                            print_of(fixture, "p", "{'ab': '\\u0000'}", NULL)));
    for (size_t i = 0; i < first.len; i++)
        assert_non_null(memchr("0123456789abcdef", first.data[i], 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_servers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_schema, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flavors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_that_are_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_id_in_two_forms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_exclusivity_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fingerprints, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
