/* The entries of candidates that have many: what several levels take from one provider and class is
 * one entry, and the entries of a provider are adjacent. */
#ifndef BERTH_QUERY_AC_MERGE_H
#define BERTH_QUERY_AC_MERGE_H

#include "query/ac_query.h"
#include "query/ac_search.h"

struct ac_merge;

/* For candidates of the query, whose levels have that many demands. The memory comes from the
 * query's arena. */
struct ac_merge *ac_merge_create(struct ac_query *query, uint32_t demand_count);

/* Writes the entries of the levels' choices and returns their number. Providers are in the order in
 * which they are first chosen, and so are a provider's classes. Linear in the number of demands. */
uint32_t ac_merge(struct ac_merge *merge, const struct ac_query *query, const uint32_t *chosen,
                  struct ac_entry *entries);

#endif
