/* What publications have replaced.
 *
 * Invariant: a node born in version b and replaced in version N is freed only when no pinned
 * version is in [b, N). A version that a load replaced has only nodes born since its own load, so
 * only pins on versions between the two loads need it.
 *
 * Garbage is collected in the order of publication, usually at once. If a search holds a version
 * for minutes, the waiting nodes are scanned now and then for those that no pinned version has, and
 * versions of other loads are freed whole. So a long pin costs the memory of one version rather
 * than of everything that is written or loaded meanwhile. The nodes of the oldest pinned version
 * were born before it and replaced after it; they are marked as kept while that pin is the oldest,
 * and are not checked again. */
#include <stdlib.h>

#include "base/search.h"
#include "replica/replica_internal.h"

enum { SIFT_NODES_AT_LEAST = 4096, SIFT_SHARE_OF_KEPT = 8 };

/* The nodes or the version that one publication replaced. */
struct garbage_item {
    uint64_t number; /* can be freed when no pin is below this */
    struct cow_retired nodes;
    size_t bytes;            /* of these nodes, or, if the successor shares none, of the whole
                              * version */
    struct version *version; /* the previous version; NULL: already freed */
    bool shares;             /* its successor has all its nodes except the retired ones */
    bool is_kept;            /* the pin garbage.kept_by needs all its nodes */
    struct garbage_item *next;
};

bool pins_need(const struct pins *pins, uint64_t birth, uint64_t number)
{
    size_t at;
    SEARCH_LOWER(at, 0, pins->count, pins->exact[at] < birth);
    return pins->from < number || (at < pins->count && pins->exact[at] < number);
}

void garbage_init(struct garbage *garbage)
{
    *garbage = (struct garbage){.sift_at = SIFT_NODES_AT_LEAST};
}

void garbage_add(struct garbage *garbage, uint64_t number, struct version *before, bool shares,
                 const struct cow_retired *nodes, size_t bytes)
{
    struct garbage_item *item = calloc(1, sizeof(*item));
    check(item != NULL);
    *item = (struct garbage_item){
        .number = number, .nodes = *nodes, .bytes = bytes, .version = before, .shares = shares};
    if (garbage->newest == NULL)
        garbage->oldest = item;
    else
        garbage->newest->next = item;
    garbage->newest = item;
    garbage->waiting_nodes += nodes->count;
    garbage->whole_count += !shares;
    counter_add(&garbage->bytes, bytes);
    counter_add(&garbage->count, 1);
}

bool garbage_free_part(struct garbage *garbage)
{
    if (garbage->ending == NULL)
        return false;
    if (version_free_part(garbage->ending, garbage->ending_part))
        garbage->ending_part++;
    else
        garbage->ending = NULL;
    return true;
}

static void end_version(struct garbage *garbage, struct version *version)
{
    while (garbage_free_part(garbage))
        continue;
    garbage->ending = version;
    garbage->ending_part = 0;
}

static size_t garbage_item_free(struct garbage *garbage, struct garbage_item *item)
{
    size_t bytes = item->bytes;
    counter_add(&garbage->count, 0 - (uint64_t)1);
    counter_add(&garbage->bytes, 0 - (uint64_t)bytes);
    garbage->waiting_nodes -= item->nodes.count;
    if (item->is_kept)
        garbage->kept_nodes -= item->nodes.count;
    garbage->whole_count -= !item->shares;
    cow_retired_free(&item->nodes);
    if (item->shares)
        free(item->version);
    else
        end_version(garbage, item->version);
    free(item);
    return bytes;
}

size_t garbage_collect(struct garbage *garbage, uint64_t oldest_pin)
{
    size_t bytes = 0;
    while (garbage->oldest != NULL && garbage->oldest->number <= oldest_pin) {
        struct garbage_item *item = garbage->oldest;
        garbage->oldest = item->next;
        bytes += garbage_item_free(garbage, item);
    }
    if (garbage->oldest == NULL) {
        garbage->newest = NULL;
        garbage->sift_at = SIFT_NODES_AT_LEAST;
    }
    return bytes;
}

/* Frees those nodes of a shared item that no pinned version needs. */
static size_t sift(struct garbage *garbage, struct garbage_item *item, const struct pins *pins)
{
    struct cow_retired *nodes = &item->nodes;
    size_t kept = 0;
    size_t bytes = 0;
    bool is_kept = item->number > garbage->kept_by;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct cow_node *node = nodes->items[i];
        if (pins_need(pins, node->birth, item->number)) {
            is_kept = is_kept && node->birth <= garbage->kept_by;
            nodes->items[kept++] = nodes->items[i];
            continue;
        }
        bytes += cow_node_bytes(node);
        free(nodes->items[i]);
    }
    garbage->waiting_nodes -= nodes->count - kept;
    nodes->count = kept;
    cow_retired_shrink(nodes);
    item->bytes -= bytes;
    counter_add(&garbage->bytes, 0 - (uint64_t)bytes);
    if (item->version != NULL && !pins_need(pins, item->version->node.birth, item->number)) {
        free(item->version);
        item->version = NULL;
    }
    item->is_kept =
        is_kept && (item->version == NULL || item->version->node.birth <= garbage->kept_by);
    garbage->kept_nodes += item->is_kept ? kept : 0;
    return bytes;
}

/* Frees the items that are not needed any more and, if `sifts`, checks each node of the shared
 * ones. */
static size_t look_through(struct garbage *garbage, const struct pins *pins, bool sifts)
{
    size_t bytes = 0;
    struct garbage_item **at = &garbage->oldest;
    garbage->newest = NULL;
    while (*at != NULL) {
        struct garbage_item *item = *at;
        if (sifts && item->shares && !item->is_kept)
            bytes += sift(garbage, item, pins);
        bool is_needed = item->shares ? item->version != NULL || item->nodes.count > 0
                                      : pins_need(pins, item->version->load, item->number);
        if (!is_needed) {
            *at = item->next;
            bytes += garbage_item_free(garbage, item);
            continue;
        }
        garbage->newest = item;
        at = &item->next;
    }
    return bytes;
}

size_t garbage_drop_loads(struct garbage *garbage, const struct pins *pins)
{
    return look_through(garbage, pins, false);
}

static void keep_for(struct garbage *garbage, uint64_t pin)
{
    if (pin == garbage->kept_by)
        return;
    for (struct garbage_item *item = garbage->oldest; item != NULL; item = item->next)
        item->is_kept = false;
    garbage->kept_nodes = 0;
    garbage->kept_by = pin;
}

size_t garbage_sift(struct garbage *garbage, const struct pins *pins)
{
    keep_for(garbage, pins->count > 0 ? pins->exact[0] : UINT64_MAX);
    size_t bytes = look_through(garbage, pins, true);
    /* Twice as many as younger pins keep, so that each node is checked only a few times however
     * long a version is held. Plus a share of those that the oldest pin keeps, because a scan
     * visits all garbage. */
    garbage->sift_at = SIFT_NODES_AT_LEAST + 2 * (garbage->waiting_nodes - garbage->kept_nodes) +
                       garbage->kept_nodes / SIFT_SHARE_OF_KEPT;
    return bytes;
}

bool garbage_is_to_sift(const struct garbage *garbage)
{
    return garbage->waiting_nodes - garbage->kept_nodes > garbage->sift_at;
}
