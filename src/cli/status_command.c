/* Prints the page of the admin listener as a few lines. One thread. */
#include "cli/status_command.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/admin_page.h"
#include "cli/output.h"
#include "conf/command_line.h"
#include "conf/load.h"

enum { READY = 0, NOT_READY = 1, WRONG = 2, NOT_RUNNING = 3 }; /* exit codes */

#define PACKAGED_ADDRESS "127.0.0.1:8779" /* of berthd-admin.socket */

static const struct command_line_switch switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--admin", NULL, "ADDRESS",
     "Address of the admin listener: ADDRESS:PORT or unix:/PATH. Default: the first [berth] "
     "admin_listen of the configuration, or " PACKAGED_ADDRESS ".",
     SWITCH_OWN, NULL, NULL, NULL},
    {"--json", NULL, NULL, "Print the page as JSON, unchanged.", SWITCH_OWN, NULL, NULL, NULL},
    {"--config-file", NULL, "FILE", "Read this file instead of the first placement.conf found.",
     SWITCH_CONFIG_FILE, NULL, NULL, NULL},
    {"--config-dir", NULL, "DIR", "Also read the *.conf files in this directory.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {.name = NULL},
};

static const char *status_command_text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "-";
}

static void print_text_of(const json_t *object, const char *name)
{
    output_text(stdout, status_command_text_of(object, name));
}

