/* The Bare Metal API's own settings, and what it keeps for each request. */
#ifndef BERTH_BAREMETAL_API_METAL_REQUEST_H
#define BERTH_BAREMETAL_API_METAL_REQUEST_H

#include "api/definition.h"
#include "api/request.h"
#include "conf/baremetal.h"

struct conductor;

struct metal_settings {
    const struct conf_baremetal *conf;
    struct conductor *conductor;
};

struct metal_request {
    struct slice base;        /* the base of links, once one was written */
    struct slice with_suffix; /* the path's last segment before ".json" was removed */
};

static inline const struct conf_baremetal *metal_conf(const struct api_request *request)
{
    return ((const struct metal_settings *)request->endpoint->settings)->conf;
}

static inline struct conductor *metal_conductor(const struct api_request *request)
{
    return ((const struct metal_settings *)request->endpoint->settings)->conductor;
}

static inline struct metal_request *metal_own(const struct api_request *request)
{
    return request->own;
}

#endif
