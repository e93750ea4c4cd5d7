/* What an instance does with a schema at its start, for mariadb_schema.py. Prints OK or a message.
 *
 *     mariadb_schema_shell start URL     as without sync_on_startup
 *     mariadb_schema_shell sync URL      as with it
 *     mariadb_schema_shell served URL    prints the revision as a snapshot has it, if it is served
 * One thread. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/mariadb/schema/migrate.h"
#include "store/server/dialects.h"

static bool print_served(struct mariadb_session *session, uint64_t deadline_us, struct err *err)
{
    char revision[33];
    if (mariadb_session_run(session, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
                            "read", deadline_us, err) != SERVER_OK ||
        !mariadb_migrate_check_served(session, revision, deadline_us, err))
        return false;
    puts(revision);
    return true;
}

static bool obey(const char *command, struct mariadb_session *session, struct err *err)
{
    uint64_t deadline_us = clock_monotonic_us() + UINT64_C(120000000);
    if (mariadb_session_connect(session, deadline_us, err) != SERVER_OK)
        return false;
    if (strcmp(command, "served") == 0)
        return print_served(session, deadline_us, err);
    return mariadb_migrate_at_start(session, strcmp(command, "sync") == 0, deadline_us, err);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct mariadb_session *session = NULL;
    struct mariadb_url url;
    bool ok = argc == 3 && mariadb_url_parse(slice_of(argv[2]), SLICE_LIT(""), arena, &url, &err);
    if (ok) {
        session = mariadb_session_create(&(struct server_session_options){
            .address = &(struct server_address){&mariadb_dialect, &url, url.target},
            .wake_fd = -1});
        ok = obey(argv[1], session, &err);
    }
    if (ok)
        puts("OK");
    else
        printf("%.*s\n", SLICE_ARG(err.message));
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return ok ? 0 : 1;
}
