/* Options of the log and their effects: destinations, refusals, and changes on SIGHUP. */
#include "daemon/logging.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/load.h"
#include "log/log.h"
#include "unit.h"

static char directory[64];
static struct err err;

/* NULL: err has the reason. */
static struct conf *try_load(const char *options)
{
    FILE *file = fopen("a.conf", "w");
    assert_non_null(file);
    assert_true(fprintf(file,
                        "[placement_database]\nconnection = sqlite://user:geheim@\n"
                        "[DEFAULT]\n%s",
                        options) > 0);
    assert_int_equal(fclose(file), 0);
    struct conf_inputs inputs = {.sources = {{"a.conf", false}}, .sources_n = 1};
    err.status = 0;
    return conf_load(&inputs, &err);
}

static struct conf *load(const char *options)
{
    struct conf *conf = try_load(options);
    if (conf == NULL)
        fail_msg("%.*s", SLICE_ARG(err.message));
    return conf;
}

static void start(const char *options)
{
    struct conf *conf = load(options);
    if (!logging_start(conf, &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
    conf_destroy(conf); /* it is not needed any more */
}

static bool apply(const char *options)
{
    struct conf *conf = load(options);
    bool ok = logging_apply(conf, &err);
    conf_destroy(conf);
    return ok;
}

static void log_two(void)
{
    log_write(LOG_LEVEL_INFO, "placement.x", LOG_NO_CONTEXT, "one");
    log_write(LOG_LEVEL_DEBUG, "placement.x", LOG_NO_CONTEXT, "two");
}

/* The whole content of a file; the caller frees it. */
static char *content(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, file) > 0 || feof(file));
    assert_int_equal(fclose(file), 0);
    return text;
}

static void expect_content(const char *path, const char *expected)
{
    char *text = content(path);
    assert_string_equal(text, expected);
    free(text);
}

static const char BARE[] = "logging_default_format_string = %(levelname)s %(message)s\n"
                           "logging_debug_format_suffix =\n";

static void start_bare(const char *options)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s%s", BARE, options);
    start(text);
}

static void paths(void **state)
{
    (void)state;
    char whole[128];
    start_bare("log_file = b.log\n");
    log_two();
    logging_stop(false);
    expect_content("b.log", "INFO one\n");
    assert_int_equal(mkdir("logs", 0700), 0);
    start_bare("log_file = b.log\nlog_dir = logs\ndebug = true\n");
    log_two();
    logging_stop(false);
    expect_content("logs/b.log", "INFO one\nDEBUG two\n");
    start_bare("log_dir = logs/\n");
    log_two();
    logging_stop(false);
    expect_content("logs/test_daemon_logging.log", "INFO one\n");
    snprintf(whole, sizeof(whole), "log_dir = nowhere\nlog_file = %s/c.log\n", directory);
    start_bare(whole);
    log_two();
    logging_stop(false);
    expect_content("c.log", "INFO one\n");
}

static void json(void **state)
{
    (void)state;
    start("log_file = j.log\nuse_json = true\n");
    log_two();
    logging_stop(false);
    char *text = content("j.log");
    assert_memory_equal(text, "{\"message\": \"one\", \"asctime\": \"", 31);
    assert_int_equal(text[strlen(text) - 2], '}');
    free(text);
}

static void expect_refused(const char *options, const char *message)
{
    struct conf *conf = try_load(options);
    assert_true(conf == NULL || !logging_start(conf, &err));
    assert_string_equal(err.message.data, message);
    conf_destroy(conf);
}

