/* GET /allocation_candidates: parses the query, searches and writes the answer. Candidates are
 * written to the body as they are found; the summaries of their trees follow. A query without a
 * limit can have more candidates than fit in memory: it is refused when the body reaches the
 * maximum size of a body. */
#include "api/charge.h"
#include "api/request.h"
#include "api/services/meter.h"
#include "placement/api/candidates_json.h"
#include "placement/api/candidates_parameters.h"
#include "placement/api/candidates_reason.h"
#include "placement/api/handlers.h"

enum { LONG_QUERY_BYTES = 16 << 10 }; /* longer queries are not parsed on a worker */

static enum api_step over_budget(struct api_request *request, struct candidates_writer *writer)
{
    if (api_is_on_slow_lane(request)) {
        buf_free(writer->out);
        meter_count_candidates(0, AC_NONE_ABANDONED);
    }
    if (writer->is_too_large && api_is_on_slow_lane(request))
        err_set(&request->err, 400, NULL,
                "There are more allocation candidates than one answer can hold. Ask for fewer "
                "with limit.");
    return api_start_over(request);
}

enum api_step handle_placement_candidates_list(struct api_request *request)
{
    struct ac_request requested;
    if (!api_is_on_slow_lane(request) && request->query.len > LONG_QUERY_BYTES)
        return api_over_budget(request);
    if (!candidates_parameters_read(request, &requested))
        return API_DONE;
    struct budget budget = api_budget(request);
    struct candidates_writer writer = {
        .version = request->version,
        .requested = &requested,
        .arena = request->arena,
        .out = api_out(request),
        .minor = request->minor,
        .budget = &budget,
    };
    struct ac_summaries summaries;
    struct ac_reason reason;
    writer.out->len = 0;
    buf_append_lit(writer.out, "{\"allocation_requests\": [");
    switch (ac_search(request->version, &requested, request->arena, &budget, candidates_write_one,
                      &writer, &summaries, &reason, &request->err)) {
    case AC_REFUSED:
        meter_count_candidates(0, reason.none);
        return API_DONE;
    case AC_TOO_LARGE:
        writer.is_too_large = true;
        return over_budget(request, &writer);
    case AC_EXPENSIVE:
        return over_budget(request, &writer);
    case AC_DONE:
        break;
    }
    uint64_t count = writer.count;
    buf_append_lit(writer.out, "], \"provider_summaries\": {");
    if (!candidates_write_summaries(&writer, &summaries))
        return over_budget(request, &writer);
    meter_count_candidates(count, reason.none);
    candidates_log_reason(request, &reason);
    buf_append_lit(writer.out, "}}");
    api_answer_json(request, 0);
    return API_DONE;
}
