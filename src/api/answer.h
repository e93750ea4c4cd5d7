/* The headers of an answer, and the parts of a request that answers repeat. */
#ifndef BERTH_API_ANSWER_H
#define BERTH_API_ANSWER_H

#include "api/request.h"

/* Adds all headers to the exchange and hands over status and body. */
void answer_headers(struct api_request *request);

/* The request's media type without parameters, "None" if there is none. */
struct slice answer_content_type(const struct api_request *request);

/* What the client takes: the Accept header, JSON if it is absent, empty or all. */
struct slice answer_accept(const struct api_request *request);

#endif
