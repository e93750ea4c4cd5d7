/* The answer to a request. */
#ifndef BERTH_API_ANSWER_H
#define BERTH_API_ANSWER_H

#include "api/request.h"

/* Whether there is room for it among the large ones, see http_body_fits(): by the thread that
 * writes it, while it grows, too. */
bool answer_fits(struct api_request *request);

/* What is said when there is none: sets err. */
void answer_refuse_large(struct api_request *request);

/* The same when others leave no memory for the request, or for what is made of it. */
bool answer_refuse_memory(struct api_request *request); /* false */

/* Adds all headers to the exchange and hands over status and body. */
void answer_headers(struct api_request *request);

/* The end of a request's way: the answer that its handler has written, or its err as one. */
enum http_step answer_give(struct api_request *request);

/* The same for one that is written already, status and headers included. */
enum http_step answer_count(struct api_request *request);

#endif
