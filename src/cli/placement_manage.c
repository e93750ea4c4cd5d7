/* placement-manage: manages the schema and the rows of the configured database. Exit codes: 0; 1
 * when something failed (one line on standard error) or more is left to do; 2 for a wrong command
 * line or when nothing could be done; 127 for an invalid number. One thread. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "cli/coexist_command.h"
#include "cli/copy_command.h"
#include "cli/data_migrations.h"
#include "cli/output.h"
#include "cli/tool_arguments.h"
#include "conf/load.h"
#include "log/settings.h"
#include "store/schema.h"

enum { SYNC, VERSION, STAMP, MIGRATE, COEXIST, COPY };

static const struct command_line_switch migrate_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--max-count", NULL, "NUMBER",
     "Complete at most this many rows and exit; without it, rows are completed in batches of 50 "
     "until none is left.",
     SWITCH_OWN, NULL, NULL, NULL},
    {.name = NULL},
};

static const struct command_line_switch copy_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--to", NULL, "URL",
     "The empty database on a server, as [placement_database] connection names it; -: read the URL "
     "from standard input.",
     SWITCH_OWN, NULL, NULL, NULL},
    {.name = NULL},
};

static const struct tool_command commands[] = {
    {"sync", NULL, "Upgrade the schema to the newest revision.", tool_help_switch, SYNC},
    {"version", NULL, "Print the revision of the schema.", tool_help_switch, VERSION},
    {"stamp", "VERSION", "Set the revision without migrating.", tool_help_switch, STAMP},
    {"online_data_migrations", NULL, "Complete rows that old releases left incomplete.",
     migrate_switches, MIGRATE},
    {"coexist", "ACTION",
     "Let berthd notice at once what other programs write: enable, disable or status.",
     tool_help_switch, COEXIST},
    {"copy", NULL, "Copy an SQLite database to a database server, and compare all rows.",
     copy_switches, COPY},
    {.name = NULL},
};

static const struct tool tool = {
    .name = "placement-manage",
    .purpose = "Manages the database of the Placement service.",
    .category = "db",
    .category_help = "Commands for the database; see db --help.",
    .commands = commands,
    .without_category = 1,
    .without_command = 0,
};

static int report(const struct err *err)
{
    fprintf(stderr, "placement-manage: %.*s\n", SLICE_ARG(err->message));
    return 1;
}

static int print_version(struct slice connection, struct err *err)
{
    char revision[33];
    if (!schema_version(connection, revision, err))
        return report(err);
    puts(revision[0] == '\0' ? "None" : revision);
    return 0;
}

static int run_coexist(struct slice connection, const char *action, struct err *err)
{
    int code = coexist_command_run(connection, action, stdout, stderr, err);
    return err_is_set(err) ? report(err) : code;
}

static int run_copy(struct slice connection, const char *to, struct err *err)
{
    int code = copy_command_run(connection, to, stdout, stderr, err);
    return err_is_set(err) ? report(err) : code;
}

static int placement_manage_run(const struct tool_arguments *arguments, const struct conf *conf,
                                struct err *err)
{
    struct slice connection = slice_of(conf->connection);
    switch (arguments->command->id) {
    case SYNC:
        return schema_sync(connection, err) ? 0 : report(err);
    case STAMP:
        return schema_stamp(connection, slice_of(arguments->word), err) ? 0 : report(err);
    case VERSION:
        return print_version(connection, err);
    case COEXIST:
        return run_coexist(connection, arguments->word, err);
    case COPY:
        return run_copy(connection, command_line_own(&arguments->line, "--to"), err);
    default:
        return data_migrations_run(conf, command_line_own(&arguments->line, "--max-count"), stdout);
    }
}

int main(int argc, char **argv)
{
    struct tool_arguments arguments;
    if (!tool_arguments_parse(&tool, argc, argv, stdout, stderr, &arguments))
        return arguments.exit_code;

    struct err err = {.arena = arena_create()};
    struct conf *conf = conf_load(&arguments.inputs, &err);
    if (conf != NULL)
        log_set_debug(conf->debug);
    int code = conf != NULL && conf_make_state_directory(conf, &err)
                   ? placement_manage_run(&arguments, conf, &err)
                   : report(&err);
    conf_destroy(conf);
    arena_destroy(err.arena);
    return output_end("placement-manage", code, 1);
}
