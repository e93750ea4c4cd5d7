/* The state machine as tables: one row for each pair of verb and state that has an effect, one for
 * each transient state. A pair without a row is refused. Pure; any thread. */
#include "model/node_machine.h"

static const struct node_verb_name NAMES[] = {
    {"active", NODE_DEPLOY, 1},      {"deploy", NODE_DEPLOY, 73},    {"rebuild", NODE_REBUILD, 1},
    {"deleted", NODE_UNDEPLOY, 1},   {"undeploy", NODE_UNDEPLOY, 1}, {"manage", NODE_MANAGE, 4},
    {"provide", NODE_PROVIDE, 4},    {"inspect", NODE_INSPECT, 6},   {"abort", NODE_ABORT, 13},
    {"clean", NODE_CLEAN, 15},       {"adopt", NODE_ADOPT, 17},      {"rescue", NODE_DO_RESCUE, 38},
    {"unrescue", NODE_UNRESCUE, 38},
};

struct transition {
    enum node_verb verb;
    enum node_state from;
    enum node_state passes; /* NODE_NO_STATE: the change is immediate */
    enum node_state to;
};

static const struct transition TRANSITIONS[] = {
    {NODE_MANAGE, NODE_ENROLL, NODE_VERIFYING, NODE_MANAGEABLE},
    {NODE_MANAGE, NODE_AVAILABLE, NODE_NO_STATE, NODE_MANAGEABLE},
    {NODE_MANAGE, NODE_CLEAN_FAILED, NODE_NO_STATE, NODE_MANAGEABLE},
    {NODE_MANAGE, NODE_INSPECT_FAILED, NODE_NO_STATE, NODE_MANAGEABLE},
    {NODE_MANAGE, NODE_ADOPT_FAILED, NODE_NO_STATE, NODE_MANAGEABLE},
    {NODE_PROVIDE, NODE_MANAGEABLE, NODE_CLEANING, NODE_AVAILABLE},
    {NODE_DEPLOY, NODE_AVAILABLE, NODE_DEPLOYING, NODE_ACTIVE},
    {NODE_DEPLOY, NODE_DEPLOY_FAILED, NODE_DEPLOYING, NODE_ACTIVE},
    {NODE_REBUILD, NODE_ACTIVE, NODE_DEPLOYING, NODE_ACTIVE},
    {NODE_REBUILD, NODE_DEPLOY_FAILED, NODE_DEPLOYING, NODE_ACTIVE},
    {NODE_REBUILD, NODE_ERROR, NODE_DEPLOYING, NODE_ACTIVE},
    {NODE_UNDEPLOY, NODE_ACTIVE, NODE_DELETING, NODE_AVAILABLE},
    {NODE_UNDEPLOY, NODE_DEPLOY_FAILED, NODE_DELETING, NODE_AVAILABLE},
    {NODE_UNDEPLOY, NODE_ERROR, NODE_DELETING, NODE_AVAILABLE},
    {NODE_UNDEPLOY, NODE_RESCUE, NODE_DELETING, NODE_AVAILABLE},
    {NODE_ADOPT, NODE_MANAGEABLE, NODE_ADOPTING, NODE_ACTIVE},
    {NODE_ADOPT, NODE_ADOPT_FAILED, NODE_ADOPTING, NODE_ACTIVE},
    {NODE_INSPECT, NODE_MANAGEABLE, NODE_INSPECTING, NODE_MANAGEABLE},
    {NODE_INSPECT, NODE_INSPECT_FAILED, NODE_INSPECTING, NODE_MANAGEABLE},
    {NODE_CLEAN, NODE_MANAGEABLE, NODE_CLEANING, NODE_MANAGEABLE},
    {NODE_DO_RESCUE, NODE_ACTIVE, NODE_RESCUING, NODE_RESCUE},
    {NODE_DO_RESCUE, NODE_RESCUE, NODE_RESCUING, NODE_RESCUE},
    {NODE_DO_RESCUE, NODE_RESCUE_FAILED, NODE_RESCUING, NODE_RESCUE},
    {NODE_DO_RESCUE, NODE_UNRESCUE_FAILED, NODE_RESCUING, NODE_RESCUE},
    {NODE_UNRESCUE, NODE_RESCUE, NODE_UNRESCUING, NODE_ACTIVE},
    {NODE_UNRESCUE, NODE_RESCUE_FAILED, NODE_UNRESCUING, NODE_ACTIVE},
    {NODE_UNRESCUE, NODE_UNRESCUE_FAILED, NODE_UNRESCUING, NODE_ACTIVE},
};

