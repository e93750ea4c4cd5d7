/* Bodies of PUT …/states/provision, …/states/power and …/maintenance: their members are named
 * arguments (bare metal spec 1.5, 8.3 to 8.5). */
#ifndef BERTH_BAREMETAL_API_NODES_ACTION_BODIES_H
#define BERTH_BAREMETAL_API_NODES_ACTION_BODIES_H

#include <jansson.h>

#include "base/err.h"
#include "model/node_machine.h"

/* Members that are missing or null are NULL, or data == NULL. Texts and values live as long as the
 * body. */
struct provision_body {
    struct slice target;
    const json_t *configdrive;
    const json_t *clean_steps;
    const json_t *deploy_steps;
    struct slice rescue_password;
    bool has_disable_ramdisk;
    bool has_clean_steps; /* the list is not empty; affects the state machine */
};

/* Unknown members, a missing target, and wrong types: 400. */
bool action_bodies_provision(const json_t *body, struct provision_body *provision,
                             struct err *err) BERTH_MUST_CHECK;

/* Whether the members fit the verb and version; called after the verb was found to fit the node's
 * state. 400, or 406 for members of later versions. */
bool action_bodies_check_provision(const struct provision_body *provision, enum node_verb verb,
                                   unsigned minor, struct err *err) BERTH_MUST_CHECK;

/* The last_error of a clean with steps: this driver has no clean steps. */
struct slice action_bodies_clean_error(struct arena *arena, struct slice node_uuid,
                                       const json_t *clean_steps);

struct power_body {
    struct slice target;
    bool has_timeout;
    int64_t timeout_s;
};

bool action_bodies_power(const json_t *body, struct power_body *power,
                         struct err *err) BERTH_MUST_CHECK;

/* Whether the version knows the target and the timeout: 406; a timeout of 0 or less: 400. Unknown
 * targets are left to the caller, which knows the node. */
bool action_bodies_check_power(const struct power_body *power, unsigned minor,
                               struct err *err) BERTH_MUST_CHECK;

/* *reason: data == NULL if there is none. */
bool action_bodies_maintenance(const json_t *body, struct slice *reason,
                               struct err *err) BERTH_MUST_CHECK;

#endif
