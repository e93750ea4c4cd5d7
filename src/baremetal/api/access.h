/* Who may do what at the bare metal API (baremetal-allocations spec, 7; where that is silent,
 * ironic 21.4.4). Decisions only: they know nothing of requests and allocate nothing but an err's
 * text. Any thread.
 *
 * What one may not see is as if it were not there: ACCESS_HIDDEN leaves err to the caller, who says
 * what he says of things that are not there. What one may see but not do is a 403 in err. */
#ifndef BERTH_BAREMETAL_API_ACCESS_H
#define BERTH_BAREMETAL_API_ACCESS_H

#include "base/err.h"
#include "policy/caller.h"
#include "policy/rules_baremetal.h"

enum access_verdict { ACCESS_ALLOWED, ACCESS_REFUSED, ACCESS_HIDDEN };

/* Who asks. */
struct access {
    struct policy_keeper *policies;
    const struct identity *identity;
    bool open; /* everything is allowed but to see secrets */
    struct policy_attribute about[POLICY_CALLER_ATTRIBUTES];
    unsigned about_count;
};

/* What of a node decides; data == NULL: none. */
struct access_node {
    struct slice owner;
    struct slice lessee;
};

/* The identity must live as long. `open`: there is no authentication, and secrets are asked for by
 * nobody. */
void access_begin(struct access *access, struct policy_keeper *policies,
                  const struct identity *identity, bool open);

/* Whether the rule passes, of nothing in particular; nothing is said. */
bool access_passes(const struct access *access, enum policy_baremetal_rule rule);

/* The 403 of a rule that did not pass. Returns false. */
bool access_refuse(enum policy_baremetal_rule rule, struct err *err);

/* Of nothing in particular: drivers, conductors, chassis, shards. False: err has the 403. */
bool access_check(const struct access *access, enum policy_baremetal_rule rule,
                  struct err *err) BERTH_MUST_CHECK;

/* Whether the rule passes for this node, for this allocation; nothing is said. With the rules of
 * seeing, POLICY_NODE_GET and POLICY_NODE_ALLOCATION_GET: whether it is there for the caller. */
bool access_node_passes(const struct access *access, enum policy_baremetal_rule rule,
                        const struct access_node *node);
bool access_allocation_passes(const struct access *access, enum policy_baremetal_rule rule,
                              struct slice owner);

/* Whether the caller may do that to a node, to an allocation of that owner. */
enum access_verdict access_node(const struct access *access, enum policy_baremetal_rule rule,
                                const struct access_node *node, struct err *err) BERTH_MUST_CHECK;
enum access_verdict access_allocation(const struct access *access, enum policy_baremetal_rule rule,
                                      struct slice owner, struct err *err) BERTH_MUST_CHECK;

/* To delete a node: as anybody's, or as the caller's own project's. */
enum access_verdict access_node_delete(const struct access *access, const struct access_node *node,
                                       struct err *err) BERTH_MUST_CHECK;

/* The rule that an operation of a patch of a node asks, by its path ("/extra/a"); `turns_off`: its
 * value reads as false, which counts for automated_clean. */
enum policy_baremetal_rule access_rule_of_patch(struct slice path, bool turns_off);

/* To patch a node: the rules of all operations, in their order. */
enum access_verdict access_node_patch(const struct access *access, const struct access_node *node,
                                      const enum policy_baremetal_rule *rules, unsigned count,
                                      struct err *err) BERTH_MUST_CHECK;

/* To create a node with that owner, data == NULL: none. *effective is the owner it gets. False: err
 * has a 403, or a 400 for another project's. */
bool access_node_create(const struct access *access, struct slice owner, struct slice *effective,
                        struct err *err) BERTH_MUST_CHECK;

enum access_list {
    ACCESS_NODES, /* of the project that owns or leases them */
    ACCESS_ALLOCATIONS,
    ACCESS_PORTS,
    ACCESS_PORTGROUPS,
    ACCESS_VOLUMES,
    ACCESS_LISTS
};

/* To list what is of the project `wanted`, data == NULL: of all. *project is whose it may be in the
 * answer, data == NULL: anybody's. False: err has the 403. Of allocations a list leaves out those
 * that the caller may not see one by one. */
bool access_list(const struct access *access, enum access_list list, struct slice wanted,
                 struct slice *project, struct err *err) BERTH_MUST_CHECK;

struct access_creation {
    struct slice owner;         /* that the allocation gets; data == NULL: none */
    struct slice candidates_of; /* candidates that this project neither owns nor leases are as if
                                   they were not there; data == NULL: any may be one */
};

/* To create an allocation with that owner, data == NULL: none is named. False: err has the 403. */
bool access_allocation_create(const struct access *access, struct slice owner,
                              struct access_creation *creation, struct err *err) BERTH_MUST_CHECK;

/* What of nodes the caller does not get to see. */
enum access_mask {
    ACCESS_DRIVER_SECRETS = 1, /* values in driver_info under names of secrets */
    ACCESS_INSTANCE_SECRETS = 2,
    ACCESS_FILTERED = 4, /* the following are decided for each node */
    ACCESS_LAST_ERROR = 8,
    ACCESS_RESERVATION = 16,
    ACCESS_DRIVER_INTERNAL_INFO = 32,
    ACCESS_DRIVER_INFO = 64,
};

/* What holds for all nodes of an answer: the first three. `node`: if it is about one; else NULL. */
unsigned access_masks(const struct access *access, const struct access_node *node);

/* And, with the others, for this one. */
unsigned access_node_masks(const struct access *access, unsigned masks,
                           const struct access_node *node);

/* What is shown in the place of one of the last four: the value of last_error and reservation, the
 * member "content" of the other two, which are objects. */
struct slice access_mask_text(enum access_mask mask);

#endif
