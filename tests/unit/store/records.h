/* Compares what a load or a follow has sent. */
#ifndef BERTH_TESTS_STORE_RECORDS_H
#define BERTH_TESTS_STORE_RECORDS_H

#include "base/buf.h"

/* Asserts that the records are these, in any order; frees them. That each record refers only to
 * what came before it is for test_follow.c, which takes records in as they come. */
void expect_records(struct buf *records, const char *text);

#endif
