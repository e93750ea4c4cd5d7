/* Bodies of PUT …/states/provision, …/states/power and …/maintenance: their members are arguments
 * by name (bare metal spec 1.5, 8.3 to 8.5). */
#ifndef BERTH_BAREMETAL_API_NODES_ACTION_BODIES_H
#define BERTH_BAREMETAL_API_NODES_ACTION_BODIES_H

#include <jansson.h>

#include "base/err.h"
#include "model/node_machine.h"

/* What was not sent, or null, is NULL, or data == NULL. Texts and values live as long as the body.
 */
struct provision_body {
    struct slice target;
    const json_t *configdrive;
    const json_t *clean_steps;
    const json_t *deploy_steps;
    struct slice rescue_password;
    bool has_disable_ramdisk;
    bool has_clean_steps; /* in the list: what the machine asks for */
};

/* Unknown members, a missing target, and types: 400. */
bool action_bodies_provision(const json_t *body, struct provision_body *provision,
                             struct err *err) BERTH_MUST_CHECK;

/* Whether the members fit the verb and version, after it is clear that the verb fits the node's
 * state: 400, or 406 for what came later. */
bool action_bodies_check_provision(const struct provision_body *provision, enum node_verb verb,
                                   unsigned minor, struct err *err) BERTH_MUST_CHECK;

/* The last_error of a clean with steps, which this driver has none of. */
struct slice action_bodies_clean_error(struct arena *arena, struct slice node_uuid,
                                       const json_t *clean_steps);

struct power_body {
    struct slice target;
    bool has_timeout;
    int64_t timeout_s;
};

bool action_bodies_power(const json_t *body, struct power_body *power,
                         struct err *err) BERTH_MUST_CHECK;

/* Whether the version knows the target and the timeout: 406; a timeout of 0 or less: 400. A target
 * that is none is for the caller to see, who knows the node. */
bool action_bodies_check_power(const struct power_body *power, unsigned minor,
                               struct err *err) BERTH_MUST_CHECK;

/* *reason: data == NULL if there is none. */
bool action_bodies_maintenance(const json_t *body, struct slice *reason,
                               struct err *err) BERTH_MUST_CHECK;

#endif
