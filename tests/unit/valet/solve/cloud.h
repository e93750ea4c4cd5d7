/* Clouds for tests of the planner: plain numbers, which an oracle can read without the code under
 * test, and the version that is made from them. */
#ifndef BERTH_TESTS_UNIT_SOLVE_CLOUD_H
#define BERTH_TESTS_UNIT_SOLVE_CLOUD_H

#include "base/arena.h"
#include "replica/replica.h"

enum { CLOUD_CLASSES = 3, CLOUD_PROVIDERS_MAX = 12000, CLOUD_CONSUMERS_MAX = 20400 };
enum { CLOUD_AGGREGATES = 64, CLOUD_FAR_AGGREGATES = 1000, CLOUD_PROJECTS = 3, CLOUD_GROUPS = 2 };
enum { TRAIT_FAST, TRAIT_OLD, TRAIT_DISABLED, TRAIT_SHARES, TRAIT_RACK, TRAIT_ZONE, CLOUD_TRAITS };
/* The last two aggregates are those of the groups. */
enum { GROUP_AGGREGATE = CLOUD_AGGREGATES - CLOUD_GROUPS };
enum { MEMBER = 0, OTHER_MEMBER = 1, NON_MEMBER = 2 }; /* projects; non-members are in no group */

#define CLOUD_BIT(n) ((uint64_t)1 << (n))

struct cloud_inventory {
    int total; /* 0: none */
    int min_unit;
    int max_unit;
    int step_size;
    int used; /* by consumers; kept by cloud_use */
};

/* Provider n has the id n + 1, and its name as uuid. */
struct cloud_provider {
    const char *name;
    int parent; /* -1: none; otherwise below its own number */
    unsigned traits;
    uint64_t aggregates; /* bits */
    int far_aggregate;   /* of one without a bit, for large clouds: from 1 on; 0: none */
    struct cloud_inventory inventory[CLOUD_CLASSES];
};

/* What a consumer holds of one provider. */
struct cloud_consumer {
    int project;
    int provider;
    int amounts[CLOUD_CLASSES];
};

struct cloud {
    struct arena *arena;
    struct replica *replica;
    const struct version *version;
    struct cloud_provider providers[CLOUD_PROVIDERS_MAX];
    int provider_count;
    struct cloud_consumer consumers[CLOUD_CONSUMERS_MAX];
    int consumer_count;
    int rack_claims[CLOUD_GROUPS]; /* provider + 1 of a rack that the group claims; 0: none */
    int host_claims[CLOUD_GROUPS]; /* the same for a row of a host, which alone claims nothing */
    bool no_groups;
    bool has_far_aggregates;
};

struct cloud *cloud_create(void);
void cloud_destroy(struct cloud *cloud);

/* Return the number. The name is copied; a host has that much of each class. */
int cloud_add(struct cloud *cloud, const char *name, int parent);
int cloud_add_host(struct cloud *cloud, const char *name, int rack_aggregate, int total);
int cloud_add_rack(struct cloud *cloud, const char *name, int aggregate);
int cloud_use(struct cloud *cloud, int project, int provider, int class_at, int amount);

/* The provider gets an inventory of the class. */
void cloud_give(struct cloud *cloud, int provider, int class_at, int total);

/* Makes the version. Call it once. */
const struct version *cloud_publish(struct cloud *cloud);

const struct provider *cloud_provider_at(const struct cloud *cloud, int provider);
const struct consumer *cloud_consumer_at(const struct cloud *cloud, int consumer);
const char *cloud_class_name(int class_at);
const char *cloud_trait_name(int trait);
const char *cloud_group_uuid(int group);
const char *cloud_group_name(int group);

#endif
