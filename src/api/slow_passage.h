/* The slow lane's part in processing a request (charge.h is the part that handlers see). */
#ifndef BERTH_API_SLOW_PASSAGE_H
#define BERTH_API_SLOW_PASSAGE_H

#include "api/request.h"

/* Runs the handler on the slow lane: PHASE_SLOW; slow_step has its result. */
enum http_step slow_passage_begin(struct api_request *request);

/* Runs the finish function of the write on the slow lane: PHASE_FINISHING. */
enum http_step slow_passage_finish(struct api_request *request);

/* Writes the next piece of the answer on the slow lane and resumes the exchange. If workers wrote
 * these pieces, they would have no time for other requests while many clients read long lists. */
enum http_piece slow_passage_write_piece(struct api_request *request);

#endif
