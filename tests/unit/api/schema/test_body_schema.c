/* Bodies and query strings checked against the tables; the texts are the Python service's answers.
 */
#include "unit.h"

#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/schema/words.h"
#include "api/text/python_repr.h"
#include "api/text/query_string.h"
#include "api/text/uuid_like.h"
#include "base/arena.h"

#define UUID "11111111-2222-3333-4444-555555555555"

static void refuses_text(const struct schema *schema, struct slice body, const char *want)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    assert_null(body_schema_parse(body, NULL, schema, &err));
    assert_int_equal(err.status, 400);
    assert_null(err.code);
    assert_string_equal(arena_copy(arena, err.message).data, want);
    arena_destroy(arena);
}

static void refuses(const struct schema *schema, const char *body, const char *want)
{
    refuses_text(schema, slice_of(body), want);
}

static void takes(const struct schema *schema, const char *body)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    json_t *document = body_schema_parse(slice_of(body), NULL, schema, &err);
    assert_non_null(document);
    assert_false(err_is_set(&err));
    json_decref(document);
    arena_destroy(arena);
}

static void malformed(const char *body, size_t len)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    assert_null(body_schema_parse((struct slice){body, len}, NULL, &SCHEMA_ANY_STRING, &err));
    assert_int_equal(err.status, 400);
    assert_true(slice_starts_with(err.message, SLICE_LIT("Malformed JSON: ")));
    arena_destroy(arena);
}

#define MALFORMED(literal) malformed(literal, sizeof(literal) - 1)

static void malformed_bodies(void **state)
{
    (void)state;
    malformed(NULL, 0);
    MALFORMED("{");
    MALFORMED("{\"a\": NaN}");
    MALFORMED("Infinity");
    MALFORMED("1e400");
    MALFORMED("9223372036854775808");
    MALFORMED("\"\\ud800\"");
    MALFORMED("{\"a\\u0000\": 1}");
    MALFORMED("\"\xff\"");
    MALFORMED("\xef\xbb\xbf{}");
    MALFORMED("{} x");
}

/* The parser drops a NUL byte after a number. */
static void nul_bytes_anywhere(void **state)
{
    (void)state;
    static const char BODY[] = "{\"a\": [1, 2.5, true, \"x\"]}";
    for (size_t at = 0; at <= sizeof(BODY) - 1; at++) {
        char body[sizeof(BODY)];
        memcpy(body, BODY, at);
        body[at] = '\0';
        memcpy(body + at + 1, BODY + at, sizeof(BODY) - 1 - at);
        malformed(body, sizeof(body));
    }
}

static void last_duplicate_wins(void **state)
{
    (void)state;
    takes(&SCHEMA_PROVIDER_CREATE_1_0, "{\"name\": 5, \"name\": \"a\"}");
    takes(&SCHEMA_PROVIDER_CREATE_1_0, "{\"name\": \"a\\u0000b\"}");
}

static void types_and_limits(void **state)
{
    (void)state;
    takes(&SCHEMA_INVENTORY_UPDATE, "{\"total\": 4.0, \"resource_provider_generation\": 1}");
    refuses(&SCHEMA_INVENTORY_UPDATE, "{\"total\": true, \"resource_provider_generation\": 1}",
            "JSON does not validate: True is not of type 'integer'  Failed validating 'type' in "
            "schema['properties']['total']  On instance['total']");
    refuses(&SCHEMA_INVENTORY_UPDATE, "{\"total\": 0, \"resource_provider_generation\": 1}",
            "JSON does not validate: 0 is less than the minimum of 1  Failed validating 'minimum' "
            "in schema['properties']['total']  On instance['total']");
    refuses(&SCHEMA_INVENTORY_UPDATE,
            "{\"total\": 1, \"resource_provider_generation\": 1, \"allocation_ratio\": 1e39}",
            "JSON does not validate: 1e+39 is greater than the maximum of 3.40282e+38  Failed "
            "validating 'maximum' in schema['properties']['allocation_ratio']  On "
            "instance['allocation_ratio']");
    refuses(
        &SCHEMA_PROVIDER_CREATE_1_0, "{\"uuid\": \"" UUID "\"}",
        "JSON does not validate: 'name' is a required property  Failed validating 'required' in "
        "schema  On instance");
}

static void length_counts_characters(void **state)
{
    (void)state;
    char body[1024] = "{\"name\": \"";
    for (int i = 0; i < 200; i++)
        strcat(body, "\xc3\xa9");
    strcat(body, "\"}");
    takes(&SCHEMA_PROVIDER_CREATE_1_0, body);
}

