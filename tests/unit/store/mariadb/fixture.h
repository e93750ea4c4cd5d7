/* A database of its own on a MariaDB server, for tests of statements: a connection that is as the
 * store's sessions are, and tables as the Python service creates them. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_FIXTURE_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_FIXTURE_H

#include <mysql.h>

#include "base/arena.h"
#include "store/mariadb/exchange/culprit.h"
#include "store/mariadb/exchange/write_sql.h"
#include "store/rows.h"
#include "unit.h"

extern const struct mariadb_indexes MARIADB_ALL_INDEXES;

struct server {
    MYSQL *mysql;
    struct arena *arena;
    char database[64];
    struct change_list list; /* what the next batch writes */
};

/* Creates the database with that character set. The server's unix socket is in the environment. */
void server_begin(struct server *server, const char *charset);
void server_end(struct server *server);

/* A further connection to it. */
MYSQL *server_connect(const struct server *server);

/* Executes a text that must succeed; all results are dropped. */
void run(MYSQL *mysql, const char *sql);

/* The first value of a statement's only row, in the arena; "NULL" for NULL, "-" without a row. */
const char *value_of(struct server *server, const char *sql);

/* What became of a batch. */
struct outcome {
    bool is_ok;
    unsigned error;
    const char *message;
    unsigned results;    /* of the text, before the error */
    size_t row;          /* ROW_NUMBER */
    struct bundle chunk; /* the one that was refused */
    unsigned result;     /* its result that is the error */
    size_t culprit;      /* as mariadb_culprit() finds it by the message alone */
    size_t by_row;       /* the same with ROW_NUMBER */
};

/* A text that has been written, and its chunks. */
struct text {
    struct buf sql;
    struct bundle *chunks;
    unsigned *ends; /* for each: the number of the text's results up to its end */
    size_t count;
    unsigned results;
};

/* The text of the list, from BEGIN to COMMIT; the list is one batch of one request. */
struct text write_text(struct server *server);
void text_free(struct text *text);

/* Sends the list as one batch, rolls back if it is refused, and empties the list. */
struct outcome commit(struct server *server);
/* The same without COMMIT. */
struct outcome begin_batch(struct server *server, MYSQL *mysql);

/* The batch must be written. */
void expect_written(struct server *server);

/* It must be refused by the check of a bundle of this kind. */
void expect_missing(struct server *server, enum bundle_kind kind);

/* Executes a statement of rows_sql.h, and frees its text. The changes that insert the visible rows,
 * of which there is room for `most`; returns how many there are. */
size_t read_rows(struct server *server, enum rows_table table, struct buf *sql,
                 struct change *changes, size_t most);

/* The change that inserts the row, as it is read; fails unless there is exactly one. */
struct change read_row(struct server *server, enum rows_table table, int64_t id);
/* How many rows are read. */
size_t count_rows(struct server *server, enum rows_table table, int64_t id);

#endif
