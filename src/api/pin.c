/* The versions that handlers read: pinned only while a handler runs, unless an answer is sent in
 * pieces. On the reader's thread. */
#include "api/pin.h"

#include <sched.h>

#include "api/api.h"
#include "api/passage.h"
#include "api/services/thread_reader.h"
#include "engine/pipeline.h"

enum { FRESH_SPINS = 64 };

/* berth's own writer publishes its commits within microseconds, so it is worth trying a few
 * times. */
const struct version *pin_current(struct api_request *request, struct replica_reader *reader)
{
    for (unsigned i = 0; i < FRESH_SPINS; i++) {
        const struct version *version = replica_pin(reader);
        if (pipeline_is_current(request->api->pipeline, version))
            return version;
        replica_unpin(reader);
        if (i % 8 == 7)
            sched_yield();
    }
    return NULL;
}

void pin_release(struct api_request *request, struct replica_reader *reader, enum api_step step)
{
    if (request->stream.more != NULL && step == API_DONE && !err_is_set(&request->err)) {
        request->passage->reader = thread_reader_take(request->api->replica);
        check(request->passage->reader == reader);
        return;
    }
    replica_unpin(reader);
    request->version = NULL;
}

void pin_close(struct api_request *request)
{
    if (request->passage->reader == NULL)
        return;
    replica_unpin(request->passage->reader);
    replica_reader_close(request->passage->reader);
}
