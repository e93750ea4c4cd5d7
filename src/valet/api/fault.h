/* Errors of the Valet API (Valet spec, section 3). */
#ifndef BERTH_VALET_API_FAULT_H
#define BERTH_VALET_API_FAULT_H

struct api_request;

/* Writes request->err as the answer: JSON, but a few words of text for 401. A 503 is kept where
 * FAULT_OUTSIDE says that it is Keystone that is away; any other is a 500. */
void valet_write_fault(struct api_request *request);

#endif
