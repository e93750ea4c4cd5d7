/* The configuration of the Valet API. */
#ifndef BERTH_VALET_API_VALET_SETTINGS_H
#define BERTH_VALET_API_VALET_SETTINGS_H

#include "api/definition.h"
#include "api/request.h"
#include "conf/valet.h"

struct flavors_keeper;

struct valet_settings {
    const struct conf_valet *conf;
    struct flavors_keeper *flavors; /* for plans of stacks */
};

static inline const struct conf_valet *valet_conf(const struct api_request *request)
{
    return ((const struct valet_settings *)request->endpoint->settings)->conf;
}

static inline struct flavors_keeper *valet_flavors(const struct api_request *request)
{
    return ((const struct valet_settings *)request->endpoint->settings)->flavors;
}

#endif
