/* Frees what remains of a request when it is over. */
#ifndef BERTH_API_LEFTOVER_H
#define BERTH_API_LEFTOVER_H

struct api_request;

/* Frees the parsed body and, if it is large, the request's memory, at once or later: the request
 * must not be used afterwards. On its worker. */
void leftover_drop(struct api_request *request);

#endif
