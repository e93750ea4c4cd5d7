/* The headers of an answer. */
#ifndef BERTH_API_ANSWER_H
#define BERTH_API_ANSWER_H

#include "api/request.h"

/* Adds all headers to the exchange and hands over status and body. */
void answer_headers(struct api_request *request);

#endif
