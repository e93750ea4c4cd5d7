/* The writer's part in processing a request. */
#ifndef BERTH_API_WRITE_PASSAGE_H
#define BERTH_API_WRITE_PASSAGE_H

#include "api/request.h"

/* Submits request->write: PHASE_WRITING. A write that is already known to have too many rows is
 * refused without being submitted. */
enum http_step write_passage_begin(struct api_request *request);

/* Waits until memory is as new as the database: PHASE_FOLLOWING. */
enum http_step write_passage_follow(struct api_request *request);

/* Optimistic conflict: whether the state on which the handler planned this write has changed. If
 * so, the handler runs again on the newest state, up to a few times (Valet spec, 9.4). */
bool write_passage_must_repeat(struct api_request *request);

#endif