static void shortest_path_wins(void **state)
{
    (void)state;
    refuses(&SCHEMA_PROVIDER_CREATE_1_14, "{\"name\": 5, \"z\": 1, \"y\": 2}",
            "JSON does not validate: Additional properties are not allowed ('y', 'z' were "
            "unexpected)  Failed validating 'additionalProperties' in schema  On instance");
    refuses(&SCHEMA_AGGREGATES_1_1, "[\"a\", \"a\"]",
            "JSON does not validate: ['a', 'a'] has non-unique elements  Failed validating "
            "'uniqueItems' in schema  On instance");
    refuses(&SCHEMA_AGGREGATES_1_1, "[\"" UUID "\", \"a\"]",
            "JSON does not validate: 'a' is not a 'uuid'  Failed validating 'format' in "
            "schema['items']  On instance[1]");
}

static void any_of_tells_the_closest(void **state)
{
    (void)state;
    takes(&SCHEMA_PROVIDER_UPDATE_1_14, "{\"name\": \"a\", \"parent_provider_uuid\": null}");
    refuses(&SCHEMA_PROVIDER_UPDATE_1_14, "{\"name\": \"a\", \"parent_provider_uuid\": \"b\"}",
            "JSON does not validate: 'b' is not a 'uuid'  Failed validating 'format' in schema[0]  "
            "On instance");
    refuses(&SCHEMA_PROVIDER_UPDATE_1_14, "{\"name\": \"a\", \"parent_provider_uuid\": 5}",
            "JSON does not validate: 5 is not valid under any of the given schemas  Failed "
            "validating 'anyOf' in schema['properties']['parent_provider_uuid']  On "
            "instance['parent_provider_uuid']");
}

static void emptiness(void **state)
{
    (void)state;
    refuses(&SCHEMA_ALLOCATION_1_0, "{\"allocations\": []}",
            "JSON does not validate: [] should be non-empty  Failed validating 'minItems' in "
            "schema['properties']['allocations']  On instance['allocations']");
    refuses(&SCHEMA_ALLOCATIONS_1_13, "{}",
            "JSON does not validate: {} should be non-empty  Failed validating 'minProperties' in "
            "schema  On instance");
    refuses(&SCHEMA_ALLOCATION_1_0,
            "{\"allocations\": [{\"resource_provider\": {\"uuid\": \"" UUID
            "\"}, \"resources\": {\"vcpu\": 1}}]}",
            "JSON does not validate: 'vcpu' does not match any of the regexes: '^[A-Z0-9_]+$'  "
            "Failed validating 'additionalProperties' in "
            "schema['properties']['allocations']['items']['properties']['resources']  On "
            "instance['allocations'][0]['resources']");
}

static void reprs(void **state)
{
    (void)state;
    json_t *value =
        json_loads("[\"a'b\", \"a'\\\"\\\\\", \"\\u0000\\u00ad\\u00e9\\n\", true, null, 1.0, "
                   "{\"k\": -3}]",
                   0 | JSON_ALLOW_NUL, NULL);
    struct buf out = {0};
    python_repr_json(&out, value);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data,
                        "[\"a'b\", 'a\\'\"\\\\', '\\x00\\xad\xc3\xa9\\n', True, None, 1.0, "
                        "{'k': -3}]");
    buf_free(&out);
    json_decref(value);
}

static void long_values_are_cut(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    size_t len = 1 << 20;
    char *body = arena_alloc(arena, len);
    memset(body, 'x', len);
    body[0] = body[len - 1] = '"';
    assert_null(
        body_schema_parse((struct slice){body, len}, NULL, &SCHEMA_PROVIDER_CREATE_1_0, &err));
    assert_true(err.message.len < 2 * PYTHON_REPR_BYTES_MAX);
    arena_destroy(arena);
}

static void query_check(const struct schema *schema, const struct query_pair *pairs, size_t count,
                        const char *want)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct query_pair copy[4];
    memcpy(copy, pairs, count * sizeof(*pairs));
    struct query_string query = {.pairs = copy, .count = count, .is_utf8 = true};
    assert_int_equal(body_schema_check_query(&query, schema, &err), want == NULL);
    if (want != NULL)
        assert_string_equal(arena_copy(arena, err.message).data, want);
    arena_destroy(arena);
}

