/* Error answers (baremetal-allocations spec, 1.4). */
#ifndef BERTH_BAREMETAL_API_FAULT_H
#define BERTH_BAREMETAL_API_FAULT_H

struct api_request;

/* Writes request->err as the answer: one member error_message, a text that holds JSON, in the form
 * of handlers or (FAULT_OUTSIDE) of routing and negotiation. Sets status, content type and body. */
void baremetal_write_fault(struct api_request *request);

#endif
