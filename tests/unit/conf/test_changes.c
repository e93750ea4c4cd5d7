/* What a reload logs: mutable options with both values, others by name, secrets without a value. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/changes.h"
#include "conf/notes.h"
#include "loading.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

static char text[8192];

static struct conf *load_text(const char *file, const char *more)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), BASE "%s", more);
    inputs.sources_n = 0;
    use_file(file, whole);
    struct conf *loaded = conf_load(&inputs, &err);
    assert_non_null(loaded);
    return loaded;
}

/* The log of a reload to `next`; `expected` mutable options have changed. */
static const char *log_of(const struct conf *started, const struct conf *in_force,
                          const struct conf *next, size_t expected)
{
    int fd = open("log", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    log_start(fd, false);
    assert_int_equal(changes_log(started, in_force, next), expected);
    log_stop();
    memset(text, 0, sizeof(text));
    assert_true(pread(fd, text, sizeof(text) - 1, 0) >= 0);
    close(fd);
    return text;
}

static void nothing(void **state)
{
    (void)state;
    struct conf *a = load_text("a.conf", "[berth]\nslow_request_ms = 5\n");
    struct conf *b = load_text("b.conf", "# another file\n[berth]\nslow_request_ms = 0_5\n");
    assert_string_equal(log_of(a, a, b, 0), "");
    conf_destroy(a);
    conf_destroy(b);
}

static void both_kinds(void **state)
{
    (void)state;
    struct conf *a = load_text("a.conf", "max_pool_size = 1\n");
    struct conf *b = load_text(
        "b.conf", "max_pool_size = 2\n[DEFAULT]\ndebug = yes\n[berth]\nslow_request_ms = 5\n"
                  "listen = a:1\n[cors]\nallowed_origin = x\n[placement]\n"
                  "allocation_candidates_generation_strategy = depth-first\n");
    const char *log = log_of(a, a, b, 3);
    assert_non_null(
        strstr(log, "INFO berth.conf [-] [DEFAULT] debug changed from False to True\n"));
    assert_non_null(strstr(log, "[berth] slow_request_ms changed from 1000 to 5\n"));
    assert_non_null(strstr(log, "allocation_candidates_generation_strategy changed from None to "
                                "depth-first\n"));
    assert_non_null(strstr(log, "WARNING berth.conf [-] these options have changed and need a "
                                "restart: [berth] listen, [cors] allowed_origin\n"));
    assert_null(strstr(log, "max_pool_size")); /* without effect */
    /* Once taken over, mutable options are unchanged; others still wait for a restart. */
    log = log_of(a, b, b, 0);
    assert_null(strstr(log, "debug"));
    assert_non_null(strstr(log, "[berth] listen"));
    log = log_of(a, b, a, 3);
    assert_non_null(strstr(log, "[DEFAULT] debug changed from True to False\n"));
    assert_null(strstr(log, "listen"));
    conf_destroy(a);
    conf_destroy(b);
}

static void secrets(void **state)
{
    (void)state;
    struct conf *a = load_text("a.conf", "");
    struct conf *b = load_text("b.conf", "connection = mysql://u:hunter2@h/d\n");
    const char *log = log_of(a, a, b, 0);
    assert_non_null(strstr(log, "restart: [placement_database] connection\n"));
    assert_null(strstr(log, "hunter2"));
    struct buf shown = {0};
    notes_print_value(conf_value(b, "placement_database", "connection"), &shown);
    notes_print_value(conf_value(b, "placement_database", "slave_connection"), &shown);
    assert_memory_equal(shown.data, "****None", 8);
    buf_free(&shown);
    conf_destroy(a);
    conf_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOADING_TEST(nothing),
        LOADING_TEST(both_kinds),
        LOADING_TEST(secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
