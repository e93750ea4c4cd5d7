/* Finds one node. The version has an index of the free nodes of each class. The search begins at a
 * random place in it and takes the first suitable node, so that it costs the same in a large pool.
 * Only if none is suitable has it examined all, and can report what was missing. The writer
 * only. */
#include "baremetal/write/node_choice.h"

#include <stdlib.h>

#include "baremetal/write/node_provider.h"
#include "baremetal/write/node_rule.h"
#include "base/arena.h"
#include "base/buf.h"

void node_choice_free(struct node_choice *choice)
{
    free(choice->locked_ids);
    *choice = (struct node_choice){0};
}

/* How many nodes are left after each condition. */
struct search {
    const struct node_allocation *allocation;
    struct node_choice *choice;
    const struct plan *plan;
    const struct node *tried; /* before all others */
    size_t candidates;        /* available, of the class, of the owner, not held */
    struct slice *traits;     /* requested, each once, in the plan's arena */
    size_t trait_count;
};

static void remember_locked(struct node_choice *choice, int64_t id)
{
    if (choice->locked_count >= NODE_CHOICE_LOCKED_MAX) {
        choice->locked_count++;
        return;
    }
    if (choice->locked_count == choice->locked_capacity) {
        choice->locked_capacity = choice->locked_capacity == 0 ? 8 : 2 * choice->locked_capacity;
        choice->locked_ids =
            reallocarray(choice->locked_ids, choice->locked_capacity, sizeof(int64_t));
        check(choice->locked_ids != NULL);
    }
    choice->locked_ids[choice->locked_count++] = id;
}

static bool is_of(const struct node *node, enum node_field field, struct slice owner)
{
    struct slice text = node_text(node, field);
    return text.data != NULL && slice_equal(text, owner);
}

static bool owner_fits(const struct search *search, const struct node *node)
{
    struct slice owner = node_allocation_text(search->allocation, NODE_ALLOCATION_OWNER);
    return owner.data == NULL || is_of(node, NODE_OWNER, owner) || is_of(node, NODE_LESSEE, owner);
}

/* C3. The allocation's own consumer, which may be older than the allocation, does not count. A
 * provider that the node would adopt counts already. */
static bool is_held(const struct search *search, const struct node *node)
{
    const struct plan *plan = search->plan;
    if (!plan_metal(plan)->mirror)
        return false;
    const struct provider *provider = node_provider(plan->version, node);
    return provider == NULL ||
           node_holder(plan->version, plan->rules, provider,
                       node_taker_of(search->allocation, plan_metal(plan)), NULL) != NULL;
}

static const struct consumer *consumer_of(const struct search *search)
{
    const struct plan *plan = search->plan;
    const struct consumer *consumer =
        plan_metal(plan)->mirror
            ? version_consumer(plan->version,
                               node_allocation_text(search->allocation, NODE_ALLOCATION_UUID))
            : NULL;
    return consumer != NULL && consumer->allocation_count > 0 ? consumer : NULL;
}

/* Whether a rule of another product, such as Valet's exclusivity, refuses the project of the
 * consumer that the allocation would get. A consumer that exists already gets nothing new. */
static bool is_refused(const struct search *search, const struct node *node)
{
    const struct plan *plan = search->plan;
    const struct version *version = plan->version;
    if (!plan_metal(plan)->mirror || consumer_of(search) != NULL)
        return false;
    const struct provider *provider = node_provider(version, node);
    struct slice owner = node_allocation_text(search->allocation, NODE_ALLOCATION_OWNER);
    return provider != NULL &&
           rules_refuse_host(plan->rules, version, version_provider(version, provider->root),
                             owner.len > 0 ? owner : plan_metal(plan)->incomplete_project_id);
}

static bool class_fits(const struct search *search, const struct node *node)
{
    struct slice wanted = node_allocation_text(search->allocation, NODE_ALLOCATION_RESOURCE_CLASS);
    return is_of(node, NODE_RESOURCE_CLASS, wanted);
}

static bool traits_fit(const struct search *search, const struct node *node)
{
    for (size_t i = 0; i < search->trait_count; i++)
        if (!record_has_word(node_text(node, NODE_TRAITS), search->traits[i]))
            return false;
    return true;
}

/* Whether the allocation can take this node; counts the node, and notes it if it is only locked. */
static bool try_node(struct search *search, const struct node *node)
{
    if (node == search->tried || !node_is_free(node) || !class_fits(search, node) ||
        !owner_fits(search, node) || is_held(search, node) || is_refused(search, node))
        return false;
    search->candidates++;
    if (!traits_fit(search, node))
        return false;
    if (node_is_null(node, NODE_RESERVATION))
        return true;
    remember_locked(search->choice, node->record.id);
    return false;
}

