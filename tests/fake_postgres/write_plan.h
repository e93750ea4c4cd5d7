/* What a statement that writes rows says. */
#ifndef BERTH_FAKE_POSTGRES_WRITE_PLAN_H
#define BERTH_FAKE_POSTGRES_WRITE_PLAN_H

#include "store/rows.h"

enum { PLAN_COLUMNS = 16 };

enum action { ACTION_INSERT, ACTION_UPDATE, ACTION_DELETE, ACTION_DELETE_ANY };

/* A column and the parameter that belongs to it. */
struct pair {
    const struct rows_column *column;
    unsigned parameter; /* from 1 on */
};

struct write_plan {
    char *sql;
    enum action action;
    enum rows_table table;
    unsigned set_count, where_count;
    struct pair set[PLAN_COLUMNS];
    struct pair where[PLAN_COLUMNS];
};

/* Analysed once in a program. NULL: it is no write of rows. */
const struct write_plan *write_plan_of(const char *sql);

void write_plans_forget(void);

#endif