static const struct transient {
    enum node_state state;
    enum node_state next; /* NODE_NO_STATE: the final state is reached */
    enum node_state failed;
    enum node_state failed_target;
} TRANSIENT[] = {
    {NODE_VERIFYING, NODE_NO_STATE, NODE_ENROLL, NODE_NO_STATE},
    {NODE_DEPLOYING, NODE_NO_STATE, NODE_DEPLOY_FAILED, NODE_ACTIVE},
    {NODE_CLEANING, NODE_NO_STATE, NODE_CLEAN_FAILED, NODE_AVAILABLE},
    {NODE_DELETING, NODE_CLEANING, NODE_ERROR, NODE_NO_STATE},
    {NODE_INSPECTING, NODE_NO_STATE, NODE_INSPECT_FAILED, NODE_MANAGEABLE},
    {NODE_ADOPTING, NODE_NO_STATE, NODE_ADOPT_FAILED, NODE_ACTIVE},
    {NODE_RESCUING, NODE_NO_STATE, NODE_RESCUE_FAILED, NODE_RESCUE},
    {NODE_UNRESCUING, NODE_NO_STATE, NODE_UNRESCUE_FAILED, NODE_ACTIVE},
};

enum {
    NAMES_COUNT = sizeof(NAMES) / sizeof(NAMES[0]),
    TRANSITIONS_COUNT = sizeof(TRANSITIONS) / sizeof(TRANSITIONS[0]),
    TRANSIENT_COUNT = sizeof(TRANSIENT) / sizeof(TRANSIENT[0]),
};

const struct node_verb_name *node_verb_find(struct slice name)
{
    for (unsigned i = 0; i < NAMES_COUNT; i++)
        if (slice_equal(slice_of(NAMES[i].name), name))
            return &NAMES[i];
    return NULL;
}

static const struct transition *find_transition(enum node_state state, enum node_verb verb)
{
    for (unsigned i = 0; i < TRANSITIONS_COUNT; i++)
        if (TRANSITIONS[i].verb == verb && TRANSITIONS[i].from == state)
            return &TRANSITIONS[i];
    return NULL;
}

static const struct transient *find_transient(enum node_state state)
{
    for (unsigned i = 0; i < TRANSIENT_COUNT; i++)
        if (TRANSIENT[i].state == state)
            return &TRANSIENT[i];
    return NULL;
}

enum node_answer node_machine_begin(enum node_state state, enum node_verb verb,
                                    const struct node_circumstances *circumstances,
                                    struct node_course *course)
{
    if (circumstances->maintenance && (verb == NODE_DEPLOY || verb == NODE_REBUILD))
        return NODE_REFUSED_MAINTENANCE;
    const struct transition *transition = find_transition(state, verb);
    if (transition == NULL)
        return NODE_REFUSED_STATE;
    if (circumstances->is_protected && (verb == NODE_UNDEPLOY || verb == NODE_REBUILD))
        return NODE_REFUSED_PROTECTED;
    if (circumstances->retired && verb == NODE_PROVIDE)
        return NODE_REFUSED_RETIRED;
    if (transition->passes == NODE_NO_STATE) {
        *course = (struct node_course){.state = transition->to};
        return NODE_AT_ONCE;
    }
    *course = (struct node_course){transition->passes, transition->to, transition->to};
    if (circumstances->has_steps && verb == NODE_CLEAN)
        course->to = NODE_CLEAN_FAILED;
    if (circumstances->retired && verb == NODE_UNDEPLOY)
        course->to = NODE_MANAGEABLE;
    return NODE_PASSES;
}

struct node_course node_machine_next(const struct node_course *course)
{
    const struct transient *transient = find_transient(course->state);
    check(transient != NULL);
    enum node_state to = course->to != NODE_NO_STATE ? course->to : course->target;
    if (transient->next != NODE_NO_STATE)
        return (struct node_course){transient->next, course->target, to};
    return (struct node_course){
        .state = to,
        .target = to == transient->failed ? course->target : NODE_NO_STATE,
    };
}

bool node_machine_is_transient(enum node_state state)
{
    return find_transient(state) != NULL;
}

struct node_course node_machine_interrupted(enum node_state state)
{
    const struct transient *transient = find_transient(state);
    check(transient != NULL);
    return (struct node_course){.state = transient->failed, .target = transient->failed_target};
}
