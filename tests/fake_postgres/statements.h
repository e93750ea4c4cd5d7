/* What the statements of berth do. One thread. */
#ifndef BERTH_FAKE_POSTGRES_STATEMENTS_H
#define BERTH_FAKE_POSTGRES_STATEMENTS_H

#include "store/record_tables.h"
#include "transactions.h"
#include "write_plan.h"

/* Executes a statement: one of statements.c, or a write or a read of rows. A statement that berth
 * does not send ends the program. */
enum outcome statement_execute(struct call *call);

/* statements_write.c and statements_read.c. *is_known: whether it is one. */
enum outcome statement_write(struct call *call, bool *is_known);
enum outcome statement_read(struct call *call, bool *is_known);

/* statements_records.c: the same for writes of records; and a read of all records of a table, or of
 * those whose ids are the parameter. */
enum outcome statement_record(struct call *call, bool *is_known);
void records_read(struct call *call, enum record_table table, bool is_all,
                  const struct tables *tables);
void statements_forget_records(void);

/* A statement that writes or reads rows is analysed once in a program. */
void statements_forget(void);

/* ---- parameters, from 1 on ---- */

int64_t parameter_int(const struct call *call, unsigned at);
struct slice parameter_bytes(const struct call *call, unsigned at);

/* An element of an array. */
struct value {
    bool is_null;
    int64_t integer; /* also a time: microseconds since 1970 */
    double number;
    struct slice text;
};

/* Reads an array in binary form; returns the number of elements. `values` has room for `most`. */
size_t parameter_array(const struct call *call, unsigned at, struct value *values, size_t most);

/* What a statement that writes rows has been given: values[p] for the plan's parameter p + 1. */
enum { ROWS_AT_ONCE = 512 };
struct write_values {
    struct value values[PLAN_COLUMNS][ROWS_AT_ONCE];
    size_t rows;
};

struct write_found {
    size_t rows;    /* that are written */
    size_t missing; /* the first row of the values that finds none; SIZE_MAX: each finds one */
    size_t failed;  /* the row that is refused, with OUTCOME_ERROR */
};

/* Executes a write of rows of upstream's tables. */
enum outcome rows_write(struct call *call, const struct write_plan *plan,
                        const struct write_values *values, struct write_found *found);

/* The same for records: values[0] are the ids, the others those of the stored fields. */
enum { RECORDS_AT_ONCE = 64 };
struct record_values {
    struct value values[1 + RECORD_FIELDS_MAX][RECORDS_AT_ONCE];
    size_t rows;
};
enum outcome records_write(struct call *call, enum action action, enum record_table table,
                           const struct record_values *values, struct write_found *found);

/* Unquoted, without a schema: the table with that name; ROWS_TABLE_COUNT: none. */
enum rows_table table_named(struct slice name);

#endif
