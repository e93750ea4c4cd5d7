/* A request's write. Handlers fill in request->write and return API_WRITE; their planners receive
 * it on the writer's thread. Only sources that plan writes need this header. */
#ifndef BERTH_API_WRITE_H
#define BERTH_API_WRITE_H

#include <stddef.h>

#include "api/request.h"
#include "engine/pipeline.h"

/* The container of request->write. */
struct api_write {
    struct pipeline_request write;
    struct api_request *request; /* the request that it belongs to */
};

/* The request that a write belongs to, for planners. */
static inline struct api_request *api_request_of(struct pipeline_request *write)
{
    return ((struct api_write *)((char *)write - offsetof(struct api_write, write)))->request;
}

#endif
