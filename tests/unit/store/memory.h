/* A small memory of a store's contents, filled by loads, follows and its own changes. It fails the
 * test if they violate the order that change.h promises: each record refers only to existing ones.
 */
#ifndef BERTH_TESTS_STORE_MEMORY_H
#define BERTH_TESTS_STORE_MEMORY_H

#include "fixture.h"

enum {
    PROVIDERS = 24,
    CONSUMERS = 24,
    CLASSES = 3, /* VCPU and on */
    TRAITS = 4,  /* ids 1 to 4 */
    ALLOCATIONS = 4096
};

struct provider {
    bool there;
    int64_t parent;
    int64_t root;
    int64_t generation;
    char name[32];
    char uuid[40];
    int total[CLASSES];
    bool traits[TRAITS];
};

struct consumer {
    bool there;
    int64_t generation;
    char uuid[40];
};

struct allocation {
    int64_t consumer; /* 0: none */
    int64_t provider;
    int64_t used;
};

struct memory {
    struct provider providers[PROVIDERS];
    struct consumer consumers[CONSUMERS];
    struct allocation allocations[ALLOCATIONS];
    bool loading; /* parents may come after their children */
};

/* Applies one record; cls is the struct memory. */
void memory_sink(void *cls, const struct change *change);

/* What it has; cls is the struct memory. */
struct memory_view memory_view_of(struct memory *memory);

#endif
