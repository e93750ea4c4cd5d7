/* Format strings compared with Python's output (format_cases.h), and those that are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/json_write.h"
#include "format_cases.h"
#include "log/internal.h"
#include "unit.h"

static const struct slice ROLES[] = {SLICE_LIT("admin"), SLICE_LIT("reader")};
static const struct log_context SPARSE = {.request_id = SLICE_LIT("req-1")};
static const struct log_context FULL = {
    .request_id = SLICE_LIT("req-1"),
    .global_request_id = SLICE_LIT("req-2"),
    .user_id = SLICE_LIT("u"),
    .user_name = SLICE_LIT("un"),
    .user_domain_id = SLICE_LIT("ud"),
    .user_domain_name = SLICE_LIT("udn"),
    .project_id = SLICE_LIT("p"),
    .project_name = SLICE_LIT("pn"),
    .project_domain_id = SLICE_LIT("pd"),
    .project_domain_name = SLICE_LIT("pdn"),
    .domain_id = SLICE_LIT("d"),
    .domain_name = SLICE_LIT("dn"),
    .system_scope = SLICE_LIT("all"),
    .roles = ROLES,
    .role_count = 2,
    .has_token = true,
};

static const struct log_place PLACE = {"../src/api/some_file.c", "some_function", 7};

enum { CREATED_S = 1795279448, CREATED_US = 37512 };

struct rendering {
    struct arena *arena;
    struct err err;
    struct log_unknown_key *unknown;
    struct log_scratch scratch;
    struct buf out;
};

static void begin(struct rendering *r)
{
    *r = (struct rendering){.arena = arena_create()};
    r->err.arena = r->arena;
    r->scratch.thread_id = 77;
    r->scratch.process_id = getpid();
    memcpy(r->scratch.thread_name, "worker", 7);
    for (size_t i = 0; i < LOG_HANDLERS_MAX; i++)
        r->scratch.times[i].second = -1;
}

static void end(struct rendering *r)
{
    buf_free(&r->out);
    arena_destroy(r->arena);
}

static const struct log_context *context_named(const char *name)
{
    if (strcmp(name, "none") == 0)
        return NULL;
    return strcmp(name, "full") == 0 ? &FULL : &SPARSE;
}

static struct log_format_settings settings_of(const struct format_case *at)
{
    return (struct log_format_settings){
        .form = at->form,
        .context = context_named(at->context) != NULL ? at->format : "",
        .without = context_named(at->context) == NULL ? at->format : "",
        .plain = at->format,
        .debug_suffix = at->suffix,
        .identity = at->identity,
        .date = at->date,
        .product = "placement",
    };
}

/* The line as text; the caller frees it. */
static char *render(struct rendering *r, const struct log_format_settings *settings,
                    enum log_level level, const struct log_context *context, struct slice message)
{
    const struct log_format *format =
        log_format_compile(settings, false, 3, r->arena, &r->unknown, &r->err);
    if (format == NULL)
        fail_msg("%.*s", SLICE_ARG(r->err.message));
    const struct log_message whole = {.parts = &message, .part_count = 1};
    const struct log_record record = {
        .level = level,
        .logger = SLICE_LIT("placement.requestlog"),
        .place = &PLACE,
        .context = context,
        .message = &whole,
        .wall_us = (int64_t)CREATED_S * 1000000 + CREATED_US,
    };
    log_format_render(format, &record, &r->scratch, &r->out);
    return strndup(r->out.data == NULL ? "" : r->out.data, r->out.len);
}

/* Replaces every FROM by TO; frees the text. */
static char *with(char *text, const char *from, const char *to)
{
    struct buf out = {0};
    const char *rest = text;
    for (const char *at = strstr(rest, from); at != NULL; at = strstr(rest, from)) {
        buf_append(&out, rest, (size_t)(at - rest));
        buf_append_slice(&out, slice_of(to));
        rest = at + strlen(from);
    }
    buf_append(&out, rest, strlen(rest) + 1);
    free(text);
    return out.data;
}

