/* The few names that all clients use, so that they meet. Each text ends with its number. */
#ifndef BERTH_SIM_UNIVERSE_H
#define BERTH_SIM_UNIVERSE_H

#include <stdbool.h>

#include "base/slice.h"

enum {
    PROVIDERS = 16,
    NAMES = 20,
    CLASSES = 6,
    STANDARD_CLASSES = 3,
    TRAITS = 6,
    STANDARD_TRAITS = 2,
    AGGREGATES = 5,
    CONSUMERS = 20,
    OWNERS = 3, /* projects, users and types each */
    NODES = 8,
    METALS = 2, /* resource classes of nodes */
};

struct slice universe_provider(int number);
struct slice universe_name(int number);
struct slice universe_class(int number);
struct slice universe_trait(int number);
struct slice universe_aggregate(int number);
struct slice universe_consumer(int number);
struct slice universe_project(int number);
struct slice universe_user(int number);
struct slice universe_type(int number);

/* At the bare metal API. Placement's clients do not know the results of these. */
struct slice universe_node(int number);
struct slice universe_node_allocation(int number);
struct slice universe_metal(int number);
bool universe_is_metal(struct slice text);

/* The number of a text of the universe. */
int universe_number(struct slice text);

#endif
