/* Where the search puts its candidates. */
#ifndef BERTH_QUERY_AC_OUTPUT_H
#define BERTH_QUERY_AC_OUTPUT_H

#include "base/hash_map.h"
#include "query/ac_query.h"
#include "query/ac_search.h"

/* A candidate seen under one anchor may come again under another: then all of it is shared. */
struct ac_seen {
    struct hash_map map;
    uint32_t **chosen; /* each the slots of a level_count */
    size_t count;
    size_t capacity;
};

enum { AC_RECENT = 32 };

struct ac_used {
    uint32_t *slots;
    uint32_t count;
    size_t capacity;
    bool is_disordered;
};

struct ac_output {
    struct ac_query *query;
    ac_emit *emit;
    void *cls;
    int64_t emitted;
    struct ac_seen seen;
    struct ac_entry *entries; /* room for one candidate */
    struct ac_mapping *mappings;
    struct ac_candidate candidate; /* the last one */
    struct ac_used used;           /* slots for the summaries: ascending */
    struct ac_used late;           /* those that came behind larger ones */
    uint32_t recent[AC_RECENT];    /* by slot % AC_RECENT: one more than the slot that came last */
    bool summarise_roots;
    uint32_t root; /* of the slot before, and its tree's end */
    uint32_t root_end;
    int64_t steps;          /* of the budget, for a candidate */
    struct ac_merge *merge; /* NULL: candidates have few entries */
};

/* Everything is in the query's arena. */
void ac_output_init(struct ac_output *output, struct ac_query *query, ac_emit *emit, void *cls);

/* True if the levels' choices are a candidate that was asked about before (candidates spec, item
 * 10). */
bool ac_output_repeats(struct ac_output *output, const uint32_t *chosen);

/* Emits the candidate of the levels' choices. */
void ac_output_put(struct ac_output *output, const uint32_t *chosen);

/* The same for a plain query, whose candidates differ in nothing but the provider. */
void ac_output_put_plain(struct ac_output *output, uint32_t slot);

/* What was used by the candidates emitted, each once, ascending. */
void ac_output_summaries(struct ac_output *output, struct ac_summaries *summaries);

#endif