static void refused(void **state)
{
    (void)state;
    expect_refused("log_file = nowhere/a.log\n",
                   "cannot open the log file nowhere/a.log: No such file or directory");
    expect_refused("log_file = b.log\nlog_dir = nowhere\n",
                   "cannot open the log file nowhere/b.log: No such file or directory");
    const char *facilities =
        "must be one of LOG_USER, LOG_MAIL, LOG_DAEMON, LOG_AUTH, LOG_SYSLOG, "
        "LOG_LPR, LOG_NEWS, LOG_UUCP, LOG_CRON, LOG_AUTHPRIV, LOG_FTP, LOG_LOCAL0 to LOG_LOCAL7";
    char message[512];
    snprintf(message, sizeof(message), "a.conf:5: [DEFAULT] syslog_log_facility %s", facilities);
    expect_refused("use_syslog = true\nsyslog_log_facility = LOG_KERN\n", message);
    snprintf(message, sizeof(message), "a.conf:4: [DEFAULT] syslog_log_facility %s", facilities);
    expect_refused("syslog_log_facility =\nuse_journal = true\n", message);
    expect_refused(
        "default_log_levels = a=WARN,b=warn\n",
        "a.conf:4: [DEFAULT] default_log_levels must be a list of LOGGER=LEVEL, not 'b=warn'");
    expect_refused(
        "default_log_levels = a\n",
        "a.conf:4: [DEFAULT] default_log_levels must be a list of LOGGER=LEVEL, not 'a'");
    expect_refused("log_file = b.log\nlog_rotation_type = interval\nlog_rotate_interval = 0\n",
                   "a.conf:6: [DEFAULT] log_rotate_interval must be at least 1");
    expect_refused("log_file = b.log\nlog_rotation_type = interval\nlog_rotate_interval = 7\n"
                   "log_rotate_interval_type = weekday\n",
                   "a.conf:6: [DEFAULT] log_rotate_interval must be a day from 0 (Monday) to 6");
    expect_refused("rate_limit_burst = 1\nrate_limit_interval = 1\nrate_limit_except_level = X\n",
                   "a.conf:6: [DEFAULT] rate_limit_except_level must be CRITICAL, ERROR, WARNING, "
                   "INFO, DEBUG or empty");
    expect_refused("logging_default_format_string = %(message\n",
                   "logging_default_format_string: a key without its ) at \"%(message\"");
    expect_refused("log_config_append = nowhere\n",
                   "cannot read the logging configuration nowhere: No such file or directory");
}

/* oslo.log reads the facility only when it needs it. */
static void not_looked_at(void **state)
{
    (void)state;
    start_bare("log_file = n.log\nsyslog_log_facility = nonsense\nlog_rotate_interval = -5\n"
               "rate_limit_except_level = nonsense\n");
    log_two();
    logging_stop(false);
    expect_content("n.log", "INFO one\n");
}

