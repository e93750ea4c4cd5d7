/* In which form a database keeps values that it does not keep as they are.
 *
 * Memory holds exactly what the database holds, so a planned change gets that form before memory
 * has it. Values that the database refuses instead are described by value_limits.h. */
#ifndef BERTH_STORE_VALUE_FORMS_H
#define BERTH_STORE_VALUE_FORMS_H

#include "model/change.h"

/* Constant, one for each kind of database. All zero: everything is kept as it is. */
struct value_forms {
    bool has_whole_seconds; /* times of upstream's tables have no fraction */
    bool has_single_ratios; /* ratios have single precision, and are shown with six digits, as the
                               Python service reads them */
};

/* A time of upstream's tables, and a ratio. */
int64_t value_forms_time(const struct value_forms *forms, int64_t us);
double value_forms_ratio(const struct value_forms *forms, double ratio);

/* Gives the values of a planned change the form in which a load would read them. */
void value_forms_apply(const struct value_forms *forms, struct change *change);

#endif
