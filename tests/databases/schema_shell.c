/* What an instance does with a schema at its start, for schema.py. Prints OK or a message.
 *
 *     schema_shell start URL     as without sync_on_startup
 *     schema_shell sync URL      as with it
 *     schema_shell ids URL       prints a line for each table: its name, whether it has a sequence,
 *                                the last id from it, the largest id
 * One thread. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "log/log.h"
#include "store/postgres/report/id_figures.h"
#include "store/postgres/schema/migrate.h"
#include "store/server/dialects.h"

static bool print_ids(struct pg_session *session, uint64_t deadline_us, struct err *err)
{
    struct pg_id_figure figures[PG_ID_TABLES];
    if (pg_id_figures_read(session, figures, deadline_us, err) != SERVER_OK)
        return false;
    for (size_t i = 0; i < PG_ID_TABLES; i++)
        printf("%s %d %lld %lld\n", figures[i].table, figures[i].has_sequence,
               (long long)figures[i].handed_out, (long long)figures[i].largest);
    return true;
}

static bool obey(const char *command, struct pg_session *session, struct err *err)
{
    uint64_t deadline_us = clock_monotonic_us() + UINT64_C(120000000);
    if (pg_session_connect(session, deadline_us, err) != SERVER_OK)
        return false;
    if (strcmp(command, "ids") == 0)
        return print_ids(session, deadline_us, err);
    return pg_migrate_at_start(session, strcmp(command, "sync") == 0, deadline_us, err);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct pg_session *session = NULL;
    struct pg_url url;
    bool ok = argc == 3 && pg_url_parse(slice_of(argv[2]), SLICE_LIT(""), arena, &url, &err);
    if (ok) {
        session = pg_session_create(&(struct server_session_options){
            .address = &(struct server_address){&pg_dialect, &url, url.target}, .wake_fd = -1});
        ok = obey(argv[1], session, &err);
    }
    if (ok)
        puts("OK");
    else
        printf("%.*s\n", SLICE_ARG(err.message));
    pg_session_destroy(session);
    arena_destroy(arena);
    return ok ? 0 : 1;
}
