/* Arguments of queries. */
#include "baremetal/api/input/arguments.h"

#include "baremetal/api/checking.h"
#include "base/buf.h"

#define UUID "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101"

static struct err err;
static struct query_string query;

static struct argument find_argument(const char *raw, const char *name)
{
    query = query_string_parse(err.arena, slice_of(raw));
    return argument_find(err.arena, &query, name);
}

static int start(void **state)
{
    (void)state;
    err = (struct err){.arena = arena_create()};
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_destroy(err.arena);
    return 0;
}

static void texts(void **state)
{
    (void)state;
    struct slice text = SLICE_LIT("before");
    struct argument argument = find_argument("x=1", "state");
    assert_false(argument.is_there);
    assert_message(argument_text(&argument, &text, &err), &err, 400, NULL);
    assert_true(slice_equal(text, SLICE_LIT("before")));
    argument = find_argument("state=a%20b", "state");
    assert_message(argument_text(&argument, &text, &err), &err, 400, NULL);
    assert_true(slice_equal(text, SLICE_LIT("a b")));
    argument = find_argument("state=a&x=1&state=it's", "state");
    assert_message(argument_text(&argument, &text, &err), &err, 400,
                   "Expected string for state: ['a', \"it's\"]");

    argument = find_argument("marker=" UUID, "marker");
    assert_message(argument_uuid(&argument, &text, &err), &err, 400, NULL);
    assert_true(slice_equal(text, SLICE_LIT(UUID)));
    argument = find_argument("marker=web-01", "marker");
    assert_message(argument_uuid(&argument, &text, &err), &err, 400,
                   "Expected UUID for marker: web-01");

    struct ident ident = {0};
    argument = find_argument("node=web-01", "node");
    assert_message(argument_ident(&argument, &ident, &err), &err, 400, NULL);
    assert_int_equal(ident.kind, IDENT_NAME);
    argument = find_argument("node=", "node");
    assert_message(argument_ident(&argument, &ident, &err), &err, 400,
                   "Expected UUID or name for node: ");
    argument = find_argument("node=a&node=b", "node");
    assert_message(argument_ident(&argument, &ident, &err), &err, 400,
                   "Expected UUID or name for node: ['a', 'b']");
}

static void booleans(void **state)
{
    (void)state;
    static const char *const TRUE_TEXTS[] = {"retired=1",  "retired=T", "retired=true",
                                             "retired=On", "retired=y", "retired=%20YES"};
    static const char *const FALSE_TEXTS[] = {"retired=0",   "retired=f", "retired=FALSE",
                                              "retired=off", "retired=n", "retired=no"};
    for (unsigned i = 0; i < 6; i++) {
        bool value = false;
        struct argument argument = find_argument(TRUE_TEXTS[i], "retired");
        assert_message(argument_boolean(&argument, &value, &err), &err, 400, NULL);
        assert_true(value);
        argument = find_argument(FALSE_TEXTS[i], "retired");
        assert_message(argument_boolean(&argument, &value, &err), &err, 400, NULL);
        assert_false(value);
    }
    bool value = true;
    struct argument argument = find_argument("retired=", "retired");
    assert_message(argument_boolean(&argument, &value, &err), &err, 400,
                   "Invalid retired: Unrecognized value '', acceptable values are: '0', '1', 'f', "
                   "'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'");
    assert_true(value);
}

static void limit_is(const char *raw, size_t want, const char *refusal)
{
    size_t limit = 1000;
    struct argument argument = find_argument(raw, "limit");
    assert_message(argument_limit(&argument, &limit, &err), &err, 400, refusal);
    assert_int_equal(limit, want);
}

