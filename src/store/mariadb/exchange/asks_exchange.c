/* Asks for turns: rows of the table of locks, by their key only, so that none waits for the rows
 * that others lock. A failure leaves the session in no transaction, or closed. */
#include <stdio.h>
#include <stdlib.h>

#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/log/locks.h"
#include "store/mariadb/session/session_state.h"

enum { ASK_NAME_BYTES = 21 };

/* "t.", the instance, and the serial number, all hexadecimal: as long as a name may be. */
static void name_ask(const struct turn_ask *ask, char name[static ASK_NAME_BYTES])
{
    snprintf(name, ASK_NAME_BYTES, "t.%016llx%02x", (unsigned long long)ask->instance, ask->serial);
}

static bool read_ask(struct slice name, struct turn_ask *ask)
{
    char text[ASK_NAME_BYTES];
    unsigned long long instance;
    unsigned serial;
    snprintf(text, sizeof(text), "%.*s", SLICE_ARG(name));
    if (sscanf(text, "t.%16llx%2x", &instance, &serial) != 2)
        return false;
    *ask = (struct turn_ask){.instance = instance, .serial = (unsigned char)serial};
    return true;
}

static enum server_outcome run_ask(struct server_session *base, const char *format,
                                   const struct turn_ask *ask, uint64_t deadline_us,
                                   struct err *err)
{
    char name[ASK_NAME_BYTES];
    char sql[128];
    name_ask(ask, name);
    snprintf(sql, sizeof(sql), format, name);
    return mariadb_session_run(mariadb_session_of(base), sql, "written", deadline_us, err);
}

enum server_outcome mariadb_ask_write(struct server_session *base, const struct turn_ask *ask,
                                      uint64_t deadline_us, struct err *err)
{
    return run_ask(base, "INSERT INTO " MARIADB_LOCKS_TABLE " (name) VALUES ('%s')", ask,
                   deadline_us, err);
}

enum server_outcome mariadb_ask_delete(struct server_session *base, const struct turn_ask *ask,
                                       uint64_t deadline_us, struct err *err)
{
    return run_ask(base, "DELETE FROM " MARIADB_LOCKS_TABLE " WHERE name='%s'", ask, deadline_us,
                   err);
}

enum server_outcome mariadb_asks_read(struct server_session *base, struct turn_asks *asks,
                                      uint64_t deadline_us, struct err *err)
{
    static const char sql[] =
        "SELECT name FROM " MARIADB_LOCKS_TABLE " WHERE name LIKE 't.%' ORDER BY name LIMIT 16";
    const struct mariadb_text text = {.sql = SLICE_LIT(sql), .what = "read"};
    struct mariadb_rows rows = {0};
    enum server_outcome outcome =
        mariadb_session_execute(mariadb_session_of(base), &text, &rows, 1, NULL, deadline_us, err);
    *asks = (struct turn_asks){0};
    for (size_t i = 0; i < mariadb_rows_count(&rows) && asks->count < ASKS_MOST; i++)
        asks->count += read_ask(mariadb_rows_bytes(&rows, i, 0), &asks->at[asks->count]);
    mariadb_rows_free(&rows);
    return outcome;
}
