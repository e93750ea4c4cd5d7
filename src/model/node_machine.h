/* What a verb does to a node's provision state, and what comes when a passing state is over (bare
 * metal spec 8.4, 10). Passing states are left by time alone, or by a restart. */
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

/* What else counts, besides the state. */
struct node_circumstances {
    bool maintenance;
    bool is_protected;
    bool retired;
    bool has_steps; /* clean_steps has any: there is none that this driver has */
};

/* In the order in which they are looked at. */
enum node_answer {
    NODE_REFUSED_MAINTENANCE, /* 400 The provisioning operation can't be performed … */
    NODE_REFUSED_STATE, /* 400 The requested action … while it is in state …, or 409 locked */
    NODE_REFUSED_PROTECTED, /* 403 */
    NODE_REFUSED_RETIRED,   /* 400 The providing operation can't be performed … is retired. */
    NODE_AT_ONCE,           /* the course is where it ends */
    NODE_PASSES,            /* the course has a passing state */
};

/* Where a node is on its way. In a passing state `to` is where it will be in the end; else both are
 * NODE_NO_STATE, but a failed state has the target that was missed. */
struct node_course {
    enum node_state state;
    enum node_state target; /* target_provision_state */
    enum node_state to;
};

/* What the verb does to a node in that state. *course is set if it is not refused. */
enum node_answer node_machine_begin(enum node_state state, enum node_verb verb,
                                    const struct node_circumstances *circumstances,
                                    struct node_course *course);

/* What follows when the time of the passing state is over: another passing state (cleaning, after
 * deleting) or the end. `to` as it was kept: of a row that lost it, the target. */
struct node_course node_machine_next(const struct node_course *course);

/* Whether the state is a passing one. */
bool node_machine_is_passing(enum node_state state);

/* Where a node goes whose passing state nobody ended: a failed state, and its target (8.4's, not
 * the one of the moment: a clean that was asked for shows `available`). */
struct node_course node_machine_interrupted(enum node_state state);

#endif
