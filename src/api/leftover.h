/* What is left of a request when it is over. */
#ifndef BERTH_API_LEFTOVER_H
#define BERTH_API_LEFTOVER_H

struct api_request;

/* Frees the parsed body, at once or later. On the request's worker. */
void leftover_drop(struct api_request *request);

#endif
