/* Coexistence with programs that write to the database but write no log, such as the Python
 * service: triggers on upstream's tables note what they change, so that a strict read reflects it
 * at once. Only for databases that do not notice every write of other programs by themselves.
 *
 * Each function opens the database of that SQLAlchemy URL and closes it again. On failure, err has
 * one clear line, and nothing is changed. */
#ifndef BERTH_STORE_COEXIST_H
#define BERTH_STORE_COEXIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* Creates the triggers, or those that are missing. From then on, each read that begins on any
 * instance reflects what was committed before. */
bool coexist_enable(struct slice connection, struct err *err) BERTH_MUST_CHECK;

/* Removes the triggers and their functions, and the notes that no instance has read yet: all
 * instances compare all rows once. */
bool coexist_disable(struct slice connection, struct err *err) BERTH_MUST_CHECK;

struct coexist_status {
    int64_t triggers; /* that there are */
    int64_t all;      /* that there should be */
    int64_t waiting;  /* notes that are in no row of the log yet */
};
bool coexist_read_status(struct slice connection, struct coexist_status *status,
                         struct err *err) BERTH_MUST_CHECK;

#endif
