/* What was asked before of servers that are asked of anew (Valet spec, 6.8). Servers are numbers of
 * the new stack. One thread at a time; in the arena. */
#ifndef BERTH_VALET_SOLVE_ACCEPTED_H
#define BERTH_VALET_SOLVE_ACCEPTED_H

#include "valet/solve/stack_units.h"

struct accepted {
    const struct stack *stack;
    struct units units; /* of it */
    uint32_t *was;      /* of each server: its number there, or UNITS_NONE */
};

/* A content that contradicts itself asked for nothing. */
struct accepted accepted_read(const struct stack *stack, const struct stack *before,
                              struct arena *arena);

/* As it was; NULL: it was not there. */
const struct stack_server *accepted_server(const struct accepted *accepted, uint32_t server);
const struct unit *accepted_unit(const struct accepted *accepted, uint32_t server);

/* Whether the two were bound to one host or rack, or kept on different ones. One host is one rack,
 * different racks are different hosts. */
bool accepted_together(const struct accepted *accepted, uint32_t a, uint32_t b, bool is_rack);
bool accepted_apart(const struct accepted *accepted, uint32_t a, uint32_t b, bool is_rack);

#endif