/* The line that Python writes, with this process's number and host; the caller frees it. They are
 * inserted into the expected line because a line may contain the digits of a process number by
 * chance. */
static char *expected_here(const char *expected)
{
    char word[300];
    snprintf(word, sizeof(word), "%d", getpid());
    char *text = with(strdup(expected), "4321", word);
    strcpy(word, "\"hostname\": \"");
    const size_t len = strlen(word);
    gethostname(word + len, sizeof(word) - len - 2);
    strcat(word, "\"");
    return with(text, "\"hostname\": \"HOST\"", word);
}

/* The time since the start differs with each run. */
static char *masked(char *text)
{
    char *relative = strstr(text, "\"relative_created\": ");
    if (relative != NULL) {
        relative += strlen("\"relative_created\": ");
        memmove(relative + 3, relative + strcspn(relative, ","),
                strlen(relative + strcspn(relative, ",")) + 1);
        memcpy(relative, "0.0", 3);
    }
    return text;
}

static void as_python_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const struct format_case *at = &CASES[i];
        struct rendering r;
        begin(&r);
        const struct log_format_settings settings = settings_of(at);
        char *line = masked(
            render(&r, &settings, at->level, context_named(at->context), slice_of(at->message)));
        char *expected = expected_here(at->expected);
        if (strcmp(line, expected) != 0)
            fail_msg("case %zu, %s:\n%s\nand not\n%s", i, at->format, line, expected);
        assert_null(r.unknown);
        free(line);
        free(expected);
        end(&r);
    }
}

static void expect_line(const char *format, const struct log_context *context, const char *expected)
{
    struct rendering r;
    struct log_format_settings settings = log_format_default;
    settings.context = settings.without = format;
    begin(&r);
    char *line = render(&r, &settings, LOG_LEVEL_INFO, context, SLICE_LIT("text"));
    assert_string_equal(line, expected);
    free(line);
    end(&r);
}

/* Where oslo.log loses the line. */
static void unknown_keys(void **state)
{
    (void)state;
    struct rendering r;
    struct log_format_settings settings = log_format_default;
    begin(&r);
    settings.without = "<%(nothing)s|%(request_id)-5s> %(message)s %(nothing)d";
    char *line = render(&r, &settings, LOG_LEVEL_INFO, NULL, SLICE_LIT("text"));
    assert_string_equal(line, "<|> text ");
    free(line);
    assert_non_null(r.unknown);
    assert_string_equal(r.unknown->format, "logging_default_format_string");
    assert_true(slice_equal(r.unknown->key, SLICE_LIT("request_id")));
    assert_true(slice_equal(r.unknown->next->key, SLICE_LIT("nothing")));
    assert_null(r.unknown->next->next);
    end(&r);
}

/* Keys of older versions of oslo.context, and the user's id, which the journal's handler names. */
static void additional_keys(void **state)
{
    (void)state;
    expect_line("%(tenant)s %(user_id)s", &FULL, "p u");
    expect_line("%(reset_color)s%(taskName)s", NULL, "None");
}

static void hostile_texts(void **state)
{
    (void)state;
    struct rendering r;
    struct log_context context = SPARSE;
    context.user_id = SLICE_LIT("a\nb");
    struct log_format_settings settings = log_format_default;
    settings.context = "%(user)s|%(user_identity)-40s|%(message)-20s|%(msg)s|%(roles)s|%(user).2s";
    const struct slice roles[] = {SLICE_LIT("x\r")};
    context.roles = roles;
    context.role_count = 1;
    begin(&r);
    char *line = render(&r, &settings, LOG_LEVEL_INFO, &context, SLICE_LIT("m\x1b\n\xff"));
    assert_string_equal(line, "a\\x0ab|a\\x0ab - - - - -                        |m\\x1b\\x0a\\xff"
                              "                |m\\x1b\\x0a\\xff|['x\\r']|a\\");
    free(line);
    end(&r);
}

/* Also characters of more than one byte: next line, a terminal's escape sequence, line separators.
 */
