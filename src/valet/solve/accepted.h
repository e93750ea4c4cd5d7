/* The constraints that servers had before an update (Valet spec, 6.8). Servers are numbers of the
 * new stack. One thread at a time; in the arena. */
#ifndef BERTH_VALET_SOLVE_ACCEPTED_H
#define BERTH_VALET_SOLVE_ACCEPTED_H

#include "valet/solve/stack_units.h"

struct accepted {
    const struct stack *stack;
    struct units units; /* of the old content */
    uint32_t *was;      /* of each server: its number there, or UNITS_NONE */
};

/* A content that contradicts itself counts as having no constraints. */
struct accepted accepted_read(const struct stack *stack, const struct stack *before,
                              struct arena *arena);

/* The server in the old content; NULL: it was not in it. */
const struct stack_server *accepted_server(const struct accepted *accepted, uint32_t server);
const struct unit *accepted_unit(const struct accepted *accepted, uint32_t server);

/* Whether the two were bound to one host or rack, or kept on different ones. Sharing a host implies
 * sharing a rack; being on different racks implies being on different hosts. */
bool accepted_together(const struct accepted *accepted, uint32_t a, uint32_t b, bool is_rack);
bool accepted_apart(const struct accepted *accepted, uint32_t a, uint32_t b, bool is_rack);

#endif
