/* See id_figures.h. A table's AUTO_INCREMENT is the next id that will be handed out; one that was
 * inserted by its number on another Galera node may be beyond it. One thread at a time. */
#include "store/mariadb/report/id_figures.h"

#include "base/buf.h"
#include "store/mariadb/session/ask.h"

static const char *const tables[MARIADB_ID_TABLES] = {
    "allocations", "consumer_types",   "consumers",          "inventories", "placement_aggregates",
    "projects",    "resource_classes", "resource_providers", "traits",      "users",
};

static void append_question(struct buf *sql, const char *table)
{
    buf_printf(sql,
               "SELECT COALESCE((SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE"
               " TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%s'), 1) - 1,"
               " (SELECT COALESCE(MAX(id), 0) FROM %s)",
               table, table);
}

enum server_outcome mariadb_id_figures_read(struct mariadb_session *session,
                                            struct store_ids figures[static MARIADB_ID_TABLES],
                                            uint64_t deadline_us, struct err *err)
{
    struct buf sql = {0};
    struct mariadb_rows rows = {0};
    for (size_t i = 0; i < MARIADB_ID_TABLES; i++) {
        if (i > 0)
            buf_append_lit(&sql, " UNION ALL ");
        append_question(&sql, tables[i]);
    }
    enum server_outcome outcome = mariadb_ask(session, buf_slice(&sql), &rows, deadline_us, err);
    for (size_t i = 0; i < MARIADB_ID_TABLES && outcome == SERVER_OK; i++) {
        int64_t handed_out = mariadb_answer_int(&rows, i, 0);
        int64_t largest = mariadb_answer_int(&rows, i, 1);
        figures[i] = (struct store_ids){.table = tables[i],
                                        .used = largest > handed_out ? largest : handed_out};
    }
    mariadb_rows_free(&rows);
    buf_free(&sql);
    return outcome;
}
