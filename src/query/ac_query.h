/* A query whose names have been resolved: ac_resolve.c makes it and the other ac_ files use it. */
#ifndef BERTH_QUERY_AC_QUERY_H
#define BERTH_QUERY_AC_QUERY_H

#include "base/arena.h"
#include "base/err.h"
#include "query/ac_none.h"
#include "query/ac_request.h"
#include "query/budget.h"
#include "query/fit.h"

struct ac_query_group {
    const struct ac_group *requested;
    bool is_granular; /* one provider serves everything (a suffixed group) */
    struct fit_demand *demands;
    uint32_t demand_count;
    struct fit_filter traits;     /* granular: of the provider. Otherwise `any` is met together, and
                                   * `none` excludes nothing */
    struct fit_filter aggregates; /* granular: of the provider; otherwise of the provider or its
                                   * root */
    bool in_tree;
    uint32_t tree_root;
    uint32_t tree_end;
    uint32_t set_count; /* of traits and aggregates together */
    enum ac_none none;  /* not AC_NONE_FOUND_SOME: known without examining any provider */
    uint32_t first_level;
    uint32_t level_count;
};

/* The requirements of one or more levels: a provider that can serve one of these levels can serve
 * each of them. */
struct ac_kind {
    uint32_t group; /* of its first level */
    const struct fit_demand *demands;
    uint32_t demand_count;
    bool can_share;    /* some sharing provider can serve it, so that trees without own providers
                        * can be anchors */
    uint64_t **pages;  /* by page: 64 words of the slots that can serve it, NULL until needed */
    uint64_t *sharing; /* by index in ac_query.sharing: one bit per provider */
    uint64_t *options; /* in the current tree: bits as numbered in struct ac_tree */
};

/* One choice: a provider for one class of the unsuffixed group, or for a granular group. */
struct ac_level {
    uint32_t group;
    struct ac_kind *kind;
    const struct fit_demand *demands;
    uint32_t demand_count;
    bool shares_class; /* another level requests one of these classes, too, so amounts may add up */
    bool has_twin;     /* another level could be exchanged with it without any other change */
    uint32_t twin;     /* the last one before it; NUMBER_NONE: none */
    uint32_t *subtrees; /* the subtrees that contain it, ascending */
    uint32_t subtree_count;
};

/* The current tree. Its providers are numbered as bits: bit b is slot `base` + b; after `own_words`
 * words come the sharing providers of other trees, in the order of ac_query.tree_sharing. */
struct ac_tree {
    uint32_t base; /* a multiple of 64 */
    uint32_t own_words;
    uint32_t words;
    uint32_t capacity; /* number of words allocated */
};

/* Groups whose providers must be in one subtree whose root is one of these providers. */
struct ac_subtree {
    uint32_t *levels;
    uint32_t level_count;
};

/* A sharing provider, listed under one of its aggregates. */
struct ac_shared {
    uint32_t aggregate;
    uint32_t index; /* in ac_query.sharing */
};

struct ac_kept_page {
    uint32_t kind;
    uint32_t page;
};

struct ac_contests;

struct ac_query {
    const struct version *version;
    const struct ac_request *request;
    struct arena *arena;
    struct budget *budget;
    struct ac_query_group *groups;
    uint32_t group_count;
    struct ac_level *levels;
    uint32_t level_count;
    struct ac_kind *kinds;
    uint32_t kind_count;
    uint32_t driver; /* a kind of which a tree must have a slot because no sharing provider serves
                      * it; NUMBER_NONE: none */
    bool has_twins;
    struct ac_contests *contests; /* NULL: not searched for, or none found */
    bool may_contest;             /* contests are possible but have not been searched for */
    bool is_wide; /* in each tree they are matched before the first choice, because a failure is
                   * likely */
    struct ac_tree tree;
    struct ac_subtree *subtrees;
    uint32_t subtree_count;
    struct fit_filter roots; /* root_required */
    bool isolate;
    bool nested_aware;
    bool is_flat;  /* no trees, no sharing: a candidate is one provider, and the pages account for
                    * every filter */
    bool is_plain; /* flat, and no group affects another: each provider in the pages of all levels
                    * makes exactly one candidate */
    uint32_t page_count;
    struct ac_kept_page *kept_pages; /* used if there may be more pages than are kept */
    uint32_t kept_page_count;
    size_t kept_page_capacity;
    uint32_t oldest_page; /* in kept_pages, once their number has reached the maximum */
    uint32_t *sharing;    /* slots of the sharing providers that can serve some level, ascending */
    uint32_t sharing_count;
    struct ac_shared *shared; /* ascending by aggregate */
    uint32_t shared_count;
    uint32_t *tree_sharing; /* indexes of the ones with which the current tree shares an
                             * aggregate */
    uint32_t tree_sharing_count;
    uint64_t *tree_sharing_seen;
    size_t kept_bytes; /* of everything that grows with the candidates or with a tree */
    bool is_too_large; /* kept_bytes would exceed the maximum */
    enum ac_none none; /* known from the names, or the last rule that the walk found broken */
    bool lacks_traits; /* the walk found combinations that lacked only required traits */
};

enum ac_resolved {
    AC_RESOLVED,
    AC_RESOLVED_EMPTY, /* no candidate can exist */
    AC_RESOLVED_ERROR, /* err is set */
    AC_RESOLVED_EXPENSIVE,
};

