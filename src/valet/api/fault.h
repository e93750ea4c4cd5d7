/* Errors of the Valet API (Valet spec, section 3). */
#ifndef BERTH_VALET_API_FAULT_H
#define BERTH_VALET_API_FAULT_H

struct api_request;

/* Writes request->err as the answer: JSON, except for the short plain text of a 401. A 503 from the
 * writer, whose database cannot be used, becomes a 500. */
void valet_write_fault(struct api_request *request);

#endif
