/* A question with its names looked up: what ac_resolve.c makes and the other ac_ files work on. */
#ifndef BERTH_QUERY_AC_QUERY_H
#define BERTH_QUERY_AC_QUERY_H

#include "base/arena.h"
#include "base/err.h"
#include "query/ac_none.h"
#include "query/ac_request.h"
#include "query/budget.h"
#include "query/fit.h"

struct ac_query_group {
    const struct ac_group *asked;
    bool is_granular; /* one provider for everything (a suffixed group) */
    struct fit_demand *demands;
    uint32_t demand_count;
    struct fit_filter
        traits; /* granular: of the provider; else: any is met together, none excludes */
    struct fit_filter aggregates; /* granular: of the provider; else: of the provider or its root */
    bool in_tree;
    uint32_t tree_root;
    uint32_t tree_end;
    uint32_t set_count; /* of traits and aggregates together */
    enum ac_none none;  /* not AC_NONE_FOUND_SOME: known without looking at any provider */
    uint32_t first_level;
    uint32_t level_count;
};

/* What one or several levels ask for alike: whoever can serve one of them can serve each. */
struct ac_kind {
    uint32_t group; /* of its first level */
    const struct fit_demand *demands;
    uint32_t demand_count;
    bool can_share;    /* some sharing provider can serve it, so that trees without an own one are
                          anchors */
    uint64_t **pages;  /* by page: 64 words of the slots that can serve it, NULL until needed */
    uint64_t *sharing; /* by index in ac_query.sharing: one bit each */
    uint64_t *options; /* in the tree at hand: bits as struct ac_tree counts them */
};

/* One choice to make: a provider for one class of the unsuffixed group, or for a granular group. */
struct ac_level {
    uint32_t group;
    struct ac_kind *kind;
    const struct fit_demand *demands;
    uint32_t demand_count;
    bool shares_class; /* another level asks for one of these classes too: amounts may add up */
    bool has_twin; /* another level could change places with it, and nothing else would change */
    uint32_t twin; /* the last one before it; NUMBER_NONE */
    uint32_t *subtrees; /* those that it is in, ascending */
    uint32_t subtree_count;
};

/* The tree at hand. Its providers are bits: bit b is slot `base` + b; behind `own_words` words
 * follow the sharing providers of other trees, in the order of ac_query.tree_sharing. */
struct ac_tree {
    uint32_t base; /* a multiple of 64 */
    uint32_t own_words;
    uint32_t words;
    uint32_t capacity; /* words that there is room for */
};

/* Groups whose providers must stand in one subtree rooted at one of them. */
struct ac_subtree {
    uint32_t *levels;
    uint32_t level_count;
};

/* A sharing provider under one of its aggregates. */
struct ac_shared {
    uint32_t aggregate;
    uint32_t index; /* in ac_query.sharing */
};

/* A page that a kind keeps. */
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
    uint32_t driver; /* a kind whose slots the trees must have, as nobody shares it; NUMBER_NONE */
    bool has_twins;
    struct ac_contests *contests; /* NULL: not looked for, or there is none */
    bool may_contest;             /* they have not been looked for */
    bool is_wide; /* each tree's are matched before the first choice, as they are likely lost */
    struct ac_tree tree;
    struct ac_subtree *subtrees;
    uint32_t subtree_count;
    struct fit_filter roots; /* root_required */
    bool isolate;
    bool nested_aware;
    bool is_flat;  /* no trees, no sharing: a candidate is one provider, and pages hold every filter
                    */
    bool is_plain; /* flat, and no group bears upon another: each provider in the pages of all
                      levels is a candidate, its only one */
    uint32_t page_count;
    struct ac_kept_page *kept_pages; /* where there may be more than are kept */
    uint32_t kept_page_count;
    size_t kept_page_capacity;
    uint32_t oldest_page; /* in kept_pages, once there are as many as may be */
    uint32_t *sharing;    /* slots of the sharing providers that can serve some level, ascending */
    uint32_t sharing_count;
    struct ac_shared *shared; /* ascending by aggregate */
    uint32_t shared_count;
    uint32_t *tree_sharing; /* indexes of those that the tree at hand shares with */
    uint32_t tree_sharing_count;
    uint64_t *tree_sharing_seen;
    size_t kept_bytes; /* of what grows with the candidates or with a tree */
    bool is_too_large; /* that is more than may be */
    enum ac_none none; /* known from the names, or the last rule that the walk broke */
    bool lacks_traits; /* the walk met combinations that lacked nothing but required traits */
};

