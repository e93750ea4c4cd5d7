/* The part of the slow lane in a request's way (charge.h: what handlers see of it). */
#ifndef BERTH_API_SLOW_PASSAGE_H
#define BERTH_API_SLOW_PASSAGE_H

#include "api/request.h"

/* Runs the handler there: PHASE_SLOW, with slow_step when it comes back. */
enum http_step slow_passage_begin(struct api_request *request);

/* Runs the end of the write there: PHASE_FINISHING. */
enum http_step slow_passage_finish(struct api_request *request);

/* Writes the next piece of the answer there, and resumes the exchange: workers that did would have
 * no time for others when many clients read long lists. */
enum http_piece slow_passage_write_piece(struct api_request *request);

#endif
