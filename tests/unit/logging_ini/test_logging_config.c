/* Logging configurations in Python's format: those of deployments, and invalid ones. */
#include "logging_ini/logging_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/arena_group.h"
#include "unit.h"

static struct err err;
static struct log_settings settings;
static struct conf_texts warnings;

static const struct log_handler_settings *defaults(void)
{
    static struct log_handler_settings handler;
    handler = (struct log_handler_settings){
        .format = log_format_default, .facility = 1, .identity = "berthd"};
    handler.format.context = "CONTEXT";
    return &handler;
}

static bool parse(const char *text)
{
    err = (struct err){.arena = arena};
    return logging_config_parse(slice_of(text), "f", defaults(), arena, &settings, &warnings, &err);
}

static void parse_ok(const char *text)
{
    if (!parse(text))
        fail_msg("%.*s", SLICE_ARG(err.message));
}

static void expect_refused(const char *text, const char *message)
{
    assert_false(parse(text));
    assert_string_equal(err.message.data, message);
}

/* From openstack-helm's chart of placement. */
static const char HELM[] = "[formatter_context]\n"
                           "class = oslo_log.formatters.ContextFormatter\n"
                           "datefmt = %Y-%m-%d %H:%M:%S\n"
                           "[formatter_default]\n"
                           "datefmt = %Y-%m-%d %H:%M:%S\n"
                           "format = %(message)s\n"
                           "[formatters]\n"
                           "keys = context,default\n"
                           "[handler_null]\n"
                           "args = ()\n"
                           "class = logging.NullHandler\n"
                           "formatter = default\n"
                           "[handler_stderr]\n"
                           "args = (sys.stderr,)\n"
                           "class = StreamHandler\n"
                           "formatter = context\n"
                           "[handler_stdout]\n"
                           "args = (sys.stdout,)\n"
                           "class = StreamHandler\n"
                           "formatter = context\n"
                           "[handlers]\n"
                           "keys = stdout,stderr,null\n"
                           "[logger_amqp]\n"
                           "handlers = stderr\n"
                           "level = WARNING\n"
                           "qualname = amqp\n"
                           "[logger_placement]\n"
                           "handlers = stdout\n"
                           "level = INFO\n"
                           "qualname = placement\n"
                           "[logger_root]\n"
                           "handlers = null\n"
                           "level = WARNING\n"
                           "[loggers]\n"
                           "keys = root,placement,amqp\n";

static void openstack_helm(void **state)
{
    (void)state;
    parse_ok(HELM);
    assert_int_equal(warnings.n, 0);
    assert_int_equal(settings.handler_count, 3);
    assert_int_equal(settings.handlers[0].to, LOG_TO_DESCRIPTOR);
    assert_int_equal(settings.handlers[0].fd, STDOUT_FILENO);
    assert_int_equal(settings.handlers[0].format.form, LOG_FORM_CONTEXT);
    assert_string_equal(settings.handlers[0].format.context, "CONTEXT");
    assert_string_equal(settings.handlers[0].format.date, "%Y-%m-%d %H:%M:%S");
    assert_string_equal(settings.handlers[0].format.product, "unknown");
    assert_int_equal(settings.handlers[1].fd, STDERR_FILENO);
    assert_int_equal(settings.handlers[2].to, LOG_TO_NOTHING);
    assert_int_equal(settings.logger_count, 3);
    assert_string_equal(settings.loggers[0].name, "");
    assert_int_equal(settings.loggers[0].level, LOG_NUMBER_WARNING);
    assert_int_equal(settings.loggers[0].handler_count, 1);
    assert_int_equal(settings.loggers[0].handlers[0], 2);
    assert_string_equal(settings.loggers[1].name, "placement");
    assert_int_equal(settings.loggers[1].level, LOG_NUMBER_INFO);
    assert_int_equal(settings.loggers[1].handlers[0], 0);
    assert_false(settings.loggers[1].stops);
}

#define FORMATTERS "[formatters]\nkeys=f\n[formatter_f]\nformat=%(message)s\n"
#define ROOT       "[loggers]\nkeys=root\n[logger_root]\nhandlers=h\n"
#define HANDLER    FORMATTERS ROOT "[handlers]\nkeys=h\n[handler_h]\n"

static const struct log_handler_settings *handler_of(const char *lines)
{
    const struct slice parts[] = {SLICE_LIT(HANDLER), slice_of(lines)};
    parse_ok(arena_join(arena, parts, 2).data);
    assert_int_equal(settings.handler_count, 1);
    return &settings.handlers[0];
}

