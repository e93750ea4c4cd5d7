/* Sums of allocations, kept up to date so that no query has to walk the consumers.
 *
 * By project, user, consumer type and class: version.usages. Key: k1 = project << 32 | user; k2 =
 * (type + 1) << 32 | (class + 1), where type NUMBER_NONE counts as 0, and for class part 0 the sum
 * is the number of consumers that have allocations. Zero sums are absent.
 *
 * By provider and class, where the provider has no inventory that could store the sum (its `used`):
 * version.stray_uses. Such allocations were made by other programs, or their inventory is being
 * read again and has been removed for the moment. Key: (provider number, class number). Zero sums
 * are absent. */
#ifndef BERTH_REPLICA_USAGE_H
#define BERTH_REPLICA_USAGE_H

#include "replica/version.h"

struct usage_row {
    uint32_t user;
    uint32_t type;            /* NUMBER_NONE: unknown */
    struct class_no class_no; /* NUMBER_NONE: the row counts consumers */
    int64_t amount;
};

/* Adds a consumer's allocations to the sums (sign 1) or subtracts them (-1). Called by the writer
 * only, as below, before and after a change of the consumer's owner or allocations. */
void usage_account(struct cow *cow, struct version *version, const struct consumer *consumer,
                   int sign);

/* Adds one allocation that the consumer has just received; `first`: it had none. */
void usage_account_allocation(struct cow *cow, struct version *version,
                              const struct consumer *consumer,
                              const struct consumer_allocation *allocation, bool first);

/* Calls `visit` for each sum of a project, or of one of its users (user != NUMBER_NONE), in the
 * order of user, type, class (numbers in their catalogs); ends when `visit` returns false. Any
 * thread, on a pinned version. */
typedef bool usage_visit(void *cls, const struct usage_row *row);
void usage_of_project(const struct version *version, uint32_t project, uint32_t user,
                      usage_visit *visit, void *cls);

/* The amount allocated of a class of which the provider has no inventory. Any thread. */
int64_t usage_stray(const struct version *version, struct provider_no provider,
                    struct class_no class_no);

/* Add to that amount or subtract from it; or take all of it, for an inventory that is inserted. The
 * writer only. */
void usage_stray_add(struct cow *cow, struct version *version, struct provider_no provider,
                     struct class_no class_no, int64_t amount);
int64_t usage_stray_take(struct cow *cow, struct version *version, struct provider_no provider,
                         struct class_no class_no);

#endif
