/* Who may do what in the Bare Metal API (baremetal-allocations spec, 7; where that is silent,
 * ironic 21.4.4). These functions only decide: they know nothing of requests and allocate nothing
 * but an err's text. Any thread.
 *
 * An object that the caller may not see is treated as missing: after ACCESS_HIDDEN the handler sets
 * the err that it uses for missing objects. If the caller may see the object but not perform the
 * operation, err is a 403. */
#ifndef BERTH_BAREMETAL_API_ACCESS_H
#define BERTH_BAREMETAL_API_ACCESS_H

#include "base/err.h"
#include "policy/caller.h"
#include "policy/rules_baremetal.h"

enum access_verdict { ACCESS_ALLOWED, ACCESS_REFUSED, ACCESS_HIDDEN };

/* The caller. */
struct access {
    struct policy_keeper *policies;
    const struct identity *identity;
    bool open; /* everything is allowed except seeing secrets */
    struct policy_attribute about[POLICY_CALLER_ATTRIBUTES];
    unsigned about_count;
};

/* The fields of a node on which access depends; data == NULL: not set. */
struct access_node {
    struct slice owner;
    struct slice lessee;
};

/* The identity must live as long as the access. `open`: there is no authentication, and nobody may
 * see secrets. */
void access_begin(struct access *access, struct policy_keeper *policies,
                  const struct identity *identity, bool open);

/* Whether the rule passes without a target. Sets no err. */
bool access_passes(const struct access *access, enum policy_baremetal_rule rule);

/* The 403 for a rule that failed. Returns false. */
bool access_refuse(enum policy_baremetal_rule rule, struct err *err);

/* Without a target: drivers, conductors, chassis, shards. False: err has the 403. */
bool access_check(const struct access *access, enum policy_baremetal_rule rule,
                  struct err *err) BERTH_MUST_CHECK;

/* Whether the rule passes for this node or allocation; sets no err. With the rules for seeing,
 * POLICY_NODE_GET and POLICY_NODE_ALLOCATION_GET: whether the object exists for the caller. */
bool access_node_passes(const struct access *access, enum policy_baremetal_rule rule,
                        const struct access_node *node);
bool access_allocation_passes(const struct access *access, enum policy_baremetal_rule rule,
                              struct slice owner);

/* Whether the caller may do this to a node, or to an allocation of that owner. */
enum access_verdict access_node(const struct access *access, enum policy_baremetal_rule rule,
                                const struct access_node *node, struct err *err) BERTH_MUST_CHECK;
enum access_verdict access_allocation(const struct access *access, enum policy_baremetal_rule rule,
                                      struct slice owner, struct err *err) BERTH_MUST_CHECK;

/* Whether the caller may delete a node: any node, or one of the caller's own project. */
enum access_verdict access_node_delete(const struct access *access, const struct access_node *node,
                                       struct err *err) BERTH_MUST_CHECK;

/* The rule that one operation of a node's patch requires, by its path ("/extra/a"). `turns_off`:
 * its value reads as false, which matters for automated_clean. */
enum policy_baremetal_rule access_rule_of_patch(struct slice path, bool turns_off);

/* Whether the caller may patch a node: checks the rules of all operations in order. */
enum access_verdict access_node_patch(const struct access *access, const struct access_node *node,
                                      const enum policy_baremetal_rule *rules, unsigned count,
                                      struct err *err) BERTH_MUST_CHECK;

/* Whether the caller may create a node with that owner (data == NULL: none). *effective is the
 * owner that the node gets. False: err has a 403, or a 400 if the owner is another project. */
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

/* Whether the caller may list the objects of the project `wanted` (data == NULL: of all projects).
 * *project is the only project whose objects may be in the answer, data == NULL: any. False: err
 * has the 403. A list of allocations omits those that the caller may not see individually. */
bool access_list(const struct access *access, enum access_list list, struct slice wanted,
                 struct slice *project, struct err *err) BERTH_MUST_CHECK;

struct access_creation {
    struct slice owner;         /* of the new allocation; data == NULL: none */
    struct slice candidates_of; /* candidates that this project neither owns nor leases are treated
                                   as missing; data == NULL: any node may be a candidate */
};

/* Whether the caller may create an allocation with that owner; data == NULL: the request names
 * none. False: err has the 403. */
bool access_allocation_create(const struct access *access, struct slice owner,
                              struct access_creation *creation, struct err *err) BERTH_MUST_CHECK;

/* Values of nodes that the caller may not see. */
enum access_mask {
    ACCESS_DRIVER_SECRETS = 1, /* values in driver_info whose names mark secrets */
    ACCESS_INSTANCE_SECRETS = 2,
    ACCESS_FILTERED = 4, /* the following are decided for each node */
    ACCESS_LAST_ERROR = 8,
    ACCESS_RESERVATION = 16,
    ACCESS_DRIVER_INTERNAL_INFO = 32,
    ACCESS_DRIVER_INFO = 64,
};

/* The masks that apply to all nodes of an answer: the first three. `node`: if the answer is about
 * one node; else NULL. */
unsigned access_masks(const struct access *access, const struct access_node *node);

/* The masks for this node: `masks` and those decided for each node. */
unsigned access_node_masks(const struct access *access, unsigned masks,
                           const struct access_node *node);

/* The text shown instead of a value hidden by one of the last four masks: the whole value for
 * last_error and reservation; the member "content" for the other two, which are objects. */
struct slice access_mask_text(enum access_mask mask);

#endif
