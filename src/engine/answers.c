/* Answers the requests of a batch. The writer only. */
#include "engine/pipeline_internal.h"

static void count_refusal(struct pipeline *pipeline, const struct pipeline_request *request,
                          bool database_failed)
{
    enum pipeline_refusal why =
        database_failed ? REFUSED_BY_DATABASE : (enum pipeline_refusal)request->err.kind;
    if (request->plan != NULL && err_is_set(&request->err))
        counter_add(&pipeline->refused[why], 1);
}

struct err answers_public(const struct err *failure, struct slice text)
{
    struct err shown = *failure;
    if (failure->status == 503)
        shown.message = text;
    return shown;
}

void answers_give(struct pipeline *pipeline, struct pipeline_request *first,
                  const struct pipeline_request *end, const struct err *failure)
{
    while (first != end) {
        struct pipeline_request *request = first;
        first = request->next;
        if (failure != NULL) {
            /* the reason may have been another request of the batch, which has been undone */
            request->err = (struct err){.arena = request->err.arena};
            err_set(&request->err, failure->status, failure->code, "%.*s",
                    SLICE_ARG(failure->message));
        }
        count_refusal(pipeline, request, failure != NULL);
        request->done(request);
    }
}
