/* The provision and power states of bare metal nodes: their names, and what each allows (bare metal
 * spec 6, 8.3 to 8.5). */
#ifndef BERTH_MODEL_NODE_STATES_H
#define BERTH_MODEL_NODE_STATES_H

#include <stdbool.h>

#include "base/slice.h"

/* States that end in WAIT exist only as names: no node enters them. */
enum node_state {
    NODE_NO_STATE, /* null, when used as a target */
    NODE_ENROLL,
    NODE_VERIFYING,
    NODE_MANAGEABLE,
    NODE_AVAILABLE,
    NODE_ACTIVE,
    NODE_DEPLOYING,
    NODE_DEPLOY_WAIT,
    NODE_DEPLOY_FAILED,
    NODE_CLEANING,
    NODE_CLEAN_WAIT,
    NODE_CLEAN_FAILED,
    NODE_DELETING,
    NODE_ERROR,
    NODE_INSPECTING,
    NODE_INSPECT_WAIT,
    NODE_INSPECT_FAILED,
    NODE_ADOPTING,
    NODE_ADOPT_FAILED,
    NODE_RESCUE,
    NODE_RESCUING,
    NODE_RESCUE_WAIT,
    NODE_RESCUE_FAILED,
    NODE_UNRESCUING,
    NODE_UNRESCUE_FAILED,
    NODE_STATE_COUNT,
};

/* The state's name, as in the API; data == NULL for NODE_NO_STATE. */
struct slice node_state_text(enum node_state state);

/* The state of that name; NODE_NO_STATE if there is none. */
enum node_state node_state_find(struct slice name);

/* Whether a node in that state can be changed although it has a target (6.1, 8.3). */
bool node_state_is_updatable(enum node_state state);

/* Whether a node that is not in maintenance may be deleted (8.3). */
bool node_state_lets_delete(enum node_state state);

/* Whether, on a node that is not in maintenance, the resource_class may be changed or the
 * instance_uuid that an allocation set may be removed (6.2, 8.3; for the class, maintenance makes
 * no difference). */
bool node_state_lets_reassign(enum node_state state);

/* Whether `protected` may be set to true. */
bool node_state_lets_protect(enum node_state state);

/* Whether `retired` may be set to true. */
bool node_state_lets_retire(enum node_state state);

/* Whether the power state may be changed (8.5). */
bool node_state_lets_power(enum node_state state);

enum node_power {
    NODE_POWER_NONE, /* null: never determined; also used as a target */
    NODE_POWER_ON,
    NODE_POWER_OFF,
    NODE_POWER_ERROR,
};

/* Like node_state_text and node_state_find. */
struct slice node_power_text(enum node_power power);
enum node_power node_power_find(struct slice name);

/* A target of PUT …/states/power. */
struct node_power_verb {
    const char *name;
    unsigned since;       /* minor version */
    enum node_power ends; /* also the target_power_state until then */
};

/* The verb of that name, or NULL. */
const struct node_power_verb *node_power_verb_find(struct slice name);

#endif