enum ac_resolved {
    AC_RESOLVED,
    AC_RESOLVED_EMPTY, /* no candidate can exist */
    AC_RESOLVED_ERROR, /* err is set */
    AC_RESOLVED_EXPENSIVE,
};

/* Looks names up in the order in which the Python service does, so that an earlier group without a
 * match answers empty before a later group's unknown name is an error (candidates spec, item 13).
 */
enum ac_resolved ac_resolve(const struct version *version, const struct ac_request *request,
                            struct arena *arena, struct budget *budget, struct ac_query *query,
                            struct err *err) BERTH_MUST_CHECK;

/* FIT_WORDS words of the slots of a page that can serve a kind, but for what depends on the tree's
 * root. Valid until the next call. */
const uint64_t *ac_kind_page(struct ac_query *query, uint32_t kind, uint32_t page);

/* Takes out the bits of a page that lie outside the slots [from, end). */
void ac_keep_interval(uint32_t page, uint32_t from, uint32_t end, uint64_t words[FIT_WORDS]);

/* For a plain query: the slots of a page that are candidates. False: the budget ran out. */
bool ac_plain_page(struct ac_query *query, uint32_t page, uint64_t words[FIT_WORDS]);

/* Lays out levels, kinds and sharing providers of a resolved query. False: the budget ran out. */
bool ac_levels(struct ac_query *query) BERTH_MUST_CHECK;

/* Finds for each level the subtrees that it is in, and its twin. False: the budget ran out. */
bool ac_levels_subtrees(struct ac_query *query) BERTH_MUST_CHECK;

/* Whether the query has no candidate at all. False also when the budget ran out. */
bool ac_query_is_empty(struct ac_query *query);

/* Steps through the anchors: the trees that may have candidates. *root begins as 0; true: *root is
 * the next anchor's slot and every kind's options in it are set. */
bool ac_next_anchor(struct ac_query *query, uint32_t *root);

/* Sets the options of every kind for the tree at `root`; false if one has none, or the budget ran
 * out. */
bool ac_set_options(struct ac_query *query, uint32_t root);

/* The first option from bit `from` on that is not among `without` (NULL: none); NUMBER_NONE. */
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

/* The slot of a bit of the tree at hand. */
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

/* Asks whether so many bytes more may be kept; false: the budget ends here. */
bool ac_keep(struct ac_query *query, size_t bytes) BERTH_MUST_CHECK;

/* The walk through the combinations of one anchor's options. What else it knows of the tree at hand
 * is the query's, as one walk goes on at a time. */
struct ac_walk {
    uint32_t *at;     /* per level: the bit to look from, or the one that is chosen */
    uint32_t *chosen; /* per level: its slot */
    bool started;
    bool is_new_here;       /* what is known of the tree at hand is not this walk's */
    bool is_matched;        /* the contests hold a matching that has what is chosen */
    uint64_t found;         /* combinations */
    uint64_t *found_before; /* per level: when it was chosen */
    uint64_t *useless;      /* per level a tree's words: options known to lead nowhere; NULL */
    uint32_t useless_words; /* capacity */
};
void ac_walk_init(struct ac_query *query, struct ac_walk *walk);

/* Starts anew for another anchor. */
static inline void ac_walk_reset(struct ac_walk *walk)
{
    walk->started = false;
}

/* Where the walk stands, to go on from there later; `into` has room for ac_walk_place_size. */
static inline size_t ac_walk_place_count(const struct ac_query *query)
{
    return 2 * (size_t)query->level_count;
}
void ac_walk_leave(const struct ac_query *query, const struct ac_walk *walk, uint32_t *place);
void ac_walk_return(const struct ac_query *query, struct ac_walk *walk, const uint32_t *place);

/* Moves to the next valid combination: chosen[] is set. False when there is no more (or the budget
 * ran out). */
bool ac_walk_next(struct ac_query *query, struct ac_walk *walk);

/* Why a resolved query whose search is over has no candidate (has_some: it has), and what its
 * conditions leave. Looks at the pages again, on a budget of its own. */
void ac_reason_find(struct ac_query *query, bool has_some, struct ac_reason *reason);

#endif
