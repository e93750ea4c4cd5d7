/* Whether a target can hold a row of a source, and in which form it does. */
#ifndef BERTH_STORE_COPY_VALUES_H
#define BERTH_STORE_COPY_VALUES_H

#include "store/copy_driver.h"

/* False: err names the row, the column and the reason. `wrong` as in copy_driver.h. */
bool copy_values_fit(const struct copy_limits *limits, const struct copy_table *table,
                     const struct cell *cells, unsigned wrong, struct err *err) BERTH_MUST_CHECK;

/* Gives the values the form in which the target keeps them. */
void copy_values_form(const struct value_forms *forms, const struct copy_table *table,
                      struct cell *cells);

bool copy_value_equal(const struct copy_column *column, const struct cell *one,
                      const struct cell *other);

/* The first column in which two rows differ; the number of columns if there is none. */
unsigned copy_values_differ(const struct copy_table *table, const struct cell *one,
                            const struct cell *other);

/* The value as a text for a message, cut if it is long; in the arena. */
struct slice copy_value_text(const struct copy_column *column, const struct cell *cell,
                             struct arena *arena);

#endif
