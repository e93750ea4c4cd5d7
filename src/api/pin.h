/* The version that a handler sees. */
#ifndef BERTH_API_PIN_H
#define BERTH_API_PIN_H

#include "api/request.h"

struct replica_reader;

/* Pins one that is as new as the database, or returns NULL: the writer must look first. */
const struct version *pin_current(struct api_request *request, struct replica_reader *reader);

/* Behind the handler: lets the version go, or keeps it for an answer in pieces. */
void pin_release(struct api_request *request, struct replica_reader *reader, enum api_step step);

/* At the request's end. */
void pin_close(struct api_request *request);

#endif
