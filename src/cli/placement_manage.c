/* placement-manage: creates and stamps the schema of the configured database. Exits with 0, with 1
 * when something failed (one line on standard error), with 2 for a wrong command line. One thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "cli/manage_arguments.h"
#include "conf/load.h"
#include "store/schema.h"

static bool run(const struct manage_arguments *arguments, const struct conf *conf, struct err *err)
{
    struct slice connection = slice_of(conf->connection);
    char revision[33];
    switch (arguments->command) {
    case MANAGE_SYNC:
        return schema_sync(connection, err);
    case MANAGE_STAMP:
        return schema_stamp(connection, slice_of(arguments->revision), err);
    case MANAGE_VERSION:
        if (!schema_version(connection, revision, err))
            return false;
        puts(revision[0] == '\0' ? "None" : revision);
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct manage_arguments arguments;
    if (!manage_arguments_parse(argc, argv, stdout, stderr, &arguments))
        return arguments.exit_code;

    struct err err = {.arena = arena_create()};
    struct conf *conf = conf_load(&arguments.inputs, &err);
    if (conf != NULL)
        log_set_debug(conf->debug);
    bool ok = conf != NULL && conf_make_state_directory(conf, &err) && run(&arguments, conf, &err);
    if (!ok)
        fprintf(stderr, "placement-manage: %.*s\n", SLICE_ARG(err.message));
    conf_destroy(conf);
    arena_destroy(err.arena);
    return ok && fflush(stdout) == 0 ? 0 : 1;
}
