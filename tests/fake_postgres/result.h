/* Results of the fake server, as libpq's functions read them. */
#ifndef BERTH_FAKE_POSTGRES_RESULT_H
#define BERTH_FAKE_POSTGRES_RESULT_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"
#include "model/record.h"
#include "store/postgres/session/statement.h"

enum { RESULT_COLUMNS_MOST = 1 + RECORD_FIELDS_MAX };

struct pg_result {
    struct pg_result *next;
    bool is_end; /* no result, but the NULL that ends a statement's */
    ExecStatusType status;
    unsigned transaction; /* of a synchronisation point */
    bool is_binary;
    struct arena *arena; /* values and texts */
    int columns;
    int rows;
    enum pg_type types[RESULT_COLUMNS_MOST];
    struct slice *values; /* row by row; without data: NULL */
    size_t value_count, value_capacity;
    const char *tag; /* "COMMIT" */
    uint64_t affected;
    const char *severity; /* "ERROR", "FATAL" */
    const char *sqlstate;
    const char *message;
    const char *detail;
    const char *constraint;
    /* of MariaDB: */
    unsigned code; /* of an error */
    unsigned server_status;
    int64_t insert_id;
    bool has_more; /* results of the same text */
    uint64_t told; /* the last one: the state of which the text has told the log; 0: of none */
};

struct pg_result *result_create(ExecStatusType status);
struct pg_result *result_end(void);
struct pg_result *result_error(const char *severity, const char *sqlstate, const char *message);

/* A result of rows. The values of a row are added one after the other. */
struct pg_result *result_rows(bool is_binary);
void result_column(struct pg_result *result, enum pg_type type);
void result_add_int(struct pg_result *result, int64_t value);
void result_add_bool(struct pg_result *result, bool value);
void result_add_float(struct pg_result *result, double value);
void result_add_time(struct pg_result *result, int64_t us); /* 0: NULL */
/* Without data: NULL. */
void result_add_bytes(struct pg_result *result, struct slice bytes);
void result_add_null(struct pg_result *result);

/* Row `at` as a result of its own. */
struct pg_result *result_single(const struct pg_result *result, int at);

void result_free(struct pg_result *result);

#endif
