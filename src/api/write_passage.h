/* The part of the writer in a request's way. */
#ifndef BERTH_API_WRITE_PASSAGE_H
#define BERTH_API_WRITE_PASSAGE_H

#include "api/request.h"

/* Submits request->write: PHASE_WRITING. What is known to write too many rows does not come before
 * the writer, but is answered. */
enum http_step write_passage_begin(struct api_request *request);

/* Waits until memory is as new as the database: PHASE_FOLLOWING. */
enum http_step write_passage_follow(struct api_request *request);

/* Whether what the handler made the write of is no more so: then it is run again, a few times, on
 * the newest state (Valet spec, 9.4). */
bool write_passage_is_to_be_made_anew(struct api_request *request);

#endif
