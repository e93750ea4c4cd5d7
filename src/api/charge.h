/* The budget to which handlers charge their work. */
#ifndef BERTH_API_CHARGE_H
#define BERTH_API_CHARGE_H

#include "api/request.h"
#include "query/budget.h"

/* The budget of a query: about a millisecond on a worker; on the slow lane, turns shared with other
 * requests until the client disconnects or the time is over ([berth] query_deadline). Charging
 * limits how long a handler occupies a worker or delays others on the lane: all work that grows
 * with the database or with what a client sent is charged where it is done. */
struct budget api_budget(struct api_request *request);

/* The return value of a handler whose budget is exhausted: moves the request to the slow lane or,
 * on the slow lane, sets err to the reason why it ended. */
enum api_step api_over_budget(struct api_request *request);

/* The same for a handler that has begun to write its answer, which is discarded. */
enum api_step api_start_over(struct api_request *request);

/* This many bytes of an answer are one step: approximately what it costs to find, write and copy
 * them. */
enum { API_BYTES_A_STEP = 8 };

/* Charges the text that was appended since *counted, and updates *counted. False: the budget is
 * exhausted. */
static inline bool api_charge_text(struct api_request *request, struct budget *budget,
                                   size_t *counted)
{
    size_t len = api_out(request)->len;
    size_t bytes = len - *counted;
    *counted = len;
    return budget_take(budget, 1 + (int64_t)(bytes / API_BYTES_A_STEP));
}

#endif
