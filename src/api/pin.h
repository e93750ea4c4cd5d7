/* Pins the version that a handler reads. */
#ifndef BERTH_API_PIN_H
#define BERTH_API_PIN_H

#include "api/request.h"

struct replica_reader;

/* Pins a version that contains everything that was committed before the request arrived, or up to
 * the staleness of bounded reads earlier; or returns NULL: the request must wait first
 * (write_passage_follow()). */
const struct version *pin_current(struct api_request *request, struct replica_reader *reader);

/* After the handler: releases the version, or keeps it for an answer in pieces. */
void pin_release(struct api_request *request, struct replica_reader *reader, enum api_step step);

/* Call it at the end of the request. */
void pin_close(struct api_request *request);

#endif
