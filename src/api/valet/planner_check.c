/* One server of one VCPU, anywhere. This is the one place where the status comes to the planner. */
#include "api/valet/planner_check.h"

#include "solve/solve.h"

bool planner_check(const struct version *version, const struct conf_valet *valet,
                   struct arena *arena, struct slice *message)
{
    static const struct stack_amount AMOUNT = {{"VCPU", 4}, 1};
    static const struct stack_server SERVER = {.orchestration_id = {"ping", 4},
                                               .name = {"ping", 4},
                                               .amounts = &AMOUNT,
                                               .amount_count = 1};
    static const struct stack STACK = {.servers = &SERVER, .server_count = 1};
    static const struct solve_pin PIN = {.kind = SOLVE_PLACE};
    struct solve_request request = {&STACK, &PIN, valet->default_zone, valet->step_limit};
    struct budget budget = {.left = INT64_MAX};
    struct solve_outcome outcome;
    switch (solve(version, &request, arena, &budget, &outcome)) {
    case SOLVE_FOUND:
        *message = SLICE_LIT("ping");
        return true;
    case SOLVE_NONE:
        *message = SLICE_LIT("ping: no host has room");
        return true;
    case SOLVE_EXPENSIVE:
        break;
    }
    *message = SLICE_LIT("the search does not end");
    return false;
}
