/* What the statements of berth do. One thread. */
#ifndef BERTH_FAKE_POSTGRES_STATEMENTS_H
#define BERTH_FAKE_POSTGRES_STATEMENTS_H

#include "store/record_tables.h"
#include "transactions.h"

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

/* Unquoted, without a schema: the table with that name; ROWS_TABLE_COUNT: none. */
enum rows_table table_named(struct slice name);

#endif
