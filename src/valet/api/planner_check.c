/* Searches for a host for one server of one VCPU without constraints. This is the only place where
 * the status calls the planner. */
#include "valet/api/planner_check.h"

#include "valet/solve/solve.h"

enum planner_state planner_check(const struct version *version, const struct conf_valet *valet,
                                 struct arena *arena, struct budget *budget, struct slice *message)
{
    static const struct stack_amount AMOUNT = {SLICE_LIT("VCPU"), 1};
    static const struct stack_server SERVER = {.orchestration_id = SLICE_LIT("ping"),
                                               .name = SLICE_LIT("ping"),
                                               .amounts = &AMOUNT,
                                               .amount_count = 1};
    static const struct stack STACK = {.servers = &SERVER, .server_count = 1};
    static const struct solve_pin PIN = {.kind = SOLVE_PLACE};
    const struct solve_request request = {.stack = &STACK,
                                          .pins = &PIN,
                                          .default_zone = valet->default_zone,
                                          .step_limit = valet->step_limit};
    struct solve_outcome outcome;
    switch (solve(version, &request, arena, budget, &outcome)) {
    case SOLVE_NONE:
        if (outcome.steps >= request.step_limit) {
            *message = outcome.reason;
            return PLANNER_FAILS;
        }
        break;
    case SOLVE_FOUND:
        break;
    case SOLVE_EXPENSIVE:
        return PLANNER_EXPENSIVE;
    }
    *message = SLICE_LIT("ping");
    return PLANNER_WORKS;
}
