/* Counts every request to an API, for metrics.
 *
 * Each thread counts in a block of its own, and readers add up the blocks: a request writes no
 * memory that another thread writes. Clients cannot create new series: routes are those of the
 * table, everything else is one route, and all unknown methods, statuses and versions are one
 * each. */
#ifndef BERTH_API_SERVICES_METER_H
#define BERTH_API_SERVICES_METER_H

#include "api/definition.h"
#include "api/request.h"
#include "base/histogram.h"
#include "query/ac_none.h"

enum {
    METER_SERIES_MAX = 80, /* of an API: routes with methods, and requests without a route */
    METER_STATUSES = 15,   /* the last one: any other */
    METER_MINORS = 100     /* the last one: none negotiated */
};

static const struct histogram_shape METER_TOOK_SHAPE_US = {
    .count = 17,
    .bounds = {50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000,
               1000000, 2500000, 5000000, 10000000}};
static const struct histogram_shape METER_CANDIDATES_SHAPE = {
    .count = 14, .bounds = {0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}};

struct meter_series {
    uint64_t statuses[METER_STATUSES];
    uint64_t bytes; /* of bodies */
    struct histogram_total took_us;
};

struct meter_api {
    struct meter_series series[METER_SERIES_MAX];
    uint64_t minors[METER_MINORS];
};

struct meter_totals {
    struct meter_api apis[API_COUNT];
    struct histogram_total candidates;
    uint64_t none[AC_NONE_COUNT];
    uint64_t arena_bytes; /* the largest amount that one request took */
};

/* Counts an answer that is ready to be sent. On its worker. */
void meter_count_answer(const struct api_request *request, uint64_t now_us);

/* Counts a search that has ended: the number of candidates, or why there are none. The thread that
 * searched. */
void meter_count_candidates(uint64_t count, enum ac_none none);

/* Adds up what all threads have counted so far for these APIs, by their ids. Any thread. */
void meter_read(const struct api_endpoint endpoints[API_COUNT], struct meter_totals *totals);

/* The method and route of an API's series; false: there is no series with that number. If two rows
 * of the table differ only in their microversions, the first has the counts of both. */
bool meter_series_name(const struct api_definition *definition, unsigned series,
                       const char **method, const char **route);

/* The status counted in statuses[at]; 0: any other. */
unsigned meter_status(unsigned at);

#endif
