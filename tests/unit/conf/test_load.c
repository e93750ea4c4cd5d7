/* Which files are read, and what is said about them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "conf/notes.h"
#include "loading.h"
#include "unit.h"

/* A machine with a placement of its own is never without a file. */
static bool machine_has_placement(void)
{
    return access("/etc/placement/placement.conf", F_OK) == 0 ||
           access("/etc/placement/placement.conf.d", F_OK) == 0 ||
           access("/etc/placement.conf", F_OK) == 0 || access("/etc/placement.conf.d", F_OK) == 0;
}

static void embedded(void **state)
{
    (void)state;
    if (machine_has_placement())
        skip();
    setenv("XDG_STATE_HOME", "/sta$te", 1);
    load_ok();
    assert_true(conf->embedded);
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);
    assert_true(conf->sync_on_startup);
    assert_string_equal(conf->connection, geteuid() == 0 ? "sqlite:////var/lib/berth/berth.db"
                                                         : "sqlite:////sta$te/berth/berth.db");
    assert_string_equal(conf->state_directory, geteuid() == 0 ? "/var/lib/berth" : "/sta$te/berth");
    assert_int_equal(conf->listen_count, 1);
    assert_string_equal(conf->listen[0].host, "127.0.0.1");
    assert_int_equal(conf->listen[0].port, 8778);

    setenv("OS_PLACEMENT_DATABASE__CONNECTION", "sqlite:////y.db", 1);
    load_ok();
    assert_string_equal(conf->connection, "sqlite:////y.db");
    assert_null(conf->state_directory);
}

static void directories(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0700), 0);
    put("d/2.conf", "[placement]\nincomplete_consumer_user_id = two\n");
    put("d/10.conf", BASE "[placement]\nincomplete_consumer_user_id = ten\n");
    put("d/3.conf.bak", "nonsense");
    put("d/.3.conf", "nonsense");
    inputs.sources[inputs.sources_n++] = (struct conf_source){"~/d", true};
    load_ok();
    assert_int_equal(conf->files.n, 2);
    assert_string_equal(conf->incomplete_consumer_user_id, "two");
    inputs.sources[0].path = "nowhere";
    expect_error("cannot read the configuration directory nowhere: No such file or directory");
}

static void search(void **state)
{
    (void)state;
    put("placement.conf", BASE);
    assert_int_equal(mkdir("placement.conf.d", 0700), 0);
    put("placement.conf.d/a.conf", "[api]\nauth_strategy=noauth2");
    load_ok();
    assert_int_equal(conf->files.n, 2);
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);

    assert_int_equal(mkdir(".placement", 0700), 0);
    put(".placement/placement.conf", "[placement_database]\nconnection=z");
    load_ok();
    assert_string_equal(conf->connection, "z");

    assert_int_equal(mkdir("e", 0700), 0);
    put("e/placement.conf", "[placement_database]\nconnection=e");
    setenv("OS_PLACEMENT_CONFIG_DIR", " e ", 1);
    load_ok();
    assert_string_equal(conf->connection, "e");
    assert_int_equal(conf->files.n, 2);
    assert_string_equal(conf->files.items[0], "e/placement.conf");
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2); /* of placement.conf.d, as before */
    setenv("OS_PLACEMENT_CONFIG_DIR", "nowhere", 1);
    expect_error("cannot read the configuration file nowhere/placement.conf: "
                 "No such file or directory");
    setenv("OS_PLACEMENT_CONFIG_DIR", "  ", 1);
    load_ok();
    assert_string_equal(conf->connection, "z");
}

static void notes(void **state)
{
    (void)state;
    use_file("a.conf", BASE "max_pool_size = 5\nfoo = 1\n[cache]\nenabled = true\n");
    setenv("OS_PROFILER__ENABLED", "true", 1);
    load_ok();
    assert_int_equal(conf->unknown.n, 2);
    assert_string_equal(conf->unknown.items[0], "a.conf:4: [placement_database] foo");
    assert_string_equal(conf->unknown.items[1], "a.conf:6: [cache] enabled");
    assert_int_equal(conf->no_effect.n, 2);
    assert_string_equal(conf->no_effect.items[0], "[placement_database] max_pool_size");
    assert_string_equal(conf->no_effect.items[1], "[profiler] enabled");
    assert_int_equal(conf_value(conf, "placement_database", "max_pool_size")->integer, 5);
    assert_int_equal(conf_value(conf, "cors", "allow_methods")->items_n, 5);
    assert_false(conf_value(conf, "cors", "allowed_origin")->is_set);
}

/* Each kind of note once, unknown options only at DEBUG, and no value of any option. */
static void logged_notes(void **state)
{
    (void)state;
    char text[4096] = "";
    int fd = open("log", O_RDWR | O_CREAT | O_APPEND, 0600);
    use_file("a.conf", BASE "max_pool_size = 5\nfoo = 1\n[DEFAULT]\nauth_strategy = noauth2\n"
                            "[berth]\nlisten = 127.0.0.1:1\nlisten = 0.0.0.0:1\n");
    load_ok();
    log_start(fd, false);
    notes_log(conf);
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    assert_non_null(strstr(text, "] configuration files: a.conf\n"));
    assert_non_null(strstr(text, "] deprecated name: a.conf:6: [DEFAULT] auth_strategy is now"));
    assert_non_null(strstr(text, "] options that have no effect here: [placement_database] "
                                 "max_pool_size\n"));
    assert_non_null(strstr(text, "WARNING berth.conf [-] auth_strategy is noauth2 and 0.0.0.0 is"));
    assert_null(strstr(text, "foo"));
    assert_null(strstr(text, "x.db"));
    log_set_debug(true);
    notes_log(conf);
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    assert_non_null(strstr(text, "DEBUG berth.conf [-] unknown option passed over: a.conf:4: "
                                 "[placement_database] foo\n"));
    log_stop();
    close(fd);
}

static void bad_files(void **state)
{
    (void)state;
    use_file("a.conf", "[DEFAULT]\ndebug = true\n");
    expect_error("[placement_database] connection is not set in a.conf");
    inputs.sources[0].path = "nowhere.conf";
    expect_error("cannot read the configuration file nowhere.conf: No such file or directory");
    inputs.sources[0].path = ".";
    expect_error("cannot read the configuration file .: Is a directory");
    char *large = calloc(1, (4 << 20) + 2);
    assert_non_null(large);
    memset(large, '#', (4 << 20) + 1);
    inputs.sources_n = 0;
    use_file("large.conf", large);
    free(large);
    expect_error("the configuration file large.conf is larger than 4194304 bytes");
}

static void makes_the_state_directory(void **state)
{
    (void)state;
    char path[128];
    struct conf made = {.arena = NULL};
    snprintf(path, sizeof(path), "%s/x/y/berth", home);
    assert_true(conf_make_state_directory(&made, &err));
    made.state_directory = path;
    assert_true(conf_make_state_directory(&made, &err));
    assert_int_equal(access(path, W_OK), 0);
    assert_true(conf_make_state_directory(&made, &err));
    put("file", "");
    snprintf(path, sizeof(path), "%s/file/berth", home);
    assert_false(conf_make_state_directory(&made, &err));
    assert_non_null(strstr(err.message.data, "cannot make the directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOADING_TEST(embedded),
        LOADING_TEST(directories),
        LOADING_TEST(search),
        LOADING_TEST(notes),
        LOADING_TEST(logged_notes),
        LOADING_TEST(bad_files),
        LOADING_TEST(makes_the_state_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