/* Resolves names in the order in which the Python service does, so that an earlier group without a
 * match gives an empty answer before a later group's unknown name is an error (candidates spec,
 * item 13). */
enum ac_resolved ac_resolve(const struct version *version, const struct ac_request *request,
                            struct arena *arena, struct budget *budget, struct ac_query *query,
                            struct err *err) BERTH_MUST_CHECK;

/* FIT_WORDS words of the slots of a page that can serve a kind, ignoring conditions that depend on
 * the tree's root. Valid until the next call. */
const uint64_t *ac_kind_page(struct ac_query *query, uint32_t kind, uint32_t page);

/* Clears the bits of a page that are outside the slots [from, end). */
void ac_keep_interval(uint32_t page, uint32_t from, uint32_t end, uint64_t words[FIT_WORDS]);

/* For a plain query: the slots of a page that are candidates. False: the budget ran out. */
bool ac_plain_page(struct ac_query *query, uint32_t page, uint64_t words[FIT_WORDS]);

/* Lays out levels, kinds and sharing providers of a resolved query. False: the budget ran out. */
bool ac_levels(struct ac_query *query) BERTH_MUST_CHECK;

/* Finds for each level the subtrees that contain it, and its twin. False: the budget ran out. */
bool ac_levels_subtrees(struct ac_query *query) BERTH_MUST_CHECK;

/* Whether the query is known to have no candidate. Also false if the budget ran out. */
bool ac_query_is_empty(struct ac_query *query);

/* Iterates over the anchors: the trees that may have candidates. Begin with *root = 0. True: *root
 * is the next anchor's slot, and the options of every kind in it are set. */
bool ac_next_anchor(struct ac_query *query, uint32_t *root);

/* Sets the options of every kind for the tree at `root`; false: a kind has none, or the budget ran
 * out. */
bool ac_set_options(struct ac_query *query, uint32_t root);

/* The first option at or after bit `from` that is not in `without` (NULL: empty); NUMBER_NONE:
 * none. */
static inline uint32_t ac_next_option(const struct ac_tree *tree, const uint64_t *options,
                                      const uint64_t *without, uint32_t from)
{
    uint32_t w = from / 64;
    if (w >= tree->words)
        return NUMBER_NONE;
    uint64_t word = options[w] & ~(uint64_t)0 << (from % 64);
    for (;;) {
        if (without != NULL)
            word &= ~without[w];
        if (word != 0)
            return w * 64 + (uint32_t)__builtin_ctzll(word);
        if (++w >= tree->words)
            return NUMBER_NONE;
        word = options[w];
    }
}

/* The slot of a bit of the current tree. */
static inline uint32_t ac_option_slot(const struct ac_query *query, uint32_t bit)
{
    return bit < query->tree.own_words * 64
               ? query->tree.base + bit
               : query->sharing[query->tree_sharing[bit - query->tree.own_words * 64]];
}

static inline void ac_charge(struct ac_query *query, int64_t steps)
{
    query->budget->left -= steps;
}

/* Whether that many more bytes may be kept; false: the budget has been ended. */
bool ac_keep(struct ac_query *query, size_t bytes) BERTH_MUST_CHECK;

/* A walk through the combinations of one anchor's options. Other data on the current tree is in the
 * query, because only one walk runs at a time. */
struct ac_walk {
    uint32_t *at;     /* for each level: the bit at which the search continues, or the chosen bit */
    uint32_t *chosen; /* for each level: the chosen slot */
    bool started;
    bool is_new_here;       /* the query's data on the current tree is not from this walk */
    bool is_matched;        /* the contests have a matching that includes the choices */
    uint64_t found;         /* number of combinations */
    uint64_t *found_before; /* for each level: `found` when it was chosen */
    uint64_t *useless;      /* for each level, a tree's words: options known to lead to no
                             * combination; NULL: none */
    uint32_t useless_words; /* capacity */
};
void ac_walk_init(struct ac_query *query, struct ac_walk *walk);

/* Starts again, for another anchor. */
static inline void ac_walk_reset(struct ac_walk *walk)
{
    walk->started = false;
}

/* Save and restore the position of the walk, to continue from there later; `into` has room for
 * ac_walk_place_size. */
static inline size_t ac_walk_place_count(const struct ac_query *query)
{
    return 2 * (size_t)query->level_count;
}
void ac_walk_leave(const struct ac_query *query, const struct ac_walk *walk, uint32_t *place);
void ac_walk_return(const struct ac_query *query, struct ac_walk *walk, const uint32_t *place);

/* Moves to the next valid combination and sets chosen[]. False: there are no more, or the budget
 * ran out. */
bool ac_walk_next(struct ac_query *query, struct ac_walk *walk);

/* Determines why a resolved query whose search is over has no candidate (has_some: it has one), and
 * how many providers its conditions leave. Reads the pages again, which costs AC_REASON_STEPS_MOST
 * or less, charged to the query's budget. If a worker's budget has less left, the reason is
 * AC_NONE_NOT_KNOWN or the counts are missing, but the budget is not exhausted. */
void ac_reason_find(struct ac_query *query, bool has_some, struct ac_reason *reason);

#endif
