/* Small random clouds for tests of query/. */
#ifndef BERTH_TESTS_UNIT_QUERY_CLOUD_H
#define BERTH_TESTS_UNIT_QUERY_CLOUD_H

#include "base/arena.h"
#include "replica/replica.h"

enum { CLOUD_CLASSES = 3, CLOUD_TRAITS = 4, CLOUD_AGGREGATES = 3 };

/* Classes "C1".., traits "T1".. and MISC_SHARES_VIA_AGGREGATE, aggregates "A1"...; provider n has
 * the uuid "Pn". */
struct cloud {
    struct arena *arena;
    struct replica *replica;
    const struct version *version;
    unsigned providers;
};

/* A cloud of that many providers: nested_in_10 of ten have a parent, sharing_in_10 of ten share. */
struct cloud cloud_create(unsigned providers, unsigned nested_in_10, unsigned sharing_in_10);
void cloud_destroy(struct cloud *cloud);

struct slice cloud_text(struct arena *arena, const char *prefix, unsigned n);
unsigned cloud_below(unsigned n);

#endif
