/* What the API promises, as plainly as possible: a cloud in numbers of the universe, and the effect
 * of each request on it. Nothing here is shared with the planners. */
#ifndef BERTH_SIM_ORACLE_H
#define BERTH_SIM_ORACLE_H

#include "memory_store/tables.h"
#include "model/capacity.h"
#include "universe.h"

struct client_request;

struct oracle_provider {
    bool exists;
    int name;
    int parent; /* NOBODY: a root */
    int64_t generation;
    bool has[CLASSES];
    struct inventory_figures figures[CLASSES];
    bool traits[TRAITS];
    bool aggregates[AGGREGATES];
};

struct oracle_consumer {
    bool exists;
    int project, user;
    int type; /* NOBODY: none */
    int64_t generation;
    int64_t amount[PROVIDERS][CLASSES];
};

struct oracle {
    bool classes[CLASSES];
    bool traits[TRAITS];
    struct oracle_provider provider[PROVIDERS];
    struct oracle_consumer consumer[CONSUMERS];
};

/* The contents of the tables, except for those of the bare metal API. */
void oracle_read(struct oracle *oracle, const struct tables *tables);

/* Whether the request is to be accepted; if so, carries it out. Not for those at the bare metal
 * API. */
bool oracle_decide(struct oracle *oracle, const struct client_request *request);

/* NULL, or the first difference. */
const char *oracle_differs(const struct oracle *a, const struct oracle *b);

int64_t oracle_used(const struct oracle *oracle, int provider, int class);

#endif