static void hostile_characters(void **state)
{
    (void)state;
    struct rendering r;
    struct log_format_settings settings = log_format_default;
    settings.without = "%(message)s";
    settings.debug_suffix = "";
    begin(&r);
    char *line = render(&r, &settings, LOG_LEVEL_INFO, NULL,
                        SLICE_LIT("\xc2\x85|\xc2\x9b[2J\xc2\xa0|\xe2\x80\xa8\xe2\x80\xa9|"
                                  "\xe2\x80\xa7\xe2\x80\xaa\xc3\xa9\t"));
    assert_string_equal(line, "\\xc2\\x85|\\xc2\\x9b[2J\xc2\xa0|\\xe2\\x80\\xa8\\xe2\\x80\\xa9|"
                              "\xe2\x80\xa7\xe2\x80\xaa\xc3\xa9\t");
    free(line);
    end(&r);
}

static void expect_refused(const char *format, const char *message)
{
    struct rendering r;
    struct log_format_settings settings = log_format_default;
    settings.without = format;
    begin(&r);
    assert_null(log_format_compile(&settings, false, 0, r.arena, &r.unknown, &r.err));
    assert_string_equal(r.err.message.data, message);
    end(&r);
}

static void refused(void **state)
{
    (void)state;
    expect_refused("a % b", "logging_default_format_string: a % without a (key) at \"% b\"");
    expect_refused("a %", "logging_default_format_string: a % without a (key) at \"%\"");
    expect_refused("%d", "logging_default_format_string: a % without a (key) at \"%d\"");
    expect_refused("%(name", "logging_default_format_string: a key without its ) at \"%(name\"");
    expect_refused("%(name)", "logging_default_format_string: an incomplete format at \"%(name)\"");
    expect_refused("%(name)5",
                   "logging_default_format_string: an incomplete format at \"%(name)5\"");
    expect_refused("%(name)z", "logging_default_format_string: a conversion that log formats do "
                               "not support at \"%(name)z\"");
    expect_refused("%(name)*s", "logging_default_format_string: a conversion that log formats do "
                                "not support at \"%(name)*s\"");
    expect_refused(
        "%(name)1001s",
        "logging_default_format_string: a width or precision above 1000 at \"%(name)1001s\"");
    expect_refused("%(name).99999999999s", "logging_default_format_string: a width or precision "
                                           "above 1000 at \"%(name).99999999999s\"");
    expect_refused("%(name)d", "logging_default_format_string: %(name)d, but it is not a number");
    expect_refused("%(created)x",
                   "logging_default_format_string: %(created)x, but it is not a whole number");
}

static void long_dates(void **state)
{
    (void)state;
    struct rendering r;
    char date[512];
    struct log_format_settings settings = log_format_default;
    memset(date, 'x', sizeof(date));
    date[sizeof(date) - 1] = '\0';
    settings.date = date;
    begin(&r);
    assert_null(log_format_compile(&settings, false, 0, r.arena, &r.unknown, &r.err));
    assert_string_equal(r.err.message.data, "log_date_format: dates of more than 248 bytes");
    end(&r);
}

/* The color ends with the line, and each level has another. */
static void colors(void **state)
{
    (void)state;
    struct rendering r;
    struct log_format_settings settings = log_format_default;
    settings.without = "%(color)s%(levelname)s%(reset_color)s %(message)s";
    begin(&r);
    const struct log_format *format =
        log_format_compile(&settings, true, 0, r.arena, &r.unknown, &r.err);
    assert_non_null(format);
    const struct slice text = SLICE_LIT("text");
    const struct log_message message = {.parts = &text, .part_count = 1};
    struct log_record record = {.logger = SLICE_LIT("x"), .place = &PLACE, .message = &message};
    record.level = LOG_LEVEL_INFO;
    log_format_render(format, &record, &r.scratch, &r.out);
    record.level = LOG_LEVEL_ERROR;
    log_format_render(format, &record, &r.scratch, &r.out);
    buf_append_char(&r.out, '\0');
    assert_string_equal(r.out.data, "\033[00;36mINFO\033[00m text\033[00m"
                                    "\033[01;31mERROR\033[00m text\033[00m");
    end(&r);
}

