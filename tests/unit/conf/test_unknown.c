/* What is logged about unknown sections and options: where, once for a section, what
 * may have been meant, and no more than UNKNOWN_LINES_MAX lines. */
#include "conf/unknown.h"

#include <stdio.h>

#include "base/buf.h"
#include "loading.h"
#include "unit.h"

enum { LINES_MAX = UNKNOWN_LINES_MAX + 10 };

static char lines[LINES_MAX][200];
static size_t line_count;

static void keep(void *cls, struct slice line)
{
    assert_ptr_equal(cls, lines);
    assert_true(line_count < LINES_MAX);
    snprintf(lines[line_count++], sizeof(lines[0]), "%.*s", SLICE_ARG(line));
}

/* Loads BASE, of two lines, and this text; returns how many things are said to be unknown. */
static size_t load(const char *text)
{
    struct buf whole = {0};
    buf_append_slice(&whole, slice_of(BASE));
    buf_append_slice(&whole, slice_of(text));
    buf_append_char(&whole, '\0');
    inputs.sources_n = 0;
    use_file("a.conf", whole.data);
    buf_free(&whole);
    load_ok();
    line_count = 0;
    return unknown_report(conf, keep, lines);
}

/* The only line begins and ends like this; NULL: it asks nothing. */
static void expect_line(const char *text, const char *begin, const char *question)
{
    assert_int_equal(load(text), 1);
    assert_int_equal(line_count, 1);
    if (strncmp(lines[0], begin, strlen(begin)) != 0)
        fail_msg("not '%s': %s", begin, lines[0]);
    const char *asked = strstr(lines[0], "; did you mean ");
    if (question == NULL)
        assert_null(asked);
    else if (asked == NULL || strcmp(asked + strlen("; did you mean "), question) != 0)
        fail_msg("not '%s': %s", question, lines[0]);
}

static void test_options(void **state)
{
    (void)state;
    assert_int_equal(load("[api]\nauth_strategy = noauth2\n"), 0);
    assert_int_equal(line_count, 0);
    expect_line("[api]\nauth_strateg = noauth2\n", "a.conf:4: [api] auth_strateg is ",
                "[api] auth_strategy?");
    expect_line("[api]\n\nsomething_else = 1\n", "a.conf:5: [api] something_else is ", NULL);
}

static void test_sections(void **state)
{
    (void)state;
    expect_line("[apii]\nsomething_else = 1\n", "a.conf:4: there is no section [apii]", "[api]?");
    expect_line("[elsewhere]\nauth_strategy = noauth2\n",
                "a.conf:4: there is no section [elsewhere]", "[api]?");
    expect_line("[elsewhere]\nsomething_else = 1\n", "a.conf:4: there is no section [elsewhere]",
                NULL);
    expect_line("[elsewhere]\na = 1\nb = 2\n[api]\n[elsewhere]\nc = 3\n",
                "a.conf:4: there is no section [elsewhere]", NULL);
    assert_int_equal(load("[one]\na = 1\n[two]\na = 1\n[one]\nb = 1\n[api]\na = 1\nb = 1\n"), 4);
    assert_int_equal(line_count, 4);
}

static void test_sections_of_other_origins(void **state)
{
    (void)state;
    expect_line("[cors.there]\nallowed_origin = https://there\nallow_credentials = 1\n",
                "a.conf:4: [cors.there] is not read", NULL);
    assert_non_null(strstr(lines[0], "[cors] allowed_origin"));
    expect_line("[cors_there]\nx = 1\n", "a.conf:4: there is no section [cors_there]", NULL);
}

/* The option exists; it is read elsewhere. */
static void test_options_that_another_section_has(void **state)
{
    (void)state;
    expect_line("[keystone_authtoken]\nauth_section = other\nusername = u\n[other]\nusername = v\n",
                "a.conf:5: [keystone_authtoken] username is ", NULL);
    assert_non_null(strstr(lines[0], "auth_section names another section"));
}

/* So many unknown options of one section, each on a line of its own, and then `text`. */
static size_t load_many(size_t count, const char *text)
{
    struct buf many = {0};
    buf_append_lit(&many, "[api]\n");
    for (size_t i = 0; i < count; i++)
        buf_printf(&many, "something_else_%zu = 1\n", i);
    buf_append_slice(&many, slice_of(text));
    buf_append_char(&many, '\0');
    size_t logged = load(many.data);
    buf_free(&many);
    return logged;
}

static void test_the_number_of_lines_is_limited(void **state)
{
    (void)state;
    assert_int_equal(load_many(UNKNOWN_LINES_MAX, ""), UNKNOWN_LINES_MAX);
    assert_int_equal(line_count, UNKNOWN_LINES_MAX);
    assert_int_equal(load_many(UNKNOWN_LINES_MAX + 1, "x = 1\ny = 1\n"), UNKNOWN_LINES_MAX);
    assert_int_equal(line_count, UNKNOWN_LINES_MAX + 1);
    char begin[32];
    snprintf(begin, sizeof(begin), "a.conf:%d: ", 4 + UNKNOWN_LINES_MAX);
    assert_memory_equal(lines[UNKNOWN_LINES_MAX], begin, strlen(begin));
    assert_null(strstr(lines[UNKNOWN_LINES_MAX], "something_else"));

    /* What a section that was named has besides is not left out. */
    assert_int_equal(load_many(UNKNOWN_LINES_MAX - 1, "[one]\na = 1\nb = 1\n"), UNKNOWN_LINES_MAX);
    assert_int_equal(line_count, UNKNOWN_LINES_MAX);
    assert_int_equal(load_many(UNKNOWN_LINES_MAX - 1, "[one]\na = 1\nb = 1\n[two]\nc = 1\n"),
                     UNKNOWN_LINES_MAX);
    assert_int_equal(line_count, UNKNOWN_LINES_MAX + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOADING_TEST(test_options),
        LOADING_TEST(test_sections),
        LOADING_TEST(test_sections_of_other_origins),
        LOADING_TEST(test_options_that_another_section_has),
        LOADING_TEST(test_the_number_of_lines_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