/* A number that is the same for every search of one allocation and arbitrary otherwise. */
static uint64_t number_of(const struct node_allocation *allocation)
{
    struct slice uuid = node_allocation_text(allocation, NODE_ALLOCATION_UUID);
    uint64_t number = 0xcbf29ce484222325u;
    for (size_t i = 0; i < uuid.len; i++)
        number = (number ^ (unsigned char)uuid.data[i]) * 0x100000001b3u;
    return number ^ number >> 32;
}

/* By their positions in the text that contains both. */
static int compare_places(const void *a, const void *b)
{
    const struct slice *one = a;
    const struct slice *other = b;
    return (one->data > other->data) - (one->data < other->data);
}

/* Equal words in the order of the text. */
static int compare_words(const void *a, const void *b)
{
    const struct slice *one = a;
    const struct slice *other = b;
    int order = memcmp(one->data, other->data, one->len < other->len ? one->len : other->len);
    if (order == 0)
        order = (one->len > other->len) - (one->len < other->len);
    return order != 0 ? order : compare_places(a, b);
}

/* The words, each once and sorted, in the arena. */
static struct slice *distinct_words(struct slice words, struct arena *arena, size_t *count)
{
    struct slice rest = words;
    struct slice word;
    size_t all = 0;
    while (record_next_word(&rest, &word))
        all++;
    struct slice *found = arena_array(arena, all, sizeof(*found));
    for (size_t i = 0; record_next_word(&words, &word); i++)
        found[i] = word;
    qsort(found, all, sizeof(*found), compare_words);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (i == 0 || !slice_equal(found[i], found[*count - 1]))
            found[(*count)++] = found[i];
    return found;
}

/* Clients choose how many traits they request and may repeat them. Each is looked up once in a
 * node, in the order of the request; the search in a node stops at the first that is missing. */
static void gather_traits(struct search *search)
{
    search->traits =
        distinct_words(node_allocation_text(search->allocation, NODE_ALLOCATION_TRAITS),
                       search->plan->arena, &search->trait_count);
    qsort(search->traits, search->trait_count, sizeof(*search->traits), compare_places);
}

static const struct node *search_candidates(struct search *search)
{
    size_t count;
    struct slice *uuids =
        distinct_words(node_allocation_text(search->allocation, NODE_ALLOCATION_CANDIDATE_NODES),
                       search->plan->arena, &count);
    uint64_t start = number_of(search->allocation);
    for (size_t i = 0; i < count; i++) {
        const struct node *node =
            version_node_by_uuid(search->plan->version, uuids[(start + i) % count]);
        if (node != NULL && try_node(search, node))
            return node;
    }
    return NULL;
}

static const struct node *search_class(struct search *search)
{
    const struct version *version = search->plan->version;
    struct slice class = node_allocation_text(search->allocation, NODE_ALLOCATION_RESOURCE_CLASS);
    const struct node *first = version_next_node(version, 0);
    if (first == NULL)
        return NULL;
    uint64_t before = (uint64_t)first->record.id - 1;
    uint64_t range = ptree_last(&version->nodes)->k1 - before;
    int64_t start = (int64_t)(before + number_of(search->allocation) % range);
    const struct node *node = version_next_node_of_class(version, class, start);
    for (; node != NULL; node = version_next_node_of_class(version, class, node->record.id))
        if (try_node(search, node))
            return node;
    node = version_next_node_of_class(version, class, 0);
    for (; node != NULL && node->record.id <= start;
         node = version_next_node_of_class(version, class, node->record.id))
        if (try_node(search, node))
            return node;
    return NULL;
}

static bool has_candidates(const struct search *search)
{
    return node_allocation_text(search->allocation, NODE_ALLOCATION_CANDIDATE_NODES).len > 0;
}

static bool is_candidate(const struct search *search, const struct node *node)
{
    return !has_candidates(search) ||
           record_has_word(
               node_allocation_text(search->allocation, NODE_ALLOCATION_CANDIDATE_NODES),
               node_text(node, NODE_UUID));
}

/* A node with the allocation's own name is tried first. */
static const struct node *search_name(struct search *search)
{
    struct slice name = node_allocation_text(search->allocation, NODE_ALLOCATION_NAME);
    const struct node *node =
        name.data == NULL ? NULL : version_node_by_name(search->plan->version, name);
    if (node == NULL || !is_candidate(search, node))
        return NULL;
    if (try_node(search, node))
        return node;
    search->tried = node;
    return NULL;
}

