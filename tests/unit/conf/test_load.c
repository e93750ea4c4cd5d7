/* Which files are read, and what is logged about them. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/find.h"
#include "conf/notes.h"
#include "loading.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

/* Of the user that a test plays, and of a directory that cannot be read; root may read them all. */
static uid_t user_id;
static bool directories_are_closed;

uid_t geteuid(void)
{
    return user_id;
}

int scandir(const char *path, struct dirent ***entries, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    __typeof__(&scandir) real = (__typeof__(&scandir))dlsym(RTLD_NEXT, "scandir");
    errno = EACCES;
    return directories_are_closed ? -1 : real(path, entries, filter, compare);
}

/* A machine with an installed placement always has a file. */
static bool machine_has_placement(void)
{
    return access("/etc/placement/placement.conf", F_OK) == 0 ||
           access("/etc/placement/placement.conf.d", F_OK) == 0 ||
           access("/etc/placement.conf", F_OK) == 0 || access("/etc/placement.conf.d", F_OK) == 0 ||
           access("/etc/berth", F_OK) == 0;
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
    assert_string_equal(conf->connection, "sqlite:////var/lib/berth/berth.db");
    assert_string_equal(conf->state_directory, "/var/lib/berth");
    assert_int_equal(conf->listen_count, 1);
    assert_string_equal(conf->listen[0].host, "127.0.0.1");
    assert_int_equal(conf->listen[0].port, 8778);

    setenv("OS_PLACEMENT_DATABASE__CONNECTION", "sqlite:////y.db", 1);
    load_ok();
    assert_string_equal(conf->connection, "sqlite:////y.db");
    assert_null(conf->state_directory);
}

/* Of a user who is not root. */
static void embedded_in_a_home(void **state)
{
    (void)state;
    char path[128];
    if (machine_has_placement())
        skip();
    user_id = 1000;
    setenv("XDG_STATE_HOME", "/sta$te", 1);
    load_ok();
    assert_string_equal(conf->connection, "sqlite:////sta$te/berth/berth.db");
    assert_string_equal(conf->state_directory, "/sta$te/berth");
    setenv("XDG_STATE_HOME", "not/absolute", 1);
    load_ok();
    snprintf(path, sizeof(path), "%s/.local/state/berth", home);
    assert_string_equal(conf->state_directory, path);
    unsetenv("XDG_STATE_HOME");
    load_ok();
    assert_string_equal(conf->state_directory, path);
    snprintf(path, sizeof(path), "sqlite:///%s/.local/state/berth/berth.db", home);
    assert_string_equal(conf->connection, path);
    user_id = 0;

    char text[512] = "";
    int fd = open("log", O_RDWR | O_CREAT | O_APPEND, 0600);
    log_start(fd, false);
    notes_log(conf);
    log_stop();
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    close(fd);
    assert_non_null(strstr(text, "INFO berth.conf [-] no configuration file: running embedded\n"));
    assert_null(strstr(text, "configuration files:"));
}

/* ~user/…, as in Python; an unknown user's is a name like any other. */
static void homes_of_users(void **state)
{
    (void)state;
    char message[256];
    const struct passwd *user = getpwuid(getuid());
    if (user == NULL)
        skip();
    char path[128];
    snprintf(path, sizeof(path), "~%s/no/such.conf", user->pw_name);
    snprintf(message, sizeof(message),
             "cannot read the configuration file %s/no/such.conf: No such file or directory",
             user->pw_dir);
    inputs.sources[inputs.sources_n++] = (struct conf_source){path, false};
    expect_error(message);
    inputs.sources[0].path = "~no-such-user/a.conf";
    expect_error("cannot read the configuration file ~no-such-user/a.conf: "
                 "No such file or directory");
    assert_int_equal(mkdir("~no-such-user", 0700), 0);
    put("~no-such-user/a.conf", BASE);
    load_ok();
    assert_string_equal(conf->connection, "sqlite:////x.db");
}

