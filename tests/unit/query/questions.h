/* Random questions to a random cloud. */
#ifndef BERTH_TESTS_UNIT_QUERY_QUESTIONS_H
#define BERTH_TESTS_UNIT_QUERY_QUESTIONS_H

#include "cloud.h"
#include "query/ac_request.h"

/* Up to four groups with everything that can be asked. */
struct ac_request questions_any(struct cloud *cloud);

/* Up to `most` groups that want much the same, so that they stand in each other's way: often there
 * are just not enough providers. */
struct ac_request questions_crowd(struct cloud *cloud, unsigned most);

#endif