static void handlers(void **state)
{
    (void)state;
    const struct log_handler_settings *h = handler_of("class=StreamHandler\nlevel=ERROR\n");
    assert_int_equal(h->fd, STDERR_FILENO);
    assert_int_equal(h->level, LOG_NUMBER_ERROR);
    assert_string_equal(h->format.plain, "%(message)s");
    h = handler_of("class=logging.StreamHandler\nkwargs={'stream': ext.stdout}\nformatter=f\n");
    assert_int_equal(h->fd, STDOUT_FILENO);
    assert_int_equal(h->format.form, LOG_FORM_PLAIN);
    assert_null(h->format.date);
    h = handler_of("class=oslo_log.handlers.ColorHandler\nargs=(sys.stdout,)\n");
    assert_true(h->color);
    h = handler_of("class=FileHandler\nargs=('/l', 'a')\n");
    assert_int_equal(h->to, LOG_TO_FILE);
    assert_string_equal(h->path, "/l");
    assert_int_equal(h->rotation.when, LOG_ROTATION_NONE);
    h = handler_of("class=logging.handlers.WatchedFileHandler\nargs=('/l',)\n");
    assert_string_equal(h->path, "/l");
    h = handler_of("class=handlers.RotatingFileHandler\nargs=('/l', 'a', 10*1024, 5)\n");
    assert_int_equal(h->rotation.when, LOG_ROTATION_SIZE);
    assert_int_equal(h->rotation.max_bytes, 10240);
    assert_int_equal(h->rotation.keep, 5);
    h = handler_of("class=handlers.TimedRotatingFileHandler\n"
                   "kwargs={'filename': '/l', 'when': 'w3', 'interval': 2, 'backupCount': 7}\n");
    assert_int_equal(h->rotation.when, LOG_ROTATION_WEEKDAY);
    assert_int_equal(h->rotation.weekday, 3);
    assert_int_equal(h->rotation.interval, 2);
    assert_int_equal(h->rotation.keep, 7);
    h = handler_of("class=handlers.TimedRotatingFileHandler\nargs=('/l', 'midnight')\n");
    assert_int_equal(h->rotation.when, LOG_ROTATION_MIDNIGHT);
    h = handler_of("class=handlers.SysLogHandler\n"
                   "args=('/dev/log', handlers.SysLogHandler.LOG_LOCAL3)\n");
    assert_int_equal(h->to, LOG_TO_SYSLOGD);
    assert_string_equal(h->path, "/dev/log");
    assert_int_equal(h->facility, 19);
    h = handler_of("class=handlers.SysLogHandler\n"
                   "args=(('loghost', handlers.SYSLOG_UDP_PORT), 'daemon')\n");
    assert_null(h->path);
    assert_string_equal(h->host, "loghost");
    assert_string_equal(h->port, "514");
    assert_int_equal(h->facility, 3);
    h = handler_of("class=handlers.SysLogHandler\nargs=(('h', 5140),)\n");
    assert_string_equal(h->port, "5140");
    h = handler_of("class=handlers.SysLogHandler\n");
    assert_string_equal(h->host, "localhost");
    assert_int_equal(h->facility, 1);
    h = handler_of("class=oslo_log.handlers.OSSysLogHandler\nargs=(152,)\n");
    assert_int_equal(h->to, LOG_TO_SYSLOG);
    assert_string_equal(h->path, "/dev/log");
    assert_int_equal(h->facility, 19);
    assert_string_equal(h->identity, "berthd");
    h = handler_of("class=oslo_log.handlers.OSJournalHandler\n");
    assert_int_equal(h->to, LOG_TO_JOURNAL);
    assert_int_equal(warnings.n, 0);
}

static void becomes_stderr(const char *lines, const char *why)
{
    const struct log_handler_settings *h = handler_of(lines);
    assert_int_equal(h->to, LOG_TO_DESCRIPTOR);
    assert_int_equal(h->fd, STDERR_FILENO);
    assert_int_equal(warnings.n, 1);
    const char *at = strstr(warnings.items[0], " becomes standard error: ");
    assert_non_null(at);
    assert_string_equal(at + strlen(" becomes standard error: "), why);
}

