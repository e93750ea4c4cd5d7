/* The tables of upstream in the form of 8.0.0, with all of its indexes, as one text. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_UPSTREAM_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_UPSTREAM_H

#include "base/buf.h"

/* Appends the statements, with a NUL byte after them. */
void append_upstream(struct buf *sql);

#endif
