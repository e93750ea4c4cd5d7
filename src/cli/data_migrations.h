/* placement-manage db online_data_migrations. */
#ifndef BERTH_CLI_DATA_MIGRATIONS_H
#define BERTH_CLI_DATA_MIGRATIONS_H

#include <stdio.h>

#include "conf/settings.h"

/* Runs the migrations in batches and prints what the Python tool prints. `max_count`: the text
 * after --max-count, or NULL for no limit. The exit code (documentation, Command-line Utilities): 0
 * no rows are left, 1 rows were completed and more may be left (max_count only), 2 nothing could be
 * done because of errors, 127 max_count is not a positive number. */
int data_migrations_run(const struct conf *conf, const char *max_count, FILE *out);

#endif
