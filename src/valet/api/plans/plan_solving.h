/* The way of a request that plans, from a stack to a commit (Valet spec, 9): what its handler says
 * of each server, the search on the pinned version, what is then handed to the writer. Handlers on
 * a worker or the slow lane; nothing is kept of the version. */
#ifndef BERTH_VALET_API_PLANS_PLAN_SOLVING_H
#define BERTH_VALET_API_PLANS_PLAN_SOLVING_H

#include "api/request.h"
#include "valet/api/plans/plan_json.h"
#include "valet/solve/solve.h"
#include "valet/write/plan_stacks.h"

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
    const struct stack *accepted;   /* what was asked before: those that stay are judged by what is
                                       new; NULL: they are not */
    struct solving_server *servers; /* one for each of the stack */
    bool drops_others;              /* placements of the plan that the stack has not go */
    const struct consumer **released; /* holds of those; plan_solving_look finds them */
    uint32_t released_count;
    int64_t steps;    /* of its searches so far, which share the limit of one request */
    bool comes_back;  /* if nothing is found, it is searched once more, with other pins: half of the
                         steps are left for that */
    bool any_project; /* VALET_PLAN_ANY_PROJECT, as it is to be: see plan_ids.h */
};

/* What the request is left with: in request->state once plan_solving_run returned API_WRITE. */
struct solved {
    struct stack_commit commit;
    struct placement_view *views; /* one for each row of the commit; row NULL: it goes */
    struct slice answer; /* the uuid of the placement that is shown; data == NULL: the plan */
};

/* Fills in the servers, as they are: placements of the plan by their orchestration ids, where they
 * are, their holds; pins say that nothing moves, and of a server without placement that it is
 * absent. The stack is there. */
void plan_solving_look(struct solving *solving);

/* Reads the stack from the plan's row, checks that what it names is there, and looks. False: 409.
 */
bool plan_solving_recall(struct solving *solving) BERTH_MUST_CHECK;

/* Which server of the stack the placement is of. False: 409, none is. */
bool plan_solving_find(struct solving *solving, const struct valet_placement *placement,
                       uint32_t *server) BERTH_MUST_CHECK;

/* The server is to get a host, its hold counting as gone; its present one is preferred. */
void plan_solving_place(struct solving *solving, uint32_t server);

/* What tells where it is if no hold does, by the ids that it is to have; NULL: nothing. */
const struct consumer *plan_solving_server(const struct solving *solving, uint32_t server);

/* Searches, and makes the commit. API_DONE: err is set. */
enum api_step plan_solving_run(struct solving *solving);

/* The planner of a request whose state is a struct solved. */
bool plan_solving_commit(struct pipeline_request *write, const struct plan *plan);

/* After the write: 201 with the plan or the placement. */
void finish_valet_plan(struct api_request *request);

#endif
