/* Files, environment and command line together. Each test has an empty directory of its own as
 * $HOME and working directory. */
#include "conf/load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "conf/notes.h"
#include "unit.h"

static char home[64];
static struct conf_inputs inputs;
static struct err err;
static struct conf *conf;

#define BASE "[placement_database]\nconnection = sqlite:////x.db\n"

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fputs(text, out) < 0, 0);
    assert_int_equal(fclose(out), 0);
}

static void use_file(const char *path, const char *text)
{
    put(path, text);
    inputs.sources[inputs.sources_n++] = (struct conf_source){path, false};
}

static void override(const char *section, const char *name, const char *value)
{
    inputs.overrides[inputs.overrides_n++] =
        (struct conf_override){section, name, value, "--switch"};
}

static void load(void)
{
    conf_destroy(conf);
    err.status = 0;
    conf = conf_load(&inputs, &err);
}

static void load_ok(void)
{
    load();
    if (conf == NULL)
        fail_msg("%.*s", SLICE_ARG(err.message));
}

static void expect_error(const char *message)
{
    load();
    assert_null(conf);
    assert_int_equal(err.status, 500);
    assert_string_equal(err.message.data, message);
}

/* One file with BASE and this text, refused with this message. */
static void expect_refused(const char *text, const char *message)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), BASE "%s", text);
    inputs.sources_n = 0;
    use_file("a.conf", whole);
    expect_error(message);
}

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

static void defaults_with_a_file(void **state)
{
    (void)state;
    use_file("a.conf", BASE);
    load_ok();
    assert_false(conf->embedded);
    assert_null(conf->state_directory);
    assert_string_equal(conf->connection, "sqlite:////x.db");
    assert_int_equal(conf->auth_strategy, CONF_AUTH_KEYSTONE);
    assert_false(conf->sync_on_startup);
    assert_false(conf->debug);
    assert_false(conf->enforce_scope);
    assert_false(conf->enforce_new_defaults);
    assert_false(conf->proxy_headers);
    assert_false(conf->randomize_allocation_candidates);
    assert_int_equal(conf->max_allocation_candidates, -1);
    assert_int_equal(conf->generation_strategy, CONF_STRATEGY_UNSET);
    assert_string_equal(conf->incomplete_consumer_user_id, "00000000-0000-0000-0000-000000000000");
    assert_string_equal(conf->incomplete_consumer_project_id, conf->incomplete_consumer_user_id);
    assert_true(conf->worker_threads >= 2);
    assert_int_equal(conf->max_body_bytes, 16 << 20);
    assert_int_equal(conf->connection_memory_bytes, 124 << 10);
    assert_int_equal(conf->header_deadline_s, 30);
    assert_int_equal(conf->body_deadline_s, 30);
    assert_int_equal(conf->slow_request_us, 1000000);
    assert_int_equal(conf->idle_timeout_s, 60);
    assert_int_equal(conf->max_connections, 4096);
    assert_int_equal(conf->max_connections_per_address, 2048);
    assert_true(conf->access_log);
    assert_int_equal(conf->mount_prefix_count, 1);
    assert_string_equal(conf->mount_prefixes[0].data, "/placement");
    assert_int_equal(conf->unknown.n + conf->no_effect.n + conf->deprecated.n, 0);
}

static void all_fields(void **state)
{
    (void)state;
    use_file("a.conf",
             BASE "sync_on_startup = yes\n[DEFAULT]\ndebug = on\n[api]\nauth_strategy = noauth2\n"
                  "[oslo_policy]\nenforce_new_defaults = 1\nenforce_scope = true\n"
                  "[oslo_middleware]\nenable_proxy_headers_parsing = true\n"
                  "[placement]\nrandomize_allocation_candidates = true\n"
                  "max_allocation_candidates = 500\n"
                  "allocation_candidates_generation_strategy = breadth-first\n"
                  "incomplete_consumer_project_id = p\nincomplete_consumer_user_id = u\n"
                  "[berth]\nlisten = 0.0.0.0:1\nlisten = [::1]:2\nworker_threads = 3\n"
                  "max_body = 2048\nmax_connections = 7\nmax_connections_per_address = 6\n"
                  "idle_timeout = 5\nheader_deadline = 4\nbody_deadline = 86400\n"
                  "connection_memory = 8192\nmount_prefix = /a/\nmount_prefix =\n"
                  "mount_prefix = /b/c\naccess_log = no\nslow_request_ms = 20\n");
    load_ok();
    assert_true(conf->sync_on_startup && conf->debug && conf->enforce_new_defaults);
    assert_true(conf->enforce_scope && conf->proxy_headers);
    assert_true(conf->randomize_allocation_candidates);
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);
    assert_int_equal(conf->max_allocation_candidates, 500);
    assert_int_equal(conf->generation_strategy, CONF_STRATEGY_BREADTH_FIRST);
    assert_string_equal(conf->incomplete_consumer_project_id, "p");
    assert_string_equal(conf->incomplete_consumer_user_id, "u");
    assert_int_equal(conf->listen_count, 2);
    assert_string_equal(conf->listen[0].host, "0.0.0.0");
    assert_string_equal(conf->listen[1].host, "::1");
    assert_int_equal(conf->worker_threads, 3);
    assert_int_equal(conf->max_body_bytes, 2048);
    assert_int_equal(conf->max_connections, 7);
    assert_int_equal(conf->max_connections_per_address, 6);
    assert_int_equal(conf->idle_timeout_s, 5);
    assert_int_equal(conf->header_deadline_s, 4);
    assert_int_equal(conf->body_deadline_s, 86400);
    assert_int_equal(conf->connection_memory_bytes, 8192);
    assert_int_equal(conf->mount_prefix_count, 2);
    assert_string_equal(conf->mount_prefixes[0].data, "/a");
    assert_string_equal(conf->mount_prefixes[1].data, "/b/c");
    assert_false(conf->access_log);
    assert_int_equal(conf->slow_request_us, 20000);
}

