/* Stacks for tests, built element by element, with space for the pins. */
#ifndef BERTH_TESTS_UNIT_SOLVE_PLAN_H
#define BERTH_TESTS_UNIT_SOLVE_PLAN_H

#include "cloud.h"
#include "valet/solve/solve.h"

struct plan {
    struct arena *arena;
    struct stack stack;
    struct stack_server *servers; /* these grow with each server that is added */
    struct solve_pin *pins;
    int *released; /* consumers of the cloud; -1: none */
    int *owned;    /* likewise: the first one is what pins[].own has */
    size_t server_capacity, pin_capacity, released_capacity, owned_capacity;
    struct stack_group *groups;
    size_t group_capacity;
    struct stack_element **elements; /* by group */
    size_t elements_capacity, *element_capacity, element_capacity_capacity;
    const struct consumer *dropped[1];
    int dropped_at;        /* what the request treats as released; -1: nothing */
    struct plan *accepted; /* the accepted stack; its servers are those of the same number, with the
                              same orchestration id, or none; NULL: there is no such stack */
    struct solve_request request;
    struct budget budget;
    struct solve_outcome outcome;
    enum solve_result result;
};

/* In the arena. */
struct plan *plan_create(struct arena *arena);

/* A server that needs that much of the first classes; amounts of 0 are left out. Returns its
 * number. */
uint32_t plan_add_server(struct plan *plan, const char *name, int vcpus, int ram, int disk);

/* An empty group; returns its number. With exclusivity, `exclusive` is the cloud's group; otherwise
 * it is ignored. */
uint32_t plan_add_group(struct plan *plan, const char *name, enum stack_group_type type,
                        enum stack_level level, int exclusive);
void plan_add_to(struct plan *plan, uint32_t group, uint32_t server);
void plan_add_group_to(struct plan *plan, uint32_t group, uint32_t listed);

/* Adds a name to the list. */
void plan_add_name(struct plan *plan, struct stack_names *names, const char *name);

void plan_solve(struct plan *plan, const struct version *version);

#endif
