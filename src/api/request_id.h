/* Request ids: "req-" and a random UUID. */
#ifndef BERTH_API_REQUEST_ID_H
#define BERTH_API_REQUEST_ID_H

#include <stdbool.h>

#include "base/slice.h"

enum { REQUEST_ID_LEN = 40, UUID_LEN = 36 };

/* Writes a new random UUID (version 4) as 36 characters. Any thread. Random bytes are fetched in
 * bulk, because generating a UUID with a library costs half as much as a whole small request. */
void uuid_generate_text(char out[UUID_LEN]);

/* Writes a new request id and a NUL byte. */
void request_id_generate(char out[REQUEST_ID_LEN + 1]);

/* Whether a client's X-Openstack-Request-Id has the form req-UUID; others are ignored. */
bool request_id_is_valid(struct slice text);

#endif
