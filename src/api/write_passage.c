/* Takes a request to the writer and back. Runs on the workers, except for functions that the writer
 * calls. */
#include "api/write_passage.h"

#include "api/answer.h"
#include "api/api.h"
#include "api/definition.h"
#include "api/passage.h"
#include "api/write.h"

enum { CHANGES_MET_MAX = 3 };

static void resume(struct pipeline_request *write)
{
    http_resume(api_request_of(write)->http);
}

static enum http_step submit(struct api_request *request, enum request_phase phase)
{
    request->passage->phase = phase;
    request->write->done = resume;
    request->write->err = (struct err){.arena = request->arena};
    request->write->author = request->definition->author;
    request->write->plans_briefly = request->route->plans_briefly;
    if (request->definition->submit != NULL && phase == PHASE_WRITING)
        request->definition->submit(request);
    else if (phase == PHASE_FOLLOWING)
        pipeline_await_current(request->api->pipeline, request->write);
    else
        pipeline_submit(request->api->pipeline, request->write);
    return HTTP_PENDING;
}

static uint64_t rows_allowed(const struct api_request *request)
{
    uint64_t configured = request->api->max_write_rows;
    return configured > request->definition->rows_allowed ? configured
                                                          : request->definition->rows_allowed;
}

enum http_step write_passage_begin(struct api_request *request)
{
    if (request->http->arena_share.over != MEMORY_GRANTED) { /* nothing has been written yet */
        answer_refuse_memory(request);
        return answer_give(request);
    }
    request->write->max_rows = rows_allowed(request);
    if (!plan_rows_fit(request->write->least_rows, request->write->max_rows, &request->err))
        return answer_give(request);
    return submit(request, PHASE_WRITING);
}

enum http_step write_passage_follow(struct api_request *request)
{
    return submit(request, PHASE_FOLLOWING);
}

bool write_passage_must_repeat(struct api_request *request)
{
    if (!err_is_set(&request->write->err) || request->write->err.kind != (int)REFUSED_CHANGED)
        return false;
    request->write->plan = NULL;
    request->write->applied = NULL;
    /* it was decided on a state that was the newest after the request arrived, and that has been
     * published */
    request->passage->has_waited = true;
    return request->passage->changes_met++ < CHANGES_MET_MAX;
}
