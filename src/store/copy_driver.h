/* What a kind of database implements to be copied from, or to.
 *
 * One copy is made by one thread, in the order of these functions. All fail with one clear line. */
#ifndef BERTH_STORE_COPY_DRIVER_H
#define BERTH_STORE_COPY_DRIVER_H

#include "base/err.h"
#include "store/copy_tables.h"
#include "store/value_forms.h"
#include "store/value_limits.h"

enum { COPY_NOTHING_WRONG = COPY_COLUMNS_MOST };

/* What a column with unique texts makes no difference of, as far as ASCII is concerned. */
enum copy_ignores { COPY_IGNORES_CASE = 1 << 0, COPY_IGNORES_LAST_BLANKS = 1 << 1 };

struct copy_source_driver {
    /* Opens the database, which no other process may have open until it is closed: what is written
     * to it meanwhile would not be in the copy. NULL: err is set. */
    void *(*open)(struct slice connection, struct err *err);
    void (*close)(void *source);
    /* Reads a table's rows in the order of its key. A table that is missing has none. *wrong: the
     * first column whose value is of another type than the column's, or JSON that is none, and
     * counts as null; COPY_NOTHING_WRONG. Texts are valid until the next call. */
    bool (*begin)(void *source, const struct copy_table *table, struct err *err);
    bool (*next)(void *source, struct cell *cells, unsigned *wrong, bool *has_row, struct err *err);
    /* *id: the first row of the table whose reference leads to no row. */
    bool (*find_dangling)(void *source, const struct copy_reference *reference, int64_t *id,
                          bool *is_found, struct err *err);
    /* Two texts of the column that are equal to such a target: *one and *other, in err's arena. */
    bool (*find_equal)(void *source, const char *table, const char *column, unsigned ignores,
                       struct slice *one, struct slice *other, bool *is_found, struct err *err);
};

/* What a target can hold. */
struct copy_limits {
    struct value_limits values;
    int64_t time_least_us;
    double ratio_most;
    uint8_t ignores[ROWS_RECORDS][VALUE_COLUMNS_MOST]; /* enum copy_ignores, by table and column */
    size_t row_bytes_most; /* of texts, which are written with two bytes for each; 0: any */
};

struct copy_target_driver {
    void *(*open)(struct slice connection, struct err *err);
    void (*close)(void *target); /* what is not finished stays unfinished */

    /* ---- any time between open and write, or after start ---- */
    bool (*has_table)(void *target, const char *name, bool *has, struct err *err);
    /* The first column of the only row. */
    bool (*query_int)(void *target, const char *sql, int64_t *value, struct err *err);

    /* Removes what an unfinished copy has left, and its mark: the target is then empty. NULL: an
     * unfinished copy leaves nothing. `go_on` is called with the number of rows removed so far. */
    bool (*clean)(void *target, const struct copy_table *tables, void (*go_on)(void *, int64_t),
                  void *cls, struct err *err);
    /* After the schema has been created. */
    bool (*read_limits)(void *target, struct copy_limits *limits, struct err *err);
    struct value_forms forms;

    /* ---- writing ---- */
    /* Keeps everybody else from the target: by locks, or by a mark with which no instance serves
     * it. */
    bool (*start)(void *target, const struct copy_table *tables, struct err *err);
    /* Right after that: as if nothing had happened. */
    bool (*abandon)(void *target, struct err *err);
    /* Deletes the names of standard classes and traits: in the source they have other ids. */
    bool (*delete_names)(void *target, struct err *err);
    /* Appends a row, whose values have the target's forms. It is written at some time until
     * flush. */
    bool (*write)(void *target, const struct copy_table *table, const struct cell *cells,
                  struct err *err);
    bool (*flush)(void *target, struct err *err);
    /* Sets both references of a provider that has been written; 0: NULL. Written as above. */
    bool (*write_parents)(void *target, int64_t id, int64_t root_id, int64_t parent_id,
                          struct err *err);

    /* ---- reading ---- */
    /* After all flushes; as those of the source. */
    bool (*read_begin)(void *target, const struct copy_table *table, struct err *err);
    bool (*read_next)(void *target, struct cell *cells, bool *has_row, struct err *err);

    /* Makes the copy a database that can be served, with counters of ids behind those in use. */
    bool (*finish)(void *target, const struct copy_table *tables, struct err *err);
    /* For messages: what a copy that has failed after start leaves. */
    const char *left_behind;
};

#endif