static void directories(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0700), 0);
    put("d/2.conf", "[placement]\nincomplete_consumer_user_id = two\n");
    put("d/10.conf", BASE "[placement]\nincomplete_consumer_user_id = ten\n");
    put("d/3.conf.bak", "nonsense");
    put("d/.3.conf", "nonsense");
    put("placement.conf", "[placement]\nincomplete_consumer_project_id = main\n");
    inputs.sources[inputs.sources_n++] = (struct conf_source){"~/d", true};
    load_ok();
    assert_int_equal(conf->files.n, 3); /* a directory alone does not replace the main file */
    assert_string_equal(conf->incomplete_consumer_project_id, "main");
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
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2); /* from placement.conf.d, as before */
    setenv("OS_PLACEMENT_CONFIG_DIR", "nowhere", 1);
    expect_error("cannot read the configuration file nowhere/placement.conf: "
                 "No such file or directory");
    setenv("OS_PLACEMENT_CONFIG_DIR", "  ", 1);
    load_ok();
    assert_string_equal(conf->connection, "z");

    directories_are_closed = true;
    char message[192];
    snprintf(message, sizeof(message),
             "cannot read the configuration directory %s/placement.conf.d: Permission denied",
             home);
    expect_error(message);
    directories_are_closed = false;
}

static void notes(void **state)
{
    (void)state;
    use_file("a.conf", BASE "max_pool_size = 5\nfoo = 1\n[cache]\nenabled = true\n");
    setenv("OS_PROFILER__ENABLED", "true", 1);
    load_ok();
    assert_int_equal(conf->unknown_n, 2);
    assert_string_equal(conf->unknown[0].path, "a.conf");
    assert_int_equal(conf->unknown[0].line, 4);
    assert_string_equal(conf->unknown[0].name.data, "foo");
    assert_int_equal(conf->unknown[1].line, 6);
    assert_string_equal(conf->unknown[1].section.data, "cache");
    assert_int_equal(conf->no_effect.n, 2);
    assert_string_equal(conf->no_effect.items[0], "[placement_database] max_pool_size");
    assert_string_equal(conf->no_effect.items[1], "[profiler] enabled");
    assert_int_equal(conf_value(conf, "placement_database", "max_pool_size")->integer, 5);
    assert_int_equal(conf_value(conf, "cors", "allow_methods")->items_n, 5);
    assert_false(conf_value(conf, "cors", "allowed_origin")->is_set);
}