static void handlers_that_make_no_sense_here(void **state)
{
    (void)state;
    becomes_stderr("class=fluent.handler.FluentHandler\nargs=('x', 'y', 24224)\n",
                   "handlers of this class are not supported");
    assert_string_equal(warnings.items[0],
                        "f:11: [handler_h] fluent.handler.FluentHandler becomes standard error: "
                        "handlers of this class are not supported");
    becomes_stderr("class=StreamHandler\nargs=(open('/x'),)\n", "its arguments are not understood");
    becomes_stderr("class=StreamHandler\nargs=(sys.stdout)\n", /* without the comma */
                   "its arguments are not understood");
    becomes_stderr("class=StreamHandler\nkwargs=('stream', sys.stdout)\n",
                   "its arguments are not understood");
    becomes_stderr("class=StreamHandler\nargs=(sys.stdin,)\n",
                   "its stream is neither sys.stdout nor sys.stderr");
    becomes_stderr("class=FileHandler\nargs=()\n", "its file name is not a plain string");
    becomes_stderr("class=handlers.RotatingFileHandler\nargs=('/l','a',-1)\n",
                   "maxBytes or backupCount is not a valid number");
    becomes_stderr("class=handlers.TimedRotatingFileHandler\nargs=('/l','w7')\n",
                   "`when` is not one of S, M, H, D, midnight, W0 to W6");
    becomes_stderr("class=handlers.TimedRotatingFileHandler\nargs=('/l','H',0)\n",
                   "interval or backupCount is not a valid number");
    becomes_stderr("class=handlers.TimedRotatingFileHandler\nkwargs={'filename':'/l','utc':True}\n",
                   "utc and atTime are not supported");
    becomes_stderr("class=handlers.SysLogHandler\nargs=('/dev/log', 'nowhere')\n",
                   "its facility is unknown");
    becomes_stderr("class=handlers.SysLogHandler\nargs=(('h', 0),)\n",
                   "its address is neither a path nor (host, port)");
    becomes_stderr("class=handlers.SysLogHandler\nargs=(('h', 1), 1, socket.SOCK_STREAM)\n",
                   "TCP is not supported");
    becomes_stderr("class=oslo_log.handlers.OSJournalHandler\nargs=(7000,)\n",
                   "its facility is unknown");
}

