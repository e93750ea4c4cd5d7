/* The entries of candidates that have many: what several levels take of one provider and class is
 * one entry, and a provider's entries stand together. */
#ifndef BERTH_QUERY_AC_MERGE_H
#define BERTH_QUERY_AC_MERGE_H

#include "query/ac_query.h"
#include "query/ac_search.h"

struct ac_merge;

/* For candidates of the query, whose levels have so many demands; all memory is the query's
 * arena's.
 */
struct ac_merge *ac_merge_create(struct ac_query *query, uint32_t demand_count);

/* Writes the entries of the levels' choices: providers in the order in which they are chosen first,
 * a provider's classes in the order in which they are. Returns how many there are. Linear in the
 * demands. */
uint32_t ac_merge(struct ac_merge *merge, const struct ac_query *query, const uint32_t *chosen,
                  struct ac_entry *entries);

#endif