/* Each kind of note once, unknown options only at DEBUG, and no option's value. */
static void logged_notes(void **state)
{
    (void)state;
    char text[4096] = "";
    int fd = open("log", O_RDWR | O_CREAT | O_APPEND, 0600);
    use_file("a.conf", BASE "max_pool_size = 5\nfoo = 1\n[DEFAULT]\nauth_strategy = noauth2\n"
                            "[berth]\nlisten = 127.0.0.1:1\nlisten = 0.0.0.0:1\n"
                            "[audit]\nenabled = true\n[oslo_policy]\nenforce_scope = false\n");
    load_ok();
    log_start(fd, false);
    notes_log(conf);
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    assert_non_null(strstr(text, "] configuration files: a.conf\n"));
    assert_non_null(strstr(text, "] deprecated name: a.conf:6: [DEFAULT] auth_strategy is now"));
    assert_non_null(
        strstr(text, "] options that have no effect here: [placement_database] max_pool_size, "
                     "[audit] enabled\n"));
    assert_non_null(strstr(text, "WARNING berth.conf [-] auth_strategy is noauth2 and 0.0.0.0 is"));
    assert_non_null(strstr(text, "WARNING berth.conf [-] a.conf:4: [placement_database] foo is "
                                 "not known, and is ignored\n"));
    assert_non_null(strstr(text, "WARNING berth.conf [-] [audit] enabled is true, but berth emits "
                                 "no audit events\n"));
    assert_non_null(strstr(text, "WARNING berth.conf [-] [oslo_policy] enforce_scope is false: "));
    assert_null(strstr(text, "x.db"));
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

static void examine(void)
{
    conf_destroy(conf);
    conf = conf_examine(&inputs);
}

/* All errors, in the order of the table; defaults replace invalid values. */
static void examination(void **state)
{
    (void)state;
    use_file("a.conf", "[DEFAULT]\ndebug = maybe\ntempdir = $debug\nlog_dir = $log_dir\n"
                       "[berth]\nlisten = here\nmax_connections = 0\nmount_prefix = x\n"
                       "[api]\nauth_strategy = none\n[placement]\nfoo = $bar\n");
    examine();
    const char *const faults[] = {
        "a.conf:7: [berth] max_connections must be between 1 and 1000000",
        "a.conf:2: [DEFAULT] debug must be true or false, not 'maybe'",
        "a.conf:4: [DEFAULT] log_dir refers to itself by $log_dir",
        "a.conf:10: [api] auth_strategy must be one of keystone, noauth2, not 'none'",
        "[placement_database] connection is not set in a.conf",
        ("a.conf:6: [berth] listen: 'here' is not " LISTEN_FORMS),
        "a.conf:8: [berth] mount_prefix: 'x' is not a path such as /placement",
    };
    assert_int_equal(conf->faults.n, sizeof(faults) / sizeof(faults[0]));
    for (size_t i = 0; i < conf->faults.n; i++)
        assert_string_equal(conf->faults.items[i], faults[i]);
    assert_int_equal(conf->unknown_n, 1);
    assert_int_equal(conf->max_connections, 4096);
    assert_false(conf->debug);
    assert_int_equal(conf->auth_strategy, CONF_AUTH_KEYSTONE);
    assert_false(conf_value(conf, "DEFAULT", "tempdir")->is_set);
    expect_error(faults[0]);
}

/* A default that refers to an option with an invalid value: the option has no value. */
static void examination_of_a_default(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[DEFAULT]\nstate_path = $nothing\npybasedir = $pybasedir\n");
    examine();
    assert_int_equal(conf->faults.n, 2);
    assert_false(conf_value(conf, "DEFAULT", "state_path")->is_set);
}

/* After a file that could be read only in part, missing options are not reported. */
static void examination_of_bad_files(void **state)
{
    (void)state;
    use_file("a.conf", "[berth]\nlisten = here\n[x\n" BASE);
    use_file("b.conf", "no assignment");
    inputs.sources[inputs.sources_n++] = (struct conf_source){"nowhere.conf", false};
    examine();
    assert_int_equal(conf->faults.n, 3);
    assert_string_equal(conf->faults.items[0],
                        "a.conf:3: the section's ] is missing, or is followed by something");
    assert_string_equal(conf->faults.items[1],
                        "b.conf:1: neither a section nor an assignment: no = or : in it");
    assert_string_equal(
        conf->faults.items[2],
        "cannot read the configuration file nowhere.conf: No such file or directory");
    inputs.sources_n = 0;
    inputs.sources[inputs.sources_n++] = (struct conf_source){"nowhere", true};
    examine();
    assert_int_equal(conf->faults.n, 1);
    inputs.sources_n = 0;
    use_file("a.conf", BASE);
    examine();
    assert_int_equal(conf->faults.n, 0);
    assert_string_equal(conf->connection, "sqlite:////x.db");
}

/* An empty directory named on the command line does not select embedded mode. */
static void nothing_in_a_directory(void **state)
{
    (void)state;
    if (machine_has_placement())
        skip();
    assert_int_equal(mkdir("d", 0700), 0);
    inputs.sources[inputs.sources_n++] = (struct conf_source){"d", true};
    expect_error("[placement_database] connection is not set");
}

static const char *beside(const char *name)
{
    return find_conf_beside(&inputs, err.arena, name);
}

static void files_beside(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0700) | mkdir("e", 0700) | mkdir("f", 0700), 0);
    put("policy.yaml", "");
    assert_null(beside("none.yaml"));
    assert_memory_equal(beside("policy.yaml"), home, strlen(home));
    put("e/policy.yaml", "");
    use_file("e/a.conf", "");
    assert_string_equal(beside("policy.yaml"), "e/policy.yaml");
    put("f/policy.yaml", "");
    use_file("f/a.conf", "");
    assert_string_equal(beside("policy.yaml"), "f/policy.yaml");
    put("d/policy.yaml", "");
    inputs.sources[inputs.sources_n++] = (struct conf_source){"~/d", true};
    assert_string_equal(beside("policy.yaml") + strlen(home), "/d/policy.yaml");
    assert_string_equal(beside("../policy.yaml") + strlen(home), "/d/../policy.yaml");
    assert_null(beside("/nowhere"));
    assert_string_equal(beside("/dev/null"), "/dev/null");
    inputs.sources_n = 0;
    setenv("OS_PLACEMENT_CONFIG_DIR", "e", 1);
    assert_string_equal(beside("policy.yaml"), "e/policy.yaml");
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
    assert_non_null(strstr(err.message.data, "cannot create the directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOADING_TEST(embedded),
        LOADING_TEST(embedded_in_a_home),
        LOADING_TEST(homes_of_users),
        LOADING_TEST(directories),
        LOADING_TEST(search),
        LOADING_TEST(notes),
        LOADING_TEST(logged_notes),
        LOADING_TEST(bad_files),
        LOADING_TEST(examination),
        LOADING_TEST(examination_of_a_default),
        LOADING_TEST(examination_of_bad_files),
        LOADING_TEST(nothing_in_a_directory),
        LOADING_TEST(files_beside),
        LOADING_TEST(makes_the_state_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