static void query_strings(void **state)
{
    (void)state;
    const struct query_pair good[] = {{SLICE_LIT("resources"), SLICE_LIT("VCPU:1")},
                                      {SLICE_LIT("limit"), SLICE_LIT("5")}};
    query_check(&SCHEMA_CANDIDATES_QUERY_1_16, good, 2, NULL);
    const struct query_pair unknown[] = {{SLICE_LIT("foo"), SLICE_LIT("")}};
    query_check(&SCHEMA_CANDIDATES_QUERY_1_25, unknown, 1,
                "Invalid query string parameters: 'foo' does not match any of the regexes: "
                "'^member_of([1-9][0-9]*)?$', '^required([1-9][0-9]*)?$', "
                "'^resources([1-9][0-9]*)?$'  Failed validating 'additionalProperties' in schema  "
                "On instance");
    query_check(&SCHEMA_TRAITS_QUERY, unknown, 1,
                "Invalid query string parameters: Additional properties are not allowed ('foo' was "
                "unexpected)  Failed validating 'additionalProperties' in schema  On instance");
    /* the first of two is checked too */
    const struct query_pair twice[] = {{SLICE_LIT("limit"), SLICE_LIT("x")},
                                       {SLICE_LIT("resources"), SLICE_LIT("VCPU:1")},
                                       {SLICE_LIT("limit"), SLICE_LIT("5")}};
    query_check(&SCHEMA_CANDIDATES_QUERY_1_16, twice, 3,
                "Invalid query string parameters: 'x' does not match '^[1-9][0-9]*$'  Failed "
                "validating 'pattern' in schema['properties']['limit']  On instance['limit']");
    query_check(&SCHEMA_USAGES_QUERY_1_9, twice, 0,
                "Invalid query string parameters: 'project_id' is a required property  Failed "
                "validating 'required' in schema  On instance");
    const struct query_pair bytes[] = {{SLICE_LIT("name"), SLICE_LIT("\xff")}};
    query_check(&SCHEMA_TRAITS_QUERY, bytes, 1, "Invalid query string parameters: not valid UTF-8");
}

static void uuids(void **state)
{
    (void)state;
    char dashed[UUID_LIKE_LEN];
    assert_true(uuid_like_read(SLICE_LIT("{ABCDEF01-2345-6789-abcd-ef0123456789}"), dashed));
    assert_memory_equal(dashed, "abcdef01-2345-6789-abcd-ef0123456789", UUID_LIKE_LEN);
    assert_true(uuid_like_read(SLICE_LIT("urn:uuid:abcdef0123456789abcdef0123456789"), NULL));
    assert_false(uuid_like_read(SLICE_LIT("abcdef0123456789abcdef012345678"), NULL));
    assert_false(uuid_like_read(SLICE_LIT("abcdef0123456789abcdef01234567890"), NULL));
    assert_false(uuid_like_read(SLICE_LIT("gbcdef0123456789abcdef0123456789"), NULL));
    assert_false(uuid_like_read(SLICE_LIT(""), NULL));
    assert_true(uuid_like_is_dashed(SLICE_LIT(UUID)));
    assert_false(uuid_like_is_dashed(SLICE_LIT("abcdef0123456789abcdef0123456789")));
}

static void integers(void **state)
{
    (void)state;
    json_t *value = json_real(1e30);
    assert_int_equal(body_schema_integer(value), INT64_MAX);
    json_real_set(value, -1e30);
    assert_int_equal(body_schema_integer(value), INT64_MIN);
    json_real_set(value, 4.0);
    assert_int_equal(body_schema_integer(value), 4);
    json_decref(value);
}

/* Values of every kind, equal or not. */
static void unique_items(void **state)
{
    (void)state;
    static const struct schema UNIQUE = SCHEMA(TYPE(SCHEMA_ARRAY), UNIQUE_ITEMS);
    takes(&UNIQUE, "[]");
    takes(&UNIQUE, "[3, 1, 2, 10, -1, 0.5, 2.5, \"1\", \"\", \"2\", \"10\", null, true, false]");
    takes(&UNIQUE, "[[], {}, [1], [2], {\"a\": 1}, {\"a\": 2}, {\"b\": 1}]");
    static const char *const TWICE[] = {"[3, 1, 2, 1]",
                                        "[1, 2, 1.0]",
                                        "[\"a\", \"b\", \"a\"]",
                                        "[null, 1, null]",
                                        "[true, true]",
                                        "[[1], [2], [1]]",
                                        "[{\"a\": 1, \"b\": 2}, {\"b\": 2, \"a\": 1}]"};
    for (size_t i = 0; i < sizeof(TWICE) / sizeof(TWICE[0]); i++) {
        struct arena *arena = arena_create();
        struct err err = {.arena = arena};
        assert_null(body_schema_parse(slice_of(TWICE[i]), NULL, &UNIQUE, &err));
        assert_non_null(memmem(err.message.data, err.message.len, " has non-unique elements", 24));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_bodies),
        cmocka_unit_test(nul_bytes_anywhere),
        cmocka_unit_test(last_duplicate_wins),
        cmocka_unit_test(types_and_limits),
        cmocka_unit_test(length_counts_characters),
        cmocka_unit_test(shortest_path_wins),
        cmocka_unit_test(any_of_tells_the_closest),
        cmocka_unit_test(emptiness),
        cmocka_unit_test(reprs),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(query_strings),
        cmocka_unit_test(uuids),
        cmocka_unit_test(integers),
        cmocka_unit_test(unique_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
