/* A provider as the API shows it. */
#ifndef BERTH_PLACEMENT_API_PROVIDER_JSON_H
#define BERTH_PLACEMENT_API_PROVIDER_JSON_H

#include "base/buf.h"
#include "placement/write/plan_providers.h"
#include "replica/version.h"

/* Writes the object; mount is prefixed to the paths of links. */
void provider_write_json(struct buf *out, const struct provider *provider,
                         const struct version *version, unsigned minor, struct slice mount);

/* The same for a provider in its state after a write. */
void provider_write_planned_json(struct buf *out, const struct planned_provider *provider,
                                 unsigned minor, struct slice mount);

/* Appends a part of a string: escaped, without quotes. */
void json_append_part(struct buf *out, struct slice part);

#endif