static void ranks(void **state)
{
    (void)state;
    const char *name = "incomplete_consumer_user_id";
    use_file("a.conf", BASE "[placement]\nincomplete_consumer_user_id = 1\n"
                            "incomplete_consumer_user_id = 2\n[berth]\nlisten = a:1\n");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "2");
    assert_string_equal(conf_value(conf, "placement", name)->where, "a.conf:5");
    use_file("b.conf", "[PLACEMENT]\nincomplete_consumer_user_id = 3\n[berth]\nlisten = b:1\n");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "3");
    assert_int_equal(conf->listen_count, 2);
    assert_string_equal(conf->listen[0].host, "a");
    setenv("OS_PLACEMENT__INCOMPLETE_CONSUMER_USER_ID", "4", 1);
    setenv("OS_BERTH__LISTEN", "c:1", 1);
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "4");
    assert_int_equal(conf->listen_count, 1);
    assert_string_equal(conf->listen[0].host, "c");
    override("placement", name, "5");
    override("berth", "listen", "d:1");
    override("berth", "listen", "e:1");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "5");
    assert_int_equal(conf->listen_count, 2);
    assert_string_equal(conf->listen[1].host, "e");
    assert_string_equal(conf_value(conf, "placement", name)->where, "--switch");
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

static void deprecated_names(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[DEFAULT]\nauth_strategy = noauth2\n");
    load_ok();
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);
    assert_int_equal(conf->deprecated.n, 1);
    assert_string_equal(conf->deprecated.items[0],
                        "a.conf:4: [DEFAULT] auth_strategy is now [api] auth_strategy");
    assert_int_equal(conf->unknown.n, 0);
    /* The present name wins in one file, the later file over both. */
    use_file("b.conf", "[api]\nauth_strategy=noauth2\n[DEFAULT]\nauth_strategy=keystone");
    load_ok();
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);
    use_file("c.conf", "[DEFAULT]\nauth_strategy=keystone");
    load_ok();
    assert_int_equal(conf->auth_strategy, CONF_AUTH_KEYSTONE);
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

static void references(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[placement]\nincomplete_consumer_user_id = "
                            "$incomplete_consumer_project_id-$debug-${cors.max_age}-$$x\n"
                            "incomplete_consumer_project_id = ${cors.allow_methods}$tempdir\n"
                            "[DEFAULT]\nlog_dir=$state_path/log\nstate_path=/s\n");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id,
                        "GET,PUT,POST,DELETE,PATCH-False-3600-$x");
    assert_string_equal(conf_value(conf, "DEFAULT", "log_dir")->text, "/s/log");
}

static void bad_references(void **state)
{
    (void)state;
    expect_refused("[DEFAULT]\ntempdir = $nothing\n",
                   "a.conf:4: [DEFAULT] tempdir refers to $nothing, which is no option "
                   "(write $$ for a dollar)");
    expect_refused("[DEFAULT]\ntempdir = ${api.nothing}\n",
                   "a.conf:4: [DEFAULT] tempdir refers to $api.nothing, which is no option "
                   "(write $$ for a dollar)");
    expect_refused("[DEFAULT]\ntempdir = $log_file\nlog_file = x$tempdir",
                   "a.conf:5: [DEFAULT] log_file refers to itself by $tempdir");
    expect_refused("[DEFAULT]\ntempdir = $tempdir",
                   "a.conf:4: [DEFAULT] tempdir refers to itself by $tempdir");
    expect_refused("[DEFAULT]\ntempdir = ${cors.max_age}\n[cors]\nmax_age = x",
                   "a.conf:6: [cors] max_age must be a whole number, not 'x'");
}

