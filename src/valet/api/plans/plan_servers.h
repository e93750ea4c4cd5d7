/* What a handler that plans says of each server of a stack (Valet spec, 9): at first what is there,
 * then what is to be searched. */
#ifndef BERTH_VALET_API_PLANS_PLAN_SERVERS_H
#define BERTH_VALET_API_PLANS_PLAN_SERVERS_H

#include "api/request.h"
#include "replica/valet.h"
#include "valet/solve/solve.h"

/* One server of the stack. */
struct solving_server {
    const struct valet_placement *placement; /* the version's; NULL: it has none yet */
    const struct provider *present;          /* where that is; NULL: nowhere */
    struct solve_pin pin;
    bool is_reserved; /* as the placement is to be */
    struct slice resource_id;
    bool leaves_reserve; /* it is not reserved any more if its location changes */
};

struct solving {
    struct api_request *request;
    const struct valet_plan *plan; /* the version's; NULL: new */
    struct slice plan_uuid;
    struct slice name, stack_id, project, user, fingerprint; /* as they are to be */
    struct stack stack;
    const struct stack *accepted;   /* what was asked before: those that stay are checked by what is
                                       new; NULL: they are not */
    struct solving_server *servers; /* one for each of the stack */
    bool drops_others;              /* placements of the plan that the stack has not go */
    const struct consumer **released; /* holds of those; plan_servers_look finds them */
    uint32_t released_count;
    int64_t steps;    /* of its searches so far, which share the limit of one request */
    bool comes_back;  /* if nothing is found, it is searched once more, with other pins: half of the
                         steps are left for that */
    bool any_project; /* VALET_PLAN_ANY_PROJECT, as it is to be: see plan_ids.h */
};

/* Fills in the servers, as they are: placements of the plan by their orchestration ids, where they
 * are, their holds; pins say that nothing moves, and of a server without placement that it is
 * absent. The stack is there. */
void plan_servers_look(struct solving *solving);

/* Reads the stack from the plan's row, checks that what it names is there, and looks. False: 409.
 */
bool plan_servers_recall(struct solving *solving) BERTH_MUST_CHECK;

/* Which server of the stack the placement is of. False: 409, none is. */
bool plan_servers_find(struct solving *solving, const struct valet_placement *placement,
                       uint32_t *server) BERTH_MUST_CHECK;

/* The server is to get a host, its hold counting as gone; its present one is preferred. */
void plan_servers_place(struct solving *solving, uint32_t server);

/* What tells where it is if no hold does, by the ids that it is to have; NULL: nothing. */
const struct consumer *plan_servers_server(const struct solving *solving, uint32_t server);

/* What is the server's, by the ids that it is to have, which the writer will ask by: its hold, who
 * is there by its resource id, who by its orchestration id. own has SOLVE_OWN places, NULL at
 * first. */
void plan_servers_own(const struct solving *solving, uint32_t server, const struct consumer **own);

#endif