static json_int_t number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static void print_time(json_int_t seconds)
{
    char text[32] = "";
    time_t at = (time_t)seconds;
    struct tm parts;
    if (localtime_r(&at, &parts) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
    fputs(text, stdout);
}

static void print_span(json_int_t seconds)
{
    if (seconds >= 86400)
        printf("%" JSON_INTEGER_FORMAT " d %" JSON_INTEGER_FORMAT " h", seconds / 86400,
               seconds % 86400 / 3600);
    else if (seconds >= 3600)
        printf("%" JSON_INTEGER_FORMAT " h %" JSON_INTEGER_FORMAT " min", seconds / 3600,
               seconds % 3600 / 60);
    else
        printf("%" JSON_INTEGER_FORMAT " min %" JSON_INTEGER_FORMAT " s", seconds / 60,
               seconds % 60);
}

/* The name is printed only before the first of several lines. */
static void print_name(const char *name, size_t line)
{
    printf("%-15s", line == 0 ? name : "");
}

static void print_files(const json_t *page)
{
    const json_t *files = json_object_get(page, "configuration_files");
    size_t i;
    const json_t *file;
    if (json_array_size(files) == 0) {
        print_name("configuration", 0);
        puts("no file: it runs embedded");
    }
    json_array_foreach(files, i, file)
    {
        print_name("configuration", i);
        output_text(stdout, json_string_value(file) != NULL ? json_string_value(file) : "-");
        fputc('\n', stdout);
    }
}

static void print_checks(const json_t *page, bool is_ready)
{
    const json_t *checks = json_object_get(page, "checks");
    const char *name;
    json_t *check;
    print_name("state", 0);
    puts(is_ready ? "ready" : "NOT READY");
    json_object_foreach((json_t *)(uintptr_t)checks, name, check)
    {
        if (json_is_true(json_object_get(check, "ok")))
            continue;
        print_name("", 0);
        output_text(stdout, name);
        fputs(": ", stdout);
        print_text_of(check, "detail");
        fputc('\n', stdout);
    }
}

static void print_log(const json_t *log)
{
    if (number_of(log, "head") == 0)
        return;
    print_name("", 0);
    printf("batch %" JSON_INTEGER_FORMAT ", ", number_of(log, "head"));
    print_span(number_of(log, "seconds_since_head"));
    puts(" ago");
}

/* The table whose ids are used up furthest. */
static void print_ids(const json_t *ids)
{
    const char *table;
    const char *most = NULL;
    json_t *used;
    json_object_foreach((json_t *)(uintptr_t)ids, table, used)
    {
        if (strcmp(table, "most") != 0 &&
            (most == NULL || json_integer_value(used) > number_of(ids, most)))
            most = table;
    }
    if (most == NULL)
        return;
    print_name("", 0);
    fputs("ids: ", stdout);
    output_text(stdout, most);
    printf(" %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT "\n", number_of(ids, most),
           number_of(ids, "most"));
}

static void print_instance(const json_t *one)
{
    print_text_of(one, "host");
    printf(", process %" JSON_INTEGER_FORMAT ", version ", number_of(one, "pid"));
    print_text_of(one, "version");
    if (json_object_get(one, "node") != NULL) {
        fputs(", node ", stdout);
        print_text_of(one, "node");
    }
    printf(", %" JSON_INTEGER_FORMAT " batches behind, seen %" JSON_INTEGER_FORMAT " s ago%s\n",
           number_of(one, "batches_behind"), number_of(one, "seconds_since_seen"),
           json_is_true(json_object_get(one, "is_this_one")) ? " (this one)" : "");
}

/* Through which this instance has written, of a cluster. */
static void print_nodes(const json_t *page)
{
    json_int_t changes = number_of(page, "node_changes");
    size_t i;
    const json_t *one;
    if (changes == 0)
        return;
    print_name("nodes", 0);
    json_array_foreach(json_object_get(page, "nodes"), i, one)
    {
        if (i > 0)
            printf(", until %" JSON_INTEGER_FORMAT " s ago ", number_of(one, "seconds_since_left"));
        print_text_of(one, "node");
    }
    printf(", %" JSON_INTEGER_FORMAT " change%s in the last hour\n", changes,
           changes == 1 ? "" : "s");
}

static void print_coexist(const json_t *coexist)
{
    if (!json_is_true(json_object_get(coexist, "enabled")))
        return;
    print_name("", 0);
    printf("coexist enabled, changes waiting: %" JSON_INTEGER_FORMAT "\n",
           number_of(coexist, "waiting"));
}

/* Of databases of all kinds. */
static void print_settings(const json_t *server)
{
    static const char *const names[] = {
        "synchronous_commit", "innodb_flush_log_at_trx_commit", "sync_binlog",
        "max_allowed_packet", "innodb_snapshot_isolation",      "auto_increment_increment"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (json_object_get(server, names[i]) != NULL) {
            printf(", %s ", names[i]);
            print_text_of(server, names[i]);
        }
}

static void print_cluster(const json_t *cluster)
{
    if (!json_is_object(cluster))
        return;
    fputc(' ', stdout);
    print_text_of(cluster, "node");
    fputs(" (", stdout);
    print_text_of(cluster, "state");
    printf(", %" JSON_INTEGER_FORMAT " in the cluster)", number_of(cluster, "size"));
}

/* Only of a database on a server. */
static void print_server(const json_t *page)
{
    const json_t *server = json_object_get(page, "server");
    const json_t *instances = json_object_get(page, "instances");
    size_t i;
    const json_t *one;
    if (!json_is_object(server))
        return;
    print_name("server", 0);
    print_text_of(server, "role");
    print_cluster(json_object_get(server, "cluster"));
    fputs(" at ", stdout);
    print_text_of(server, "address");
    fputs(", version ", stdout);
    print_text_of(server, "version");
    fputc('\n', stdout);
    print_name("", 0);
    print_text_of(server, "isolation");
    print_settings(server);
    fputs(", replication ", stdout);
    print_text_of(server, "replication");
    fputs(json_is_true(json_object_get(server, "tls")) ? ", TLS" : ", no TLS", stdout);
    puts(json_is_true(json_object_get(server, "pooled")) ? ", through a pooler" : "");
    print_log(json_object_get(page, "log"));
    print_ids(json_object_get(page, "ids"));
    print_coexist(json_object_get(page, "coexist"));
    json_array_foreach(instances, i, one)
    {
        print_name("instances", i);
        print_instance(one);
    }
    print_nodes(page);
}

static void print_warnings(const json_t *page)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(json_object_get(page, "warnings"), i, warning)
    {
        print_name("warnings", i);
        output_text(stdout, json_string_value(warning) != NULL ? json_string_value(warning) : "-");
        fputc('\n', stdout);
    }
}

static void print_addresses(const json_t *page)
{
    size_t i;
    const json_t *address;
    json_array_foreach(json_object_get(page, "addresses"), i, address)
    {
        print_name("serves", i);
        print_text_of(address, "serves");
        fputs(" on ", stdout);
        print_text_of(address, "url");
        fputc('\n', stdout);
    }
}

static void print_errors(const json_t *page)
{
    const json_t *errors = json_object_get(page, "recent_errors");
    size_t i;
    const json_t *error;
    if (json_array_size(errors) == 0) {
        print_name("recent errors", 0);
        puts("none");
    }
    json_array_foreach(errors, i, error)
    {
        print_name("recent errors", i);
        print_time(number_of(error, "time"));
        fputc(' ', stdout);
        print_text_of(error, "logger");
        fputs(": ", stdout);
        print_text_of(error, "message");
        fputc('\n', stdout);
    }
}

static void print_page(const json_t *page, bool is_ready)
{
    const json_t *checks = json_object_get(page, "checks");
    fputs("berthd ", stdout);
    print_text_of(page, "version");
    printf(", process %" JSON_INTEGER_FORMAT ", since ", number_of(page, "pid"));
    print_time(number_of(page, "started"));
    fputs(" (", stdout);
    print_span(number_of(page, "uptime"));
    fputs(")\n", stdout);
    print_files(page);
    print_name("database", 0);
    print_text_of(page, "database");
    fputc('\n', stdout);
    print_name("", 0);
    print_text_of(json_object_get(checks, "schema"), "detail");
    json_int_t providers = number_of(page, "providers");
    printf(", %" JSON_INTEGER_FORMAT " resource provider%s", providers, providers == 1 ? "" : "s");
    if (number_of(page, "over_capacity") > 0)
        printf(", %" JSON_INTEGER_FORMAT " over capacity", number_of(page, "over_capacity"));
    putchar('\n');
    print_server(page);
    print_addresses(page);
    print_checks(page, is_ready);
    print_warnings(page);
    print_errors(page);
}

/* False: err contains a line. */
static bool find_address(const struct command_line *line, const struct conf_inputs *inputs,
                         struct conf_listen *address, struct err *err)
{
    const char *given = command_line_own(line, "--admin");
    if (given != NULL)
        return listen_parse(slice_of(given), err->arena, address) ||
               err_set(err, 400, NULL, "--admin must be ADDRESS:PORT or unix:/PATH, not '%s'",
                       given);
    struct conf *conf = conf_examine(inputs);
    const char *first = PACKAGED_ADDRESS;
    const struct conf_value *value = conf_value(conf, "berth", "admin_listen");
    if (value->is_set && value->items_n > 0)
        first = value->items[0];
    bool ok = listen_parse(slice_of(first), err->arena, address) ||
              err_set(err, 400, NULL, "[berth] admin_listen is not an address: '%s'", first);
    conf_destroy(conf);
    return ok;
}

static const char *shown(const struct conf_listen *address, struct arena *arena)
{
    if (address->path != NULL)
        return arena_printf(arena, "unix:%s", address->path).data;
    const char *form = strchr(address->host, ':') != NULL ? "[%s]:%u" : "%s:%u";
    return arena_printf(arena, form, address->host, address->port).data;
}

/* Prints the page; returns the exit code. */
static int print_answer(struct slice body, int status, bool as_it_is)
{
    json_t *page = status == 200 ? json_loadb(body.data, body.len, 0, NULL) : NULL;
    /* every berthd that has the page sends these two */
    if (!json_is_boolean(json_object_get(page, "ready")) ||
        !json_is_string(json_object_get(page, "version"))) {
        json_decref(page);
        fprintf(stderr, "berth status: the answer (HTTP %d) is not a status page of berthd\n",
                status);
        return NOT_READY;
    }
    bool is_ready = json_is_true(json_object_get(page, "ready"));
    if (as_it_is)
        output_json(stdout, body);
    else
        print_page(page, is_ready);
    json_decref(page);
    return is_ready ? READY : NOT_READY;
}

static int status_command_ask(const struct command_line *line, const struct conf_inputs *inputs,
                              struct err *err)
{
    struct conf_listen address;
    struct buf body = {0};
    int code = WRONG;
    if (!find_address(line, inputs, &address, err)) {
        fprintf(stderr, "berth status: %.*s\n", SLICE_ARG(err->message));
        return code;
    }
    if (address.tls) {
        fprintf(stderr,
                "berth status: the admin listener at %s uses TLS, which this command does not "
                "support: request https://%s/status with another client\n",
                shown(&address, err->arena), shown(&address, err->arena));
        return code;
    }
    int status = admin_page_get(&address, "/status", &body, err);
    if (status == 0) {
        fprintf(stderr,
                "berth status: no berthd answers on %s: %.*s\nThe admin listener is opened by "
                "berthd-admin.socket or by [berth] admin_listen; --admin names another address\n",
                shown(&address, err->arena), SLICE_ARG(err->message));
        code = NOT_RUNNING;
    } else {
        code = print_answer(buf_slice(&body), status, command_line_own(line, "--json") != NULL);
    }
    buf_free(&body);
    return code;
}

int status_command(int argc, char **argv, struct conf_inputs *inputs)
{
    struct command_line line;
    const char *words[1];
    unsigned words_n;
    command_line_parse_words(switches, argc, argv, words, 0, &words_n, &line);
    if (line.action == COMMAND_LINE_HELP) {
        fputs("usage: berth status [SWITCH]...\n\n"
              "Shows what the berthd on this machine serves, and whether it is ready.\n"
              "Exit code 0: ready; 1: not ready; 3: no berthd answers.\n\nswitches:\n",
              stdout);
        command_line_print_switches(switches, stdout);
        return 0;
    }
    if (line.action != COMMAND_LINE_RUN) {
        fprintf(stderr, "berth status: %s\n", line.error);
        return WRONG;
    }
    if (!command_line_add_inputs(inputs, &line.inputs)) {
        fputs("berth status: too many configuration files\n", stderr);
        return WRONG;
    }
    struct err err = {.arena = arena_create()};
    int code = status_command_ask(&line, inputs, &err);
    arena_destroy(err.arena);
    return code;
}
