/* What publications have replaced.
 *
 * Invariant: a node born in version b and replaced in version N is freed only when no pinned
 * version is in [b, N). A version that a load replaced has nodes born from its own load on, so it
 * is needed by pins inside that load alone.
 *
 * Debts are paid in their order, as a rule at once. A search may hold a version for minutes; then
 * the waiting nodes are sifted now and then for those that no pinned version has, and versions of
 * other loads are freed whole, so that a long pin costs the memory of one version and not that of
 * everything that is written or loaded meanwhile. What the oldest pinned version has was born
 * before it and replaced after it: that is kept as long as that pin is the oldest, and not looked
 * at again. */
#include <stdlib.h>

#include "base/search.h"
#include "replica/replica_internal.h"

enum { SIFT_NODES_AT_LEAST = 4096, SIFT_SHARE_OF_KEPT = 8 };

/* What one publication replaced. */
struct debt {
    uint64_t number; /* free once no pin is below */
    struct cow_retired nodes;
    size_t bytes;            /* of these, or, if nothing lives on, of all that the version has */
    struct version *version; /* the version before; NULL: freed already */
    bool shares;             /* its nodes live on in its successor, but for those retired */
    bool is_kept;            /* the pin debts.kept_by needs all its nodes */
    struct debt *next;
};

bool pins_need(const struct pins *pins, uint64_t birth, uint64_t number)
{
    size_t at;
    SEARCH_LOWER(at, 0, pins->count, pins->exact[at] < birth);
    return pins->from < number || (at < pins->count && pins->exact[at] < number);
}

void debts_init(struct debts *debts)
{
    *debts = (struct debts){.sift_at = SIFT_NODES_AT_LEAST};
}

void debts_add(struct debts *debts, uint64_t number, struct version *before, bool shares,
               const struct cow_retired *nodes, size_t bytes)
{
    struct debt *debt = calloc(1, sizeof(*debt));
    check(debt != NULL);
    *debt = (struct debt){
        .number = number, .nodes = *nodes, .bytes = bytes, .version = before, .shares = shares};
    if (debts->newest == NULL)
        debts->oldest = debt;
    else
        debts->newest->next = debt;
    debts->newest = debt;
    debts->waiting_nodes += nodes->count;
    debts->whole_count += !shares;
    counter_add(&debts->bytes, bytes);
    counter_add(&debts->count, 1);
}

bool debts_free_part(struct debts *debts)
{
    if (debts->ending == NULL)
        return false;
    if (version_free_part(debts->ending, debts->ending_part))
        debts->ending_part++;
    else
        debts->ending = NULL;
    return true;
}

static void end_version(struct debts *debts, struct version *version)
{
    while (debts_free_part(debts))
        continue;
    debts->ending = version;
    debts->ending_part = 0;
}

static size_t debt_free(struct debts *debts, struct debt *debt)
{
    size_t bytes = debt->bytes;
    counter_add(&debts->count, 0 - (uint64_t)1);
    counter_add(&debts->bytes, 0 - (uint64_t)bytes);
    debts->waiting_nodes -= debt->nodes.count;
    if (debt->is_kept)
        debts->kept_nodes -= debt->nodes.count;
    debts->whole_count -= !debt->shares;
    cow_retired_free(&debt->nodes);
    if (debt->shares)
        free(debt->version);
    else
        end_version(debts, debt->version);
    free(debt);
    return bytes;
}

size_t debts_settle(struct debts *debts, uint64_t oldest_pin)
{
    size_t bytes = 0;
    while (debts->oldest != NULL && debts->oldest->number <= oldest_pin) {
        struct debt *debt = debts->oldest;
        debts->oldest = debt->next;
        bytes += debt_free(debts, debt);
    }
    if (debts->oldest == NULL) {
        debts->newest = NULL;
        debts->sift_at = SIFT_NODES_AT_LEAST;
    }
    return bytes;
}

/* Of a debt that is shared: frees the nodes that nobody needs. */
static size_t sift(struct debts *debts, struct debt *debt, const struct pins *pins)
{
    struct cow_retired *nodes = &debt->nodes;
    size_t kept = 0;
    size_t bytes = 0;
    bool is_kept = debt->number > debts->kept_by;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct cow_node *node = nodes->items[i];
        if (pins_need(pins, node->birth, debt->number)) {
            is_kept = is_kept && node->birth <= debts->kept_by;
            nodes->items[kept++] = nodes->items[i];
            continue;
        }
        bytes += cow_node_bytes(node);
        free(nodes->items[i]);
    }
    debts->waiting_nodes -= nodes->count - kept;
    nodes->count = kept;
    cow_retired_shrink(nodes);
    debt->bytes -= bytes;
    counter_add(&debts->bytes, 0 - (uint64_t)bytes);
    if (debt->version != NULL && !pins_need(pins, debt->version->node.birth, debt->number)) {
        free(debt->version);
        debt->version = NULL;
    }
    debt->is_kept =
        is_kept && (debt->version == NULL || debt->version->node.birth <= debts->kept_by);
    debts->kept_nodes += debt->is_kept ? kept : 0;
    return bytes;
}

/* Frees the debts that are needed no more; of those that share, looks at each node if `sifts`. */
static size_t look_through(struct debts *debts, const struct pins *pins, bool sifts)
{
    size_t bytes = 0;
    struct debt **at = &debts->oldest;
    debts->newest = NULL;
    while (*at != NULL) {
        struct debt *debt = *at;
        if (sifts && debt->shares && !debt->is_kept)
            bytes += sift(debts, debt, pins);
        bool is_needed = debt->shares ? debt->version != NULL || debt->nodes.count > 0
                                      : pins_need(pins, debt->version->load, debt->number);
        if (!is_needed) {
            *at = debt->next;
            bytes += debt_free(debts, debt);
            continue;
        }
        debts->newest = debt;
        at = &debt->next;
    }
    return bytes;
}

size_t debts_drop_loads(struct debts *debts, const struct pins *pins)
{
    return look_through(debts, pins, false);
}

static void keep_for(struct debts *debts, uint64_t pin)
{
    if (pin == debts->kept_by)
        return;
    for (struct debt *debt = debts->oldest; debt != NULL; debt = debt->next)
        debt->is_kept = false;
    debts->kept_nodes = 0;
    debts->kept_by = pin;
}

size_t debts_sift(struct debts *debts, const struct pins *pins)
{
    keep_for(debts, pins->count > 0 ? pins->exact[0] : UINT64_MAX);
    size_t bytes = look_through(debts, pins, true);
    /* Twice as many of those that younger pins have: each node is looked at a few times, however
     * long a version is held. A share of those of the oldest, since all debts are walked. */
    debts->sift_at = SIFT_NODES_AT_LEAST + 2 * (debts->waiting_nodes - debts->kept_nodes) +
                     debts->kept_nodes / SIFT_SHARE_OF_KEPT;
    return bytes;
}

bool debts_are_to_sift(const struct debts *debts)
{
    return debts->waiting_nodes - debts->kept_nodes > debts->sift_at;
}
