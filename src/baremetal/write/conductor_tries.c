/* Allocations of which more is known than is in their rows: which locked nodes they have found, and
 * when to try those again. Kept only in memory; after a restart the search begins again from all
 * nodes.
 *
 * Thousands may wait for the same few nodes, so they are sorted once for each pass and found by
 * binary search. The conductor's thread only, between the requests of its passes. */
#include <stdlib.h>

#include "baremetal/write/conductor_internal.h"
#include "replica/nodes.h"

static int compare(const void *a, const void *b)
{
    const struct conductor_try *one = a;
    const struct conductor_try *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

struct conductor_try *conductor_find_try(struct conductor *conductor, int64_t id, int64_t due_us)
{
    const struct conductor_try key = {.id = id};
    struct conductor_tries *tries = &conductor->tries;
    struct conductor_try *found =
        tries->sorted == 0 ? NULL : bsearch(&key, tries->at, tries->sorted, sizeof(key), compare);
    return found != NULL && found->due_us == due_us ? found : NULL;
}

static struct conductor_try *conductor_tries_append(struct conductor_tries *tries)
{
    if (tries->count == tries->capacity) {
        tries->capacity = tries->capacity == 0 ? 16 : 2 * tries->capacity;
        tries->at = reallocarray(tries->at, tries->capacity, sizeof(*tries->at));
        check(tries->at != NULL);
    }
    return &tries->at[tries->count++];
}

void conductor_keep_try(struct conductor *conductor, struct conductor_job *job, int64_t next_us)
{
    struct conductor_try *found = conductor_find_try(conductor, job->id, job->due_us);
    if (found == NULL)
        found = conductor_tries_append(&conductor->tries);
    else
        node_choice_free(&found->choice);
    *found = (struct conductor_try){job->id, job->due_us, next_us, job->choice};
    job->choice = (struct node_choice){0};
}

static bool conductor_tries_is_wanted(const struct version *version, const struct conductor_try *at)
{
    const struct node_allocation *row = version_node_allocation(version, at->id);
    return row != NULL && node_allocation_text_is(row, NODE_ALLOCATION_STATE, "allocating") &&
           node_allocation_time(row, NODE_ALLOCATION_DUE_AT) == at->due_us;
}

void conductor_tidy_tries(struct conductor *conductor, const struct version *version)
{
    struct conductor_tries *tries = &conductor->tries;
    size_t kept = 0;
    for (size_t i = 0; i < tries->count; i++) {
        if (conductor_tries_is_wanted(version, &tries->at[i]))
            tries->at[kept++] = tries->at[i];
        else
            node_choice_free(&tries->at[i].choice);
    }
    bool has_new = tries->count > tries->sorted;
    tries->count = tries->sorted = kept;
    if (has_new && kept > 0)
        qsort(tries->at, kept, sizeof(*tries->at), compare);
}

void conductor_free_tries(struct conductor *conductor)
{
    for (size_t i = 0; i < conductor->tries.count; i++)
        node_choice_free(&conductor->tries.at[i].choice);
    free(conductor->tries.at);
}
