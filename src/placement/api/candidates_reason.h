/* Logs the result of a search for allocation candidates: how many providers each condition left,
 * and why there is no candidate. */
#ifndef BERTH_PLACEMENT_API_CANDIDATES_REASON_H
#define BERTH_PLACEMENT_API_CANDIDATES_REASON_H

#include "api/request.h"
#include "query/ac_none.h"
#include "query/ac_request.h"

/* Whether and when the search must count the providers, which depends on what the log shows. Any
 * thread. */
enum ac_counts candidates_counts_wanted(const struct api_request *request);

/* Logs a line at DEBUG for each condition that was counted, and makes the reason for an empty
 * answer the request's remark. Texts whose size the client chooses are truncated: lists after a few
 * names, conditions after a few dozen. Worker threads and the slow lane. */
void candidates_log_reason(struct api_request *request, const struct ac_reason *reason);

#endif
