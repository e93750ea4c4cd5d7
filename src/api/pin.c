/* The versions that handlers read: pinned only while a handler runs, unless an answer is sent in
 * pieces. On the reader's thread. */
#include "api/pin.h"

#include <sched.h>

#include "api/api.h"
#include "api/passage.h"
#include "api/services/thread_reader.h"
#include "base/clock.h"
#include "engine/pipeline.h"

enum { FRESH_SPINS = 64 };

/* Whether a version that is pinned from now on is recent enough for reads = bounded. */
static bool is_recent_enough(const struct api *api)
{
    uint64_t staleness_us = api->staleness_us;
    uint64_t known_at_us = staleness_us == 0 ? 0 : pipeline_known_at_us(api->pipeline);
    return known_at_us != 0 && clock_monotonic_us() - known_at_us <= staleness_us;
}

/* berth's own writer publishes its commits within microseconds, so it is worth trying a few times.
 * A request that has waited does not check again, or it could wait for as long as others commit:
 * the newest version contains everything that was committed before the wait (engine/currency.c). */
const struct version *pin_current(struct api_request *request, struct replica_reader *reader)
{
    if (request->passage->has_waited)
        return replica_pin(reader);
    for (unsigned i = 0; i < FRESH_SPINS; i++) {
        const struct version *version = replica_pin(reader);
        enum store_currency currency = pipeline_currency(request->api->pipeline, version);
        if (currency == STORE_IS_CURRENT)
            return version;
        replica_unpin(reader);
        if (currency == STORE_MUST_ASK)
            return is_recent_enough(request->api) ? replica_pin(reader) : NULL;
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
