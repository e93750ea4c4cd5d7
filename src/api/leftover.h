/* What is left of a request when it is over. */
#ifndef BERTH_API_LEFTOVER_H
#define BERTH_API_LEFTOVER_H

struct api_request;

/* Frees the parsed body, and the request's memory if it is large, at once or later: the request is
 * gone. On its worker. */
void leftover_drop(struct api_request *request);

#endif
