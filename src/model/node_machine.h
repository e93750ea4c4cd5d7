/* The effect of a verb on a node's provision state, and what follows when a transient state ends
 * (bare metal spec 8.4, 10). Transient states end only when their time is over, or at a restart. */
#ifndef BERTH_MODEL_NODE_MACHINE_H
#define BERTH_MODEL_NODE_MACHINE_H

#include "model/node_states.h"

enum node_verb {
    NODE_MANAGE,
    NODE_PROVIDE,
    NODE_DEPLOY,
    NODE_REBUILD,
    NODE_UNDEPLOY,
    NODE_ADOPT,
    NODE_INSPECT,
    NODE_CLEAN,
    NODE_DO_RESCUE,
    NODE_UNRESCUE,
    NODE_ABORT,
};

/* A target of PUT …/states/provision. */
struct node_verb_name {
    const char *name;
    enum node_verb verb;
    unsigned since; /* minor version; 406 below it */
};

/* The verb of that name, or NULL. */
const struct node_verb_name *node_verb_find(struct slice name);

/* Further conditions of the answer, besides the state. */
struct node_circumstances {
    bool maintenance;
    bool is_protected;
    bool retired;
    bool has_steps; /* clean_steps is not empty; the driver has no step, so none can be run */
};

/* In the order in which they are checked. */
enum node_answer {
    NODE_REFUSED_MAINTENANCE, /* 400 The provisioning operation can't be performed … */
    NODE_REFUSED_STATE, /* 400 The requested action … while it is in state …, or 409 locked */
    NODE_REFUSED_PROTECTED, /* 403 */
    NODE_REFUSED_RETIRED,   /* 400 The providing operation can't be performed … is retired. */
    NODE_AT_ONCE,           /* the course is the final state */
    NODE_PASSES,            /* the course has a transient state */
};

/* The progress of a node. In a transient state, `to` is the final state. In other states both are
 * NODE_NO_STATE, except that a failed state has the target that was not reached. */
struct node_course {
    enum node_state state;
    enum node_state target; /* target_provision_state */
    enum node_state to;
};

/* The effect of the verb on a node in that state. *course is set unless the verb is refused. */
enum node_answer node_machine_begin(enum node_state state, enum node_verb verb,
                                    const struct node_circumstances *circumstances,
                                    struct node_course *course);

/* The course that follows when the time of the transient state is over: another transient state
 * (cleaning follows deleting) or the final state. `to` is the stored value; if the row has lost it,
 * the target. */
struct node_course node_machine_next(const struct node_course *course);

/* Whether the state is transient. */
bool node_machine_is_transient(enum node_state state);

/* The course of a node in a transient state that no process ended: a failed state, and its target
 * (the one in 8.4, not the current one: a clean that was requested shows `available`). */
struct node_course node_machine_interrupted(enum node_state state);

#endif
