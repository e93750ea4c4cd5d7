/* The sums behind GET /usages, and those of strays. They are updated with the consumers that they
 * sum (apply_consumers.c), in the same edit. */
#include "replica/usage.h"

static void usage_add(struct cow *cow, struct ptree *tree, uint64_t k1, uint64_t k2, int64_t amount)
{
    uint64_t before = 0;
    ptree_find(tree, k1, k2, &before);
    int64_t after = (int64_t)before + amount;
    if (after == 0)
        ptree_remove(cow, tree, k1, k2);
    else
        ptree_set(cow, tree, k1, k2, (uint64_t)after);
}

static uint64_t owner_key(const struct consumer *consumer)
{
    return (uint64_t)consumer->project << 32 | consumer->user;
}

static uint64_t type_key(const struct consumer *consumer)
{
    return (uint64_t)(uint32_t)(consumer->type + 1) << 32;
}

void usage_account_allocation(struct cow *cow, struct version *version,
                              const struct consumer *consumer,
                              const struct consumer_allocation *allocation, bool first)
{
    uint64_t k1 = owner_key(consumer);
    uint64_t type = type_key(consumer);
    version->allocation_count++;
    if (first)
        usage_add(cow, &version->usages, k1, type, 1);
    usage_add(cow, &version->usages, k1, type | (allocation->class_no.v + 1), allocation->used);
}

void usage_account(struct cow *cow, struct version *version, const struct consumer *consumer,
                   int sign)
{
    if (consumer->allocation_count == 0)
        return;
    version->allocation_count += (uint64_t)(sign * (int64_t)consumer->allocation_count);
    uint64_t k1 = owner_key(consumer);
    uint64_t type = type_key(consumer);
    usage_add(cow, &version->usages, k1, type, sign);
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *allocation = &consumer->allocation[i];
        usage_add(cow, &version->usages, k1, type | (allocation->class_no.v + 1),
                  sign * allocation->used);
    }
}

void usage_of_project(const struct version *version, uint32_t project, uint32_t user,
                      usage_visit *visit, void *cls)
{
    uint64_t first = (uint64_t)project << 32 | (user == NUMBER_NONE ? 0 : user);
    uint64_t last = (uint64_t)project << 32 | user; /* NUMBER_NONE is the largest */
    struct ptree_iter iter;
    ptree_seek(&version->usages, first, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL && entry->k1 <= last) {
        struct usage_row row = {
            .user = (uint32_t)entry->k1,
            .type = (uint32_t)(entry->k2 >> 32) - 1,
            .class_no = {(uint32_t)entry->k2 - 1},
            .amount = (int64_t)entry->value,
        };
        if (!visit(cls, &row))
            return;
        ptree_iter_next(&iter);
    }
}

int64_t usage_stray(const struct version *version, struct provider_no provider,
                    struct class_no class_no)
{
    uint64_t amount = 0;
    ptree_find(&version->stray_uses, provider.v, class_no.v, &amount);
    return (int64_t)amount;
}

void usage_stray_add(struct cow *cow, struct version *version, struct provider_no provider,
                     struct class_no class_no, int64_t amount)
{
    if (amount != 0)
        usage_add(cow, &version->stray_uses, provider.v, class_no.v, amount);
}

int64_t usage_stray_take(struct cow *cow, struct version *version, struct provider_no provider,
                         struct class_no class_no)
{
    int64_t amount = usage_stray(version, provider, class_no);
    if (amount != 0)
        ptree_remove(cow, &version->stray_uses, provider.v, class_no.v);
    return amount;
}
