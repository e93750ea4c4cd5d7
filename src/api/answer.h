/* Sends the answer to a request. */
#ifndef BERTH_API_ANSWER_H
#define BERTH_API_ANSWER_H

#include "api/request.h"

/* Whether there is room for the answer among the large ones (see http_body_fits()). Called by the
 * thread that writes the answer, also while it grows. */
bool answer_fits(struct api_request *request);

/* Sets err for an answer for which there is no room. */
void answer_refuse_large(struct api_request *request);

/* The same if other requests leave no memory for this one or for what is built from it. */
bool answer_refuse_memory(struct api_request *request); /* always returns false */

/* Adds all headers to the exchange and passes it status and body. */
void answer_headers(struct api_request *request);

/* Ends a request: sends the answer that its handler has written, or its err as an answer. */
enum http_step answer_give(struct api_request *request);

/* The same for an answer that is already written, status and headers included. */
enum http_step answer_count(struct api_request *request);

#endif