static void pages(void **state)
{
    (void)state;
    limit_is("", 1000, NULL);
    limit_is("limit=7", 7, NULL);
    limit_is("limit=1001", 1000, NULL);
    limit_is("limit=99999999999999999999999", 1000, NULL);
    limit_is("limit=0", 1000, "Limit must be positive");
    limit_is("limit=-1", 1000, "Limit must be positive");
    limit_is("limit=", 1000, "Expected an integer for limit: ");
    limit_is("limit=1.5", 1000, "Expected an integer for limit: 1.5");
    limit_is("limit=1&limit=2", 1000, "Expected an integer for limit: ['1', '2']");

    bool is_descending = true;
    struct argument argument = find_argument("", "sort_dir");
    assert_message(argument_sort_dir(&argument, &is_descending, &err), &err, 400, NULL);
    assert_false(is_descending);
    argument = find_argument("sort_dir=desc", "sort_dir");
    assert_message(argument_sort_dir(&argument, &is_descending, &err), &err, 400, NULL);
    assert_true(is_descending);
    argument = find_argument("sort_dir=DESC", "sort_dir");
    assert_message(argument_sort_dir(&argument, &is_descending, &err), &err, 400,
                   "Invalid sort direction: DESC. Acceptable values are 'asc' or 'desc'");
}

static bool is_uuid_or_name(const void *with, struct slice name)
{
    assert_ptr_equal(with, &query);
    return slice_equal(name, SLICE_LIT("uuid")) || slice_equal(name, SLICE_LIT("name"));
}

static void fields(void **state)
{
    (void)state;
    struct argument_words words = {0};
    struct argument argument = find_argument("fields=%20UUID%20,name,,uuid", "fields");
    assert_message(argument_words(&argument, &words, &err), &err, 400, NULL);
    assert_int_equal(words.count, 2);
    assert_true(slice_equal(words.words[0], SLICE_LIT("uuid")));
    assert_true(slice_equal(words.words[1], SLICE_LIT("name")));
    assert_message(argument_check_fields(&words, is_uuid_or_name, &query, &err), &err, 400, NULL);

    argument = find_argument("fields=", "fields");
    assert_message(argument_words(&argument, &words, &err), &err, 400, NULL);
    assert_int_equal(words.count, 0);

    argument = find_argument("fields=x,uuid,y", "fields");
    assert_message(argument_words(&argument, &words, &err), &err, 400, NULL);
    assert_message(argument_check_fields(&words, is_uuid_or_name, &query, &err), &err, 400,
                   "Field(s) \"x, y\" are not valid");

    argument = find_argument("fields=x&fields=y", "fields");
    assert_message(argument_words(&argument, &words, &err), &err, 400,
                   "Expected string for fields: ['x', 'y']");
}

static void unexpected(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"limit", "node", NULL};
    query = query_string_parse(err.arena, SLICE_LIT("limit=1&node=2&limit=3"));
    assert_message(arguments_check_names(&query, NAMES, &err), &err, 400, NULL);
    query = query_string_parse(err.arena, SLICE_LIT("b=1&node=2&a=3&b=4"));
    assert_message(arguments_check_names(&query, NAMES, &err), &err, 400,
                   "Unexpected arguments: b, a");
}

/* However long the input, the error is short. */
static void long_texts(void **state)
{
    (void)state;
    struct buf raw = {0};
    for (unsigned i = 0; i < 3000; i++)
        buf_printf(&raw, "&fields=name%u&name%u=1", i, i);
    static const char *const NAMES[] = {"fields", NULL};
    query = query_string_parse(err.arena, buf_slice(&raw));
    struct argument argument = argument_find(err.arena, &query, "fields");
    struct argument_words words = {0};
    assert_false(argument_words(&argument, &words, &err));
    assert_in_range(err.message.len, 4000, 5000);
    err = (struct err){.arena = err.arena};
    assert_false(arguments_check_names(&query, NAMES, &err));
    assert_in_range(err.message.len, 4000, 5000);
    buf_free(&raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts, start, end),
        cmocka_unit_test_setup_teardown(booleans, start, end),
        cmocka_unit_test_setup_teardown(pages, start, end),
        cmocka_unit_test_setup_teardown(fields, start, end),
        cmocka_unit_test_setup_teardown(unexpected, start, end),
        cmocka_unit_test_setup_teardown(long_texts, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
