/* One row of an API's table of routes. */
#ifndef BERTH_API_ROUTE_H
#define BERTH_API_ROUTE_H

#include <stdbool.h>

struct api_request;

enum api_step {
    API_DONE,  /* the answer is written, or err is set */
    API_WRITE, /* request->write is complete and must be submitted; route->finish writes the
                * answer */
    API_AGAIN, /* an operation that the handler began resumes the exchange; then run the handler
                * again */
    API_SLOW, /* too much work for a worker: run the handler again on the slow lane, where a version
                 is pinned */
};

struct api_route {
    const char *method;
    const char *path; /* "/resource_providers/{uuid}/traits" */
    unsigned min_minor;
    unsigned max_minor;
    unsigned flags;  /* defined by the API */
    unsigned policy; /* a policy rule of the API's own service; 0: the handler checks, or nothing is
                      * checked */
    /* Reads request->version (pinned, as new as the database) and writes the answer; or validates
     * the body and fills in request->write. */
    enum api_step (*handle)(struct api_request *request);
    /* Called after a write has been decided: writes the answer (err may be set; version is not
     * pinned). */
    void (*finish)(struct api_request *request);
    bool reads;         /* a version is pinned before handle runs */
    bool plans_briefly; /* what its writes read is bounded by the rows that they write: see
                         * pipeline_request.h */
};

#endif