/* C4: a consumer with that uuid already holds a node in Placement, so no other node is suitable. */
static const struct node *search_held(struct search *search, bool *is_bound)
{
    const struct plan *plan = search->plan;
    const struct consumer *consumer = consumer_of(search);
    *is_bound = consumer != NULL;
    if (!*is_bound || rules_own_consumer(plan->rules, plan->version, consumer_uuid(consumer)))
        return NULL;
    const struct provider *provider =
        version_provider(plan->version, consumer->allocation[0].provider);
    const struct node *node = node_of_provider(plan->version, provider);
    if (node == NULL || !node_is_held_by(plan->version, node, consumer, plan->arena) ||
        !is_candidate(search, node) || !try_node(search, node))
        return NULL;
    return node;
}

static struct slice shown_class(const struct node_allocation *allocation)
{
    struct slice class = node_allocation_text(allocation, NODE_ALLOCATION_RESOURCE_CLASS);
    return class.data == NULL ? SLICE_LIT("None") : class;
}

static struct slice joined_traits(const struct search *search)
{
    struct buf text = {0};
    for (size_t i = 0; i < search->trait_count; i++) {
        if (i > 0)
            buf_append_lit(&text, ", ");
        buf_append_slice(&text, search->traits[i]);
    }
    struct slice joined = arena_copy(search->plan->arena, buf_slice(&text));
    buf_free(&text);
    return joined;
}

static struct slice failed(const struct search *search, struct slice why)
{
    return arena_printf(search->plan->arena, "Failed to process allocation %.*s: %.*s.",
                        SLICE_ARG(node_allocation_text(search->allocation, NODE_ALLOCATION_UUID)),
                        SLICE_ARG(why));
}

static struct slice reason_of(const struct search *search)
{
    struct arena *arena = search->plan->arena;
    struct slice class = shown_class(search->allocation);
    if (search->candidates > 0)
        return failed(search,
                      arena_printf(arena, "no suitable nodes have the requested traits %.*s",
                                   SLICE_ARG(joined_traits(search))));
    if (has_candidates(search))
        return failed(search, arena_printf(arena,
                                           "none of the requested nodes are available and match "
                                           "the resource class %.*s",
                                           SLICE_ARG(class)));
    return failed(search, arena_printf(arena, "no available nodes match the resource class %.*s",
                                       SLICE_ARG(class)));
}

static struct slice bound_reason(const struct search *search)
{
    return arena_printf(
        search->plan->arena,
        "Unexpected exception during allocation: Instance %.*s already has allocations in "
        "Placement",
        SLICE_ARG(node_allocation_text(search->allocation, NODE_ALLOCATION_UUID)));
}

static const struct node *search_all(struct search *search)
{
    const struct node *node = search_name(search);
    if (node != NULL)
        return node;
    return has_candidates(search) ? search_candidates(search) : search_class(search);
}

/* Nodes that were locked before. A node that is not suitable any more is dropped, and so is another
 * one that has its id by now. */
static const struct node *search_again(struct search *search)
{
    struct node_choice *choice = search->choice;
    size_t before = choice->locked_count;
    choice->locked_count = 0; /* each entry kept is written at or before the one being read */
    if (before > NODE_CHOICE_LOCKED_MAX)
        return search_all(search);
    for (size_t i = 0; i < before; i++) {
        const struct node *node = version_node(search->plan->version, choice->locked_ids[i]);
        if (node != NULL && try_node(search, node) && is_candidate(search, node))
            return node;
    }
    return NULL;
}

/* After a search that found nothing: whether to wait for locked nodes. */
static struct slice after_try(struct search *search, struct slice none)
{
    struct node_choice *choice = search->choice;
    choice->rounds++;
    if (choice->locked_count == 0)
        return none;
    if (choice->rounds < plan_metal(search->plan)->locked_retry_attempts)
        return (struct slice){0};
    return failed(search,
                  arena_printf(search->plan->arena, "could not reserve any of %zu suitable nodes",
                               choice->locked_count));
}

const struct node *node_choose(const struct node_allocation *allocation, struct node_choice *choice,
                               const struct plan *plan, struct slice *reason)
{
    struct search search = {.allocation = allocation, .choice = choice, .plan = plan};
    const struct node *node;
    *reason = (struct slice){0};
    gather_traits(&search);
    if (choice->rounds > 0) {
        node = search_again(&search);
        if (node == NULL)
            *reason = after_try(
                &search,
                failed(&search, SLICE_LIT("all nodes were filtered out during reservation")));
        return node;
    }
    bool is_bound;
    node = search_held(&search, &is_bound);
    if (node == NULL && is_bound) {
        *reason = after_try(&search, bound_reason(&search));
        return NULL;
    }
    if (node == NULL)
        node = search_all(&search);
    if (node == NULL)
        *reason = after_try(&search, reason_of(&search));
    return node;
}
