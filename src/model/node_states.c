/* One row for each state, with flags for what it allows. Pure; any thread. */
#include "model/node_states.h"

enum {
    UPDATABLE = 1,
    DELETABLE = 2,
    REASSIGNABLE = 4,
    PROTECTABLE = 8,
    NOT_TO_RETIRE = 16,
    NO_POWER = 32,
};

static const struct {
    const char *name;
    unsigned flags;
} STATES[NODE_STATE_COUNT] = {
    [NODE_ENROLL] = {"enroll", DELETABLE | REASSIGNABLE},
    [NODE_VERIFYING] = {"verifying", UPDATABLE},
    [NODE_MANAGEABLE] = {"manageable", DELETABLE | REASSIGNABLE},
    [NODE_AVAILABLE] = {"available", DELETABLE | REASSIGNABLE | NOT_TO_RETIRE},
    [NODE_ACTIVE] = {"active", PROTECTABLE},
    [NODE_DEPLOYING] = {"deploying", 0},
    [NODE_DEPLOY_WAIT] = {"wait call-back", 0},
    [NODE_DEPLOY_FAILED] = {"deploy failed", UPDATABLE},
    [NODE_CLEANING] = {"cleaning", NO_POWER},
    [NODE_CLEAN_WAIT] = {"clean wait", NO_POWER},
    [NODE_CLEAN_FAILED] = {"clean failed", UPDATABLE},
    [NODE_DELETING] = {"deleting", 0},
    [NODE_ERROR] = {"error", UPDATABLE},
    [NODE_INSPECTING] = {"inspecting", UPDATABLE | REASSIGNABLE},
    [NODE_INSPECT_WAIT] = {"inspect wait", UPDATABLE | REASSIGNABLE},
    [NODE_INSPECT_FAILED] = {"inspect failed", UPDATABLE},
    [NODE_ADOPTING] = {"adopting", 0},
    [NODE_ADOPT_FAILED] = {"adopt failed", UPDATABLE | DELETABLE},
    [NODE_RESCUE] = {"rescue", PROTECTABLE},
    [NODE_RESCUING] = {"rescuing", 0},
    [NODE_RESCUE_WAIT] = {"rescue wait", 0},
    [NODE_RESCUE_FAILED] = {"rescue failed", UPDATABLE},
    [NODE_UNRESCUING] = {"unrescuing", 0},
    [NODE_UNRESCUE_FAILED] = {"unrescue failed", UPDATABLE},
};

static const char *const POWERS[] = {
    [NODE_POWER_ON] = "power on",
    [NODE_POWER_OFF] = "power off",
    [NODE_POWER_ERROR] = "error",
};

static const struct node_power_verb POWER_VERBS[] = {
    {"power on", 1, NODE_POWER_ON},        {"power off", 1, NODE_POWER_OFF},
    {"rebooting", 1, NODE_POWER_ON},       {"soft power off", 27, NODE_POWER_OFF},
    {"soft rebooting", 27, NODE_POWER_ON},
};

enum {
    POWERS_COUNT = sizeof(POWERS) / sizeof(POWERS[0]),
    POWER_VERBS_COUNT = sizeof(POWER_VERBS) / sizeof(POWER_VERBS[0]),
};

struct slice node_state_text(enum node_state state)
{
    const char *name = STATES[state].name;
    return name == NULL ? (struct slice){0} : slice_of(name);
}

enum node_state node_state_find(struct slice name)
{
    for (unsigned i = NODE_NO_STATE + 1; i < NODE_STATE_COUNT; i++)
        if (slice_equal(slice_of(STATES[i].name), name))
            return (enum node_state)i;
    return NODE_NO_STATE;
}

static bool has(enum node_state state, unsigned flag)
{
    return (STATES[state].flags & flag) != 0;
}

bool node_state_is_updatable(enum node_state state)
{
    return has(state, UPDATABLE);
}

bool node_state_lets_delete(enum node_state state)
{
    return has(state, DELETABLE);
}

bool node_state_lets_reassign(enum node_state state)
{
    return has(state, REASSIGNABLE);
}

bool node_state_lets_protect(enum node_state state)
{
    return has(state, PROTECTABLE);
}

bool node_state_lets_retire(enum node_state state)
{
    return !has(state, NOT_TO_RETIRE);
}

bool node_state_lets_power(enum node_state state)
{
    return !has(state, NO_POWER);
}

struct slice node_power_text(enum node_power power)
{
    const char *name = POWERS[power];
    return name == NULL ? (struct slice){0} : slice_of(name);
}

enum node_power node_power_find(struct slice name)
{
    for (unsigned i = NODE_POWER_NONE + 1; i < POWERS_COUNT; i++)
        if (slice_equal(slice_of(POWERS[i]), name))
            return (enum node_power)i;
    return NODE_POWER_NONE;
}

const struct node_power_verb *node_power_verb_find(struct slice name)
{
    for (unsigned i = 0; i < POWER_VERBS_COUNT; i++)
        if (slice_equal(slice_of(POWER_VERBS[i].name), name))
            return &POWER_VERBS[i];
    return NULL;
}
