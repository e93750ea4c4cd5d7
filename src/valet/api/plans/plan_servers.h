/* The state of each server of a stack while a handler plans (Valet spec, 9): first what exists,
 * then what is to be searched. */
#ifndef BERTH_VALET_API_PLANS_PLAN_SERVERS_H
#define BERTH_VALET_API_PLANS_PLAN_SERVERS_H

#include "api/request.h"
#include "replica/valet.h"
#include "valet/solve/solve.h"

/* One server of the stack. */
struct solving_server {
    const struct valet_placement *placement; /* the version's; NULL: none yet */
    const struct provider *present;          /* its host; NULL: none */
    struct solve_pin pin;
    bool is_reserved; /* as the placement is to become */
    struct slice resource_id;
    bool leaves_reserve; /* it is no longer reserved if its location changes */
};

struct solving {
    struct api_request *request;
    const struct valet_plan *plan; /* the version's; NULL: new */
    struct slice plan_uuid;
    struct slice name, stack_id, project, user, fingerprint; /* as they are to become */
    struct stack stack;
    const struct stack *accepted; /* the previous content: servers that stay are checked against new
                                     constraints; NULL: they are not */
    struct solving_server *servers;   /* one for each of the stack */
    bool drops_others;                /* placements that are not in the stack are deleted */
    const struct consumer **released; /* their holds; set by plan_servers_look */
    uint32_t released_count;
    int64_t steps;    /* of its searches so far, which share the limit of one request */
    bool comes_back;  /* if nothing is found, there is a second search with other pins, for which
                         half of the steps are kept */
    bool any_project; /* VALET_PLAN_ANY_PROJECT, as it is to become: see plan_ids.h */
};

/* Fills in the servers as they are: the plan's placements by their orchestration ids, their hosts
 * and holds. Pins say that no server moves, and that a server without a placement is absent. The
 * stack must be set. */
void plan_servers_look(struct solving *solving);

/* Reads the stack from the plan's row, checks that the objects it names exist, and fills in the
 * servers. False: 409. */
bool plan_servers_recall(struct solving *solving) BERTH_MUST_CHECK;

/* Finds the server of the stack that the placement belongs to. False: 409, there is none. */
bool plan_servers_find(struct solving *solving, const struct valet_placement *placement,
                       uint32_t *server) BERTH_MUST_CHECK;

/* The server is to get a host, preferably its current one; its hold is not counted. */
void plan_servers_place(struct solving *solving, uint32_t server);

/* The consumer that determines its location if there is no hold, by the ids that it is to have;
 * NULL: none. */
const struct consumer *plan_servers_server(const struct solving *solving, uint32_t server);

/* The consumers of the server, by the ids that it is to have, which the writer will use: its hold,
 * the consumer with its resource id, the consumer with its orchestration id. own has SOLVE_OWN
 * places, initially NULL. */
void plan_servers_own(const struct solving *solving, uint32_t server, const struct consumer **own);

#endif
