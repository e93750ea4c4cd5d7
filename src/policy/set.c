/* Lookup in a policy, and its reference count. Any thread that holds it. */
#include "policy/set.h"

#include <stdlib.h>

static int set_by_name(const void *left, const void *right)
{
    return slice_compare(&((const struct policy_entry *)left)->name,
                         &((const struct policy_entry *)right)->name);
}

const struct policy_entry *policy_find(const struct policy_set *set, struct slice name)
{
    struct policy_entry key = {.name = name};
    const struct policy_entry *found =
        bsearch(&key, set->entries, set->entry_count, sizeof(key), set_by_name);
    return found != NULL ? found : set->fallback;
}

void policy_hold(struct policy *policy)
{
    atomic_fetch_add_explicit(&policy->holders, 1, memory_order_relaxed);
}

void policy_release(struct policy *policy)
{
    if (atomic_fetch_sub_explicit(&policy->holders, 1, memory_order_acq_rel) == 1)
        arena_destroy(policy->arena);
}