static void levels_change(void **state)
{
    (void)state;
    char text[256];
    start_bare("log_file = l.log\ndefault_log_levels = placement=WARN\n");
    log_two();
    expect_content("l.log", "");
    assert_true(apply("debug = true\ndefault_log_levels = x=INFO, placement.x=10\n"));
    log_two();
    expect_content("l.log", "INFO one\nDEBUG two\n"); /* and the file is still that of the start */
    assert_null(try_load("default_log_levels = x\n"));
    assert_non_null(strstr(err.message.data, "default_log_levels must be a list"));
    log_two();
    expect_content("l.log", "INFO one\nDEBUG two\nINFO one\nDEBUG two\n");
    assert_int_equal(rename("l.log", "l.log.1"), 0);
    snprintf(text, sizeof(text), "%s", "default_log_levels = =ERROR\n");
    assert_true(apply(text));
    expect_content("l.log", ""); /* opened again, before anything is written */
    log_two();
    log_write(LOG_LEVEL_ERROR, "placement.x", LOG_NO_CONTEXT, "three");
    expect_content("l.log", "ERROR three\n");
    logging_stop(false);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#define INI(level, file)                                                                           \
    "[formatters]\nkeys=f\n[formatter_f]\nformat=%(levelname)s %(message)s\n"                      \
    "[handlers]\nkeys=h\n[handler_h]\nclass=FileHandler\nargs=('" file "',)\nformatter=f\n"        \
    "[loggers]\nkeys=root\n[logger_root]\nhandlers=h\nlevel=" level "\n"

static void logging_configurations(void **state)
{
    (void)state;
    const char *options = "log_config_append = log.ini\nlog_file = unused.log\n";
    put("log.ini", INI("INFO", "i1.log"));
    start(options);
    log_two();
    expect_content("i1.log", "INFO one\n");
    assert_int_equal(access("unused.log", F_OK), -1);
    assert_true(apply("log_config_append = log.ini\ndebug = true\n")); /* the root's level */
    log_two();
    expect_content("i1.log", "INFO one\nINFO one\nDEBUG two\n");
    put("log.ini", INI("ERROR", "i2.log"));
    assert_true(apply("log_config_append = log.ini\ndebug = true\n")); /* the file has changed */
    log_two();
    log_write(LOG_LEVEL_ERROR, "x", LOG_NO_CONTEXT, "three");
    expect_content("i2.log", "ERROR three\n");
    put("log.ini", "nonsense");
    assert_false(apply("log_config_append = log.ini\ndebug = true\n"));
    log_write(LOG_LEVEL_ERROR, "x", LOG_NO_CONTEXT, "four");
    expect_content("i2.log", "ERROR three\nERROR four\n");
    assert_true(apply("debug = true\n")); /* not read again: the last one stays */
    put("log2.ini", INI("DEBUG", "i3.log"));
    assert_true(apply("log_config_append = log2.ini\n"));
    log_two();
    expect_content("i3.log", "INFO one\nDEBUG two\n");
    logging_stop(false);
}

static void unknown_handlers(void **state)
{
    (void)state;
    put("log.ini", "[formatters]\nkeys=\n[handlers]\nkeys=h,g\n[handler_h]\nclass=FileHandler\n"
                   "args=('u.log',)\n[handler_g]\nclass=my.Handler\n[loggers]\nkeys=root\n"
                   "[logger_root]\nhandlers=h\n");
    start("log_config_append = log.ini\n");
    logging_stop(false);
    expect_content("u.log", "log.ini:8: [handler_g] my.Handler becomes standard error: handlers "
                            "of this class are not supported\n");
}

/* oslo.config's format, and no secret. */
static void all_options(void **state)
{
    (void)state;
    static const struct conf_inputs inputs = {
        .sources = {{"a.conf", false}},
        .sources_n = 1,
        .overrides = {{"DEFAULT", "debug", "true", "--debug"},
                      {"placement_database", "connection", "geheim", "--x"}},
        .overrides_n = 2};
    const char *options = "log_file = o.log\ndebug = true\nlogging_debug_format_suffix =\n"
                          "logging_default_format_string = %(name)s %(message)s\n"
                          "[cors]\nallowed_origin = a, b\n";
    struct conf *conf = load(options);
    assert_true(logging_start(conf, &err));
    logging_log_options(conf, &inputs);
    logging_stop(false);
    conf_destroy(conf);
    char *text = content("o.log");
    assert_memory_equal(text, "placement.wsgi ****", 19);
    assert_non_null(strstr(text, "placement.wsgi Configuration options gathered from:\n"));
    assert_non_null(strstr(
        text,
        "command line args: ['--config-file', 'a.conf', '--debug', 'true', '--x', '****']\n"));
    assert_non_null(strstr(text, "config files: ['a.conf']\n"));
    assert_non_null(strstr(text, "placement.wsgi debug                          = True\n"));
    assert_non_null(strstr(text, "placement.wsgi log_file                       = o.log\n"));
    assert_non_null(strstr(text, "placement.wsgi log_dir                        = None\n"));
    assert_non_null(strstr(text, "placement.wsgi placement_database.connection  = ****\n"));
    assert_non_null(strstr(text, "placement.wsgi cors.allowed_origin            = ['a', 'b']\n"));
    assert_non_null(strstr(text, "placement.wsgi profiler.socket_timeout        = 0.1\n"));
    assert_null(strstr(text, "geheim"));
    free(text);
    conf = load("log_file = p.log\ndebug = true\nlog_options = false\n");
    assert_true(logging_start(conf, &err));
    logging_log_options(conf, &inputs);
    logging_stop(false);
    conf_destroy(conf);
    expect_content("p.log", "");
}

static int setup(void **state)
{
    (void)state;
    clearenv();
    err = (struct err){.arena = arena_create()};
    snprintf(directory, sizeof(directory), "/tmp/berth-test-logging-XXXXXX");
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    arena_destroy(err.arena);
    snprintf(command, sizeof(command), "cd / && rm -r %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths, setup, teardown),
        cmocka_unit_test_setup_teardown(json, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
        cmocka_unit_test_setup_teardown(not_looked_at, setup, teardown),
        cmocka_unit_test_setup_teardown(levels_change, setup, teardown),
        cmocka_unit_test_setup_teardown(logging_configurations, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_handlers, setup, teardown),
        cmocka_unit_test_setup_teardown(all_options, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
