/* A question with its names looked up: what ac_resolve.c makes and the other ac_ files work on. */
#ifndef BERTH_QUERY_AC_PLAN_H
#define BERTH_QUERY_AC_PLAN_H

#include "base/arena.h"
#include "base/err.h"
#include "query/ac_none.h"
#include "query/ac_request.h"
#include "query/budget.h"
#include "query/fit.h"

struct ac_plan_group {
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
    enum ac_none none; /* not AC_NONE_FOUND_SOME: known without looking at any provider */
    uint32_t first_level;
    uint32_t level_count;
};

/* One choice to make: a provider for one class of the unsuffixed group, or for a granular group. */
struct ac_level {
    uint32_t group;
    const struct fit_demand *demands;
    uint32_t demand_count;
    bool shares_class; /* another level asks for one of these classes too: amounts may add up */
    bool can_share;    /* some sharing provider can serve it, so that trees without an own one are
                          anchors */
    uint64_t **pages;  /* by page: 64 words of the slots that can serve it, NULL until needed */
    uint64_t *sharing; /* by index in ac_plan.sharing: one bit each */
    /* in the tree at hand */
    uint32_t *options;
    uint32_t option_count;
    size_t option_capacity;
};

/* Groups whose providers must stand in one subtree rooted at one of them. */
struct ac_subtree {
    uint32_t *levels;
    uint32_t level_count;
};

/* A sharing provider under one of its aggregates. */
struct ac_shared {
    uint32_t aggregate;
    uint32_t index; /* in ac_plan.sharing */
};

struct ac_plan {
    const struct version *version;
    const struct ac_request *request;
    struct arena *arena;
    struct budget *budget;
    struct ac_plan_group *groups;
    uint32_t group_count;
    struct ac_level *levels;
    uint32_t level_count;
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
    uint32_t *sharing; /* slots of the sharing providers that can serve some level, ascending */
    uint32_t sharing_count;
    struct ac_shared *shared; /* ascending by aggregate */
    uint32_t shared_count;
    uint32_t *tree_sharing; /* indexes of those that the tree at hand shares with */
    uint32_t tree_sharing_count;
    uint64_t *tree_sharing_seen;
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
                            struct arena *arena, struct budget *budget, struct ac_plan *plan,
                            struct err *err) BERTH_MUST_CHECK;

/* FIT_WORDS words of the slots of a page that can serve a level, but for what depends on the tree's
 * root. Kept in level->pages. */
const uint64_t *ac_level_page(struct ac_plan *plan, struct ac_level *level, uint32_t page);

/* Takes out the bits of a page that lie outside the slots [from, end). */
void ac_keep_interval(uint32_t page, uint32_t from, uint32_t end, uint64_t words[FIT_WORDS]);

/* For a plain plan: the slots of a page that are candidates. False: the budget ran out. */
bool ac_plain_page(struct ac_plan *plan, uint32_t page, uint64_t words[FIT_WORDS]);

/* Lays out levels and sharing providers of a resolved plan. */
void ac_levels(struct ac_plan *plan);

/* Whether the plan has no candidate at all. False also when the budget ran out. */
bool ac_plan_is_empty(struct ac_plan *plan);

/* Steps through the anchors: the trees that may have candidates. *root begins as 0; true: *root is
 * the next anchor's slot and every level's options for it are set. */
bool ac_next_anchor(struct ac_plan *plan, uint32_t *root);

/* Sets the options of every level for the tree at `root`; false if a level has none. */
bool ac_set_options(struct ac_plan *plan, uint32_t root);

/* The walk through the combinations of one anchor's options. */
struct ac_walk {
    uint32_t *at;     /* per level: index in its options */
    uint32_t *chosen; /* per level: the slot */
    bool started;
};
void ac_walk_init(struct ac_plan *plan, struct ac_walk *walk);

/* Starts anew for another anchor. */
static inline void ac_walk_reset(struct ac_walk *walk)
{
    walk->started = false;
}

/* Moves to the next valid combination: chosen[] is set. False when there is no more (or the budget
 * ran out). */
bool ac_walk_next(struct ac_plan *plan, struct ac_walk *walk);

/* Why a resolved plan whose search is over has no candidate. Looks at the pages again, so only
 * then; on a budget of its own. */
enum ac_none ac_none_find(struct ac_plan *plan);

#endif