/* Each doubles the last ten times over; eight of them would be 10^8 bytes. */
static void growing_references(void **state)
{
    (void)state;
    static const char *const names[] = {"tempdir", "pybasedir",       "state_path",     "log_file",
                                        "log_dir", "log_date_format", "instance_format"};
    struct buf text = {0};
    buf_append_slice(&text, slice_of(BASE "[DEFAULT]\nlog_config_append = 0123456789\n"));
    const char *last = "log_config_append";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        buf_printf(&text, "%s = ", names[i]);
        for (int j = 0; j < 10; j++)
            buf_printf(&text, "${%s}", last);
        buf_append_char(&text, '\n');
        last = names[i];
    }
    buf_append_char(&text, '\0');
    use_file("a.conf", text.data);
    buf_free(&text);
    expect_error("a.conf:8: [DEFAULT] log_file is longer than 65536 bytes");
}

static void bad_values(void **state)
{
    (void)state;
    expect_refused("sync_on_startup = maybe\n",
                   "a.conf:3: [placement_database] sync_on_startup must be true or false, "
                   "not 'maybe'");
    expect_refused("[placement]\n\nallocation_candidates_generation_strategy = x\n",
                   "a.conf:5: [placement] allocation_candidates_generation_strategy must be one of "
                   "depth-first, breadth-first, not 'x'");
    expect_refused("[berth]\nmax_connections = 0\n",
                   "a.conf:4: [berth] max_connections must be between 1 and 1000000");
    expect_refused("[berth]\nheader_deadline = 0.5\n",
                   "a.conf:4: [berth] header_deadline must be a whole number, not '0.5'");
    expect_refused("[berth]\nbody_deadline = 0\n",
                   "a.conf:4: [berth] body_deadline must be between 1 and 86400");
    expect_refused("[berth]\nlisten = here\n",
                   "a.conf:4: [berth] listen: 'here' is not ADDRESS:PORT");
    expect_refused("[berth]\nmount_prefix = x\n",
                   "a.conf:4: [berth] mount_prefix: 'x' is not a path beginning with /");
    expect_refused("[x\n", "a.conf:3: the section's ] is missing, or something stands behind it");
    expect_refused("connection =\n", "[placement_database] connection is not set in a.conf");
    setenv("OS_CORS__MAX_AGE", "x", 1);
    expect_refused("", "OS_CORS__MAX_AGE: [cors] max_age must be a whole number, not 'x'");
}

static void empty_number_is_the_default(void **state)
{
    (void)state;
    use_file("a.conf", BASE "max_pool_size =\n[berth]\nmax_connections =\n");
    load_ok();
    assert_int_equal(conf->max_connections, 4096);
    assert_false(conf_value(conf, "placement_database", "max_pool_size")->is_set);
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

/* Every row is well-formed and its default one of its own values. */
static void table(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        struct conf_value value = {.option = option};
        struct slice why;
        struct slice fallback = slice_of(option->fallback == NULL ? "" : option->fallback);
        assert_ptr_equal(option_find(slice_of(option->section), slice_of(option->name)), option);
        assert_true(strlen(option->help) > 0 && strchr(option->name, '-') == NULL);
        assert_true(option->choices == NULL || option->type == OPTION_STRING);
        if (option->fallback != NULL && !value_convert(&value, &fallback, 1, arena, &why))
            fail_msg("%s: %.*s", option->name, SLICE_ARG(why));
        for (const char *at = option->section; *at != '\0'; at++)
            assert_true(strcmp(option->section, "DEFAULT") == 0 || *at < 'A' || *at > 'Z');
    }
    arena_destroy(arena);
}

static int setup(void **state)
{
    (void)state;
    clearenv();
    snprintf(home, sizeof(home), "/tmp/berth-test-XXXXXX");
    inputs = (struct conf_inputs){.sources_n = 0};
    err = (struct err){.arena = arena_create()};
    conf = NULL;
    return mkdtemp(home) == NULL || chdir(home) != 0 || setenv("HOME", home, 1) != 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[96];
    conf_destroy(conf);
    arena_destroy(err.arena);
    snprintf(command, sizeof(command), "exec /bin/rm -rf '%s'", home);
    return chdir("/") != 0 || system(command) != 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(embedded),
        TEST(defaults_with_a_file),
        TEST(all_fields),
        TEST(ranks),
        TEST(directories),
        TEST(search),
        TEST(deprecated_names),
        TEST(notes),
        TEST(logged_notes),
        TEST(references),
        TEST(bad_references),
        TEST(growing_references),
        TEST(bad_values),
        TEST(empty_number_is_the_default),
        TEST(bad_files),
        TEST(makes_the_state_directory),
        TEST(table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
