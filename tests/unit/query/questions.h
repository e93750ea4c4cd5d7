/* Random requests to a random cloud. */
#ifndef BERTH_TESTS_UNIT_QUERY_QUESTIONS_H
#define BERTH_TESTS_UNIT_QUERY_QUESTIONS_H

#include "cloud.h"
#include "query/ac_request.h"

/* Up to four groups with every kind of condition. */
struct ac_request questions_any(struct cloud *cloud);

/* Up to `most` similar groups, so that they compete: often the providers are only just too few. */
struct ac_request questions_crowd(struct cloud *cloud, unsigned most);

#endif