static void formatters(void **state)
{
    (void)state;
    const struct {
        const char *lines;
        enum log_form form;
        const char *plain;
        size_t warnings;
    } cases[] = {
        {"class=oslo_log.formatters.JSONFormatter\n", LOG_FORM_JSON, "%(message)s", 0},
        {"class=logging.Formatter\nformat=%(name)s\n  %(message)s\n", LOG_FORM_PLAIN,
         "%(name)s\n%(message)s", 0},
        {"format=\nstyle=%\n", LOG_FORM_PLAIN, "%(message)s", 0},
        {"class=oslo_log.formatters.FluentFormatter\n", LOG_FORM_JSON, "%(message)s", 1},
        {"class=my.Formatter\nformat=<%(message)s>\n", LOG_FORM_PLAIN, "<%(message)s>", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        parse_ok(arena_printf(arena,
                              ROOT "[handlers]\nkeys=h\n[handler_h]\nclass=StreamHandler\n"
                                   "formatter=f\n[formatters]\nkeys=f\n[formatter_f]\n%s",
                              cases[i].lines)
                     .data);
        assert_int_equal(settings.handlers[0].format.form, cases[i].form);
        assert_string_equal(settings.handlers[0].format.plain, cases[i].plain);
        assert_int_equal(warnings.n, cases[i].warnings);
    }
}

static void loggers(void **state)
{
    (void)state;
    parse_ok(FORMATTERS "[handlers]\nkeys=a, b\n[handler_a]\nclass=NullHandler\n"
                        "[handler_b]\nclass=NullHandler\n"
                        "[loggers]\nkeys= x , root\n[logger_root]\nhandlers=\n"
                        "[logger_x]\nqualname=x.y\nhandlers=b, a,b\npropagate=0\nlevel=NOTSET\n");
    assert_string_equal(settings.loggers[0].name, "x.y");
    assert_true(settings.loggers[0].stops);
    assert_int_equal(settings.loggers[0].level, LOG_NUMBER_UNSET);
    assert_int_equal(settings.loggers[0].handler_count, 2);
    assert_int_equal(settings.loggers[0].handlers[0], 1);
    assert_int_equal(settings.loggers[0].handlers[1], 0);
    assert_int_equal(settings.loggers[1].handler_count, 0);
    assert_int_equal(settings.loggers[1].level, LOG_NUMBER_WARNING);
}

/* Configurations with which Python would not start. */
static void refused(void **state)
{
    (void)state;
    expect_refused("", "the logging configuration f has no section [formatters]");
    expect_refused("x\n", "the logging configuration f:1: assignment before the first section");
    expect_refused("[formatters]\n", "the logging configuration f:1: no `keys` in this section");
    expect_refused("[formatters]\nkeys=f\n",
                   "the logging configuration f has no section [formatter_f]");
    expect_refused("[formatters]\nkeys=f\n[formatter_f]\nstyle={\n",
                   "the logging configuration f:3: the only supported style of formats is %");
    expect_refused("[formatters]\nkeys=f\n[formatter_f]\nformat=x\n",
                   "the logging configuration f:3: a format without any %(key)");
    expect_refused(HANDLER "x=1\n", "the logging configuration f:11: no `class` in this section");
    expect_refused(HANDLER "class=StreamHandler\nlevel=Info\n",
                   "the logging configuration f:11: no such level: Info");
    expect_refused(HANDLER "class=StreamHandler\nlevel=10\n",
                   "the logging configuration f:11: no such level: 10");
    expect_refused(
        HANDLER "class=StreamHandler\nformatter=g\n",
        "the logging configuration f:11: its formatter is not among the formatters' keys");
    expect_refused("[formatters]\nkeys=f\n[formatter_f]\nformat=%(message)r\n[handlers]\nkeys=h\n"
                   "[handler_h]\nclass=StreamHandler\nformatter=f\n",
                   "the logging configuration f:7: format: a conversion that log formats do not "
                   "support at \"%(message)r\"");
    expect_refused(
        HANDLER "class=StreamHandler\nargs=%\n",
        "the logging configuration f:13: a % that does not begin a reference (write %%)");
    expect_refused(HANDLER "class=StreamHandler\nlevel=%x\n",
                   "the logging configuration f:13: a % that does not begin a reference (write "
                   "%%)");
    expect_refused(HANDLER "class=StreamHandler\nformatter=%(g)s\n",
                   "the logging configuration f:13: a reference to a key that does not exist");
    expect_refused(FORMATTERS "[handlers]\nkeys=\n",
                   "the logging configuration f has no section [loggers]");
    expect_refused(FORMATTERS "[handlers]\nkeys=\n[loggers]\nkeys=root\n[logger_root]\n",
                   "the logging configuration f:9: no `handlers` in this section");
    expect_refused(FORMATTERS "[handlers]\nkeys=\n[loggers]\nkeys=root,x\n[logger_root]\n"
                              "handlers=\n[logger_x]\nhandlers=\nqualname=x\npropagate=%\n",
                   "the logging configuration f:14: a % that does not begin a reference (write "
                   "%%)");
    expect_refused(FORMATTERS "[handlers]\nkeys=\n[loggers]\nkeys=x\n[logger_x]\nhandlers=\n"
                              "qualname=x\n",
                   "the logging configuration f: root is not among the loggers' keys");
    expect_refused(
        FORMATTERS "[handlers]\nkeys=\n" ROOT,
        "the logging configuration f:9: one of its handlers is not among the handlers' keys");
    expect_refused(FORMATTERS "[handlers]\nkeys=\n[loggers]\nkeys=root,x\n[logger_root]\n"
                              "handlers=\n[logger_x]\nhandlers=\n",
                   "the logging configuration f:11: no `qualname` in this section");
    expect_refused(FORMATTERS "[handlers]\nkeys=\n[loggers]\nkeys=root,x\n[logger_root]\n"
                              "handlers=\n[logger_x]\nhandlers=\nqualname=x\npropagate=yes\n",
                   "the logging configuration f:11: `propagate` is not a number");
}

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-test-logging-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, HELM, strlen(HELM)), strlen(HELM));
    err = (struct err){.arena = arena};
    assert_true(logging_config_read(path, defaults(), arena, &settings, &warnings, &err));
    assert_int_equal(settings.logger_count, 3);
    assert_int_equal(ftruncate(fd, 2 << 20), 0);
    close(fd);
    assert_false(logging_config_read(path, defaults(), arena, &settings, &warnings, &err));
    assert_non_null(strstr(err.message.data, " is larger than 1048576 bytes"));
    assert_int_equal(unlink(path), 0);
    err.status = 0;
    assert_false(logging_config_read("/no/such", defaults(), arena, &settings, &warnings, &err));
    assert_string_equal(
        err.message.data,
        "cannot read the logging configuration /no/such: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openstack_helm),
        cmocka_unit_test(handlers),
        cmocka_unit_test(handlers_that_make_no_sense_here),
        cmocka_unit_test(formatters),
        cmocka_unit_test(loggers),
        cmocka_unit_test(refused),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, arena_group_setup, arena_group_teardown);
}
