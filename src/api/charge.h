/* What handlers take their work from. */
#ifndef BERTH_API_CHARGE_H
#define BERTH_API_CHARGE_H

#include "api/request.h"
#include "query/budget.h"

/* The budget of a query: about a millisecond on a worker; on the slow lane turns with others, and
 * an end when the client has gone or the time is over ([berth] query_deadline). What a handler
 * takes from it bounds how long a worker, or others on the lane, are held up: everything that grows
 * with the database or with what a client sent is charged where it is done. */
struct budget api_budget(struct api_request *request);

/* What a handler returns when its query's budget is exhausted: on to the slow lane, or, there, the
 * reason why it ended as err. */
enum api_step api_over_budget(struct api_request *request);

/* The same for a handler that has begun to write its answer, which is thrown away. */
enum api_step api_start_over(struct api_request *request);

/* So much text of an answer is a step: what it costs to find, write and copy it, about. */
enum { API_BYTES_A_STEP = 8 };

/* Charges the text that was appended since *counted, which is set. False: the budget is exhausted.
 */
static inline bool api_charge_text(struct api_request *request, struct budget *budget,
                                   size_t *counted)
{
    size_t len = api_out(request)->len;
    size_t bytes = len - *counted;
    *counted = len;
    return budget_take(budget, 1 + (int64_t)(bytes / API_BYTES_A_STEP));
}

#endif
