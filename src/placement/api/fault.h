/* Error answers (placement spec, Errors). */
#ifndef BERTH_PLACEMENT_API_FAULT_H
#define BERTH_PLACEMENT_API_FAULT_H

struct api_request;

/* Writes request->err as the answer, in the form that the client's Accept header requests: JSON,
 * HTML or plain text. Sets status, content type and body. */
void placement_write_fault(struct api_request *request);

#endif