/* The message's arguments: by name, by position, and the program's own form. */
static void json_arguments(void **state)
{
    (void)state;
    struct rendering r;
    struct log_format_settings settings = log_format_default;
    settings.form = LOG_FORM_JSON;
    begin(&r);
    const struct log_format *format =
        log_format_compile(&settings, false, 0, r.arena, &r.unknown, &r.err);
    const struct slice parts[] = {SLICE_LIT("a\xff"), SLICE_LIT(" "), SLICE_LIT("b"),
                                  SLICE_LIT("c")};
    const struct log_argument named[] = {{"x", 0, 1, false}, {"y", 2, 2, false}};
    const struct log_argument positional[] = {{NULL, 2, 2, false}, {NULL, 0, 1, false}};
    struct log_message message = {parts, 4, "%(x)s %(y)s", named, 2};
    struct log_record record = {.logger = SLICE_LIT("x"), .place = &PLACE, .message = &message};
    log_format_render(format, &record, &r.scratch, &r.out);
    message = (struct log_message){parts, 4, "%s", positional, 2};
    log_format_render(format, &record, &r.scratch, &r.out);
    buf_append_char(&r.out, '\0');
    assert_non_null(strstr(r.out.data, "{\"message\": \"a\\ufffd bc\", "));
    assert_non_null(strstr(
        r.out.data, "\"msg\": \"%(x)s %(y)s\", \"args\": {\"x\": \"a\\ufffd\", \"y\": \"bc\"}, "));
    assert_non_null(strstr(r.out.data, "\"msg\": \"%s\", \"args\": [\"bc\", \"a\\ufffd\"], "));
    end(&r);
}

/* As json_write_double writes them, which is as Python does. */
static void json_times(void **state)
{
    (void)state;
    static const int64_t TIMES[] = {1795279448037512, 1795279448037510, 1795279448500000,
                                    1795279448000000, 1795279448000001, 1795279448999999};
    struct rendering r;
    struct log_format_settings settings = log_format_default;
    settings.form = LOG_FORM_JSON;
    begin(&r);
    const struct log_format *format =
        log_format_compile(&settings, false, 0, r.arena, &r.unknown, &r.err);
    const struct slice text = SLICE_LIT("x");
    const struct log_message message = {.parts = &text, .part_count = 1};
    struct log_record record = {.logger = text, .place = &PLACE, .message = &message};
    for (size_t i = 0; i < sizeof(TIMES) / sizeof(TIMES[0]); i++) {
        struct buf expected = {0};
        record.wall_us = TIMES[i];
        r.out.len = 0;
        log_format_render(format, &record, &r.scratch, &r.out);
        buf_append_char(&r.out, '\0');
        buf_append_lit(&expected, "\"created\": ");
        json_write_double(&expected, (double)TIMES[i] / 1e6);
        buf_append_lit(&expected, ", \"msecs\": ");
        json_write_double(&expected, (double)(TIMES[i] / 1000 % 1000));
        buf_append_lit(&expected, ", \"relative_created\": ");
        json_write_double(&expected, (double)log_relative_us(TIMES[i]) / 1000);
        buf_append_lit(&expected, ", ");
        buf_append_char(&expected, '\0');
        assert_non_null(strstr(r.out.data, expected.data));
        buf_free(&expected);
    }
    end(&r);
}

static int setup(void **state)
{
    (void)state;
    setenv("TZ", "XXX-5:30", 1);
    tzset();
    (void)log_relative_us(0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_python_does),  cmocka_unit_test(unknown_keys),
        cmocka_unit_test(additional_keys), cmocka_unit_test(hostile_characters),
        cmocka_unit_test(hostile_texts),   cmocka_unit_test(refused),
        cmocka_unit_test(long_dates),      cmocka_unit_test(colors),
        cmocka_unit_test(json_arguments),  cmocka_unit_test(json_times),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
