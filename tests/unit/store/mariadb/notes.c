/* See notes.h. */
#include "notes.h"

#include <stdlib.h>

#include "store/mariadb/foreign/foreign_log.h"
#include "store/mariadb/foreign/foreign_sql.h"

#define NAMED "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(255));"
#define OWN   "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;"

static const char TABLES[] =
    "SET lock_wait_timeout = 10;"
    "DROP TABLE IF EXISTS allocations, consumer_types, consumers, inventories,"
    " placement_aggregates, projects, resource_classes, resource_provider_aggregates,"
    " resource_provider_traits, resource_providers, traits, users, berth_log, berth_locks,"
    " berth_foreign;"
    "CREATE TABLE consumer_types" NAMED "CREATE TABLE placement_aggregates" NAMED
    "CREATE TABLE projects" NAMED "CREATE TABLE resource_classes" NAMED "CREATE TABLE traits" NAMED
    "CREATE TABLE users" NAMED "CREATE TABLE resource_providers (id INT NOT NULL AUTO_INCREMENT "
    "PRIMARY KEY, name VARCHAR(200),"
    " generation INT NOT NULL DEFAULT 0);"
    "CREATE TABLE inventories (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, resource_provider_id INT"
    " NOT NULL, total INT NOT NULL DEFAULT 0);"
    "CREATE TABLE resource_provider_aggregates (resource_provider_id INT NOT NULL, aggregate_id INT"
    " NOT NULL, PRIMARY KEY (resource_provider_id, aggregate_id));"
    "CREATE TABLE resource_provider_traits (trait_id INT NOT NULL, resource_provider_id INT NOT"
    " NULL, PRIMARY KEY (trait_id, resource_provider_id));"
    "CREATE TABLE consumers (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, uuid VARCHAR(36) NOT NULL"
    " UNIQUE);"
    "CREATE TABLE allocations (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, consumer_id VARCHAR(36)"
    " NOT NULL, used INT NOT NULL DEFAULT 1, KEY (consumer_id));"
    "CREATE TABLE berth_log (number BIGINT PRIMARY KEY, mark VARBINARY(16) NOT NULL, digest"
    " VARBINARY(16) NOT NULL, written_at DATETIME(6) NOT NULL, entries LONGBLOB NOT NULL)" OWN
    "CREATE TABLE berth_locks (name VARCHAR(20) PRIMARY KEY)" OWN
    "CREATE TABLE berth_foreign (id BIGINT AUTO_INCREMENT PRIMARY KEY, entity VARCHAR(20) NOT NULL,"
    " entity_id BIGINT NOT NULL, consumer_uuid VARCHAR(255) NOT NULL)" OWN
    "INSERT INTO berth_locks VALUES ('batches')";

void notes_make_tables(void)
{
    struct mariadb_session *session = open_session();
    run(session, TABLES);
    mariadb_session_destroy(session);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *text_of(struct arena *arena, const struct mariadb_rows *rows)
{
    size_t count = mariadb_rows_count(rows);
    const char **texts = arena_zalloc(arena, (count + 1) * sizeof(*texts));
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        texts[i] =
            arena_printf(arena, "%s %s %s", mariadb_rows_bytes(rows, i, 0).data,
                         mariadb_rows_bytes(rows, i, 1).data, mariadb_rows_bytes(rows, i, 2).data)
                .data;
    qsort(texts, count, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", texts[i]).data;
    return text;
}

static void execute(struct mariadb_session *session, struct buf *sql, struct mariadb_rows *rows,
                    size_t rows_n)
{
    struct attempt attempt = begin_attempt();
    const struct mariadb_text text = {.sql = buf_slice(sql)};
    expect_outcome(
        &attempt, session,
        mariadb_session_execute(session, &text, rows, rows_n, NULL, soon(), &attempt.err),
        SERVER_OK, NULL);
    buf_free(sql);
}

const char *notes_after(struct arena *arena, struct mariadb_session *session, char **view)
{
    struct buf sql = {0};
    struct mariadb_rows rows[MARIADB_FOREIGN_RESULTS] = {0};
    struct foreign_notes notes = {0};
    const struct foreign_view before = {.text = *view};
    run(session, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
    mariadb_foreign_new(&before, true, &sql);
    execute(session, &sql, rows, MARIADB_FOREIGN_RESULTS);
    run(session, "ROLLBACK");
    mariadb_foreign_read_new(rows, &notes);
    assert_true(notes.were_asked);
    const char *text =
        notes.is_everything ? "everything" : text_of(arena, &rows[MARIADB_FOREIGN_NEW]);
    free(*view);
    *view = notes.view;
    notes.view = NULL;
    foreign_notes_free(&notes);
    for (int i = 0; i < MARIADB_FOREIGN_RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    return text;
}

bool notes_are_new(struct mariadb_session *session, const char *view)
{
    struct buf sql = {0};
    struct mariadb_rows rows = {0};
    int64_t found = 0;
    char *copy = view == NULL ? NULL : slice_dup(slice_of(view));
    const struct foreign_view before = {.text = copy};
    buf_append_lit(&sql, "SELECT ");
    mariadb_foreign_exists(&before, true, &sql);
    execute(session, &sql, &rows, 1);
    assert_true(mariadb_rows_int(&rows, 0, 0, &found));
    mariadb_rows_free(&rows);
    free(copy);
    return found == 1;
}

uint64_t notes_moved(struct mariadb_session *session)
{
    uint64_t moved = 0;
    struct attempt attempt = begin_attempt();
    expect_outcome(&attempt, session,
                   mariadb_foreign_log_move(session, &moved, soon(), &attempt.err), SERVER_OK,
                   NULL);
    return moved;
}
