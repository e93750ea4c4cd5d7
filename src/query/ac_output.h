/* Receives the candidates that the search finds. */
#ifndef BERTH_QUERY_AC_OUTPUT_H
#define BERTH_QUERY_AC_OUTPUT_H

#include "base/hash_map.h"
#include "query/ac_query.h"
#include "query/ac_search.h"

/* The candidates seen. A candidate seen under one anchor may occur again under another; then all
 * its providers are shared. */
struct ac_seen {
    struct hash_map map;
    uint32_t **chosen; /* each has the slots of level_count levels */
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
    struct ac_candidate candidate; /* the last one emitted */
    struct ac_used used;           /* slots for the summaries: ascending */
    struct ac_used late;           /* those that came after larger ones */
    uint32_t recent[AC_RECENT];    /* by slot % AC_RECENT: the last slot seen, plus one */
    bool summarise_roots;
    uint32_t root; /* of the previous slot, and the end of its tree */
    uint32_t root_end;
    int64_t steps;          /* of the budget, for each candidate */
    struct ac_merge *merge; /* NULL: candidates have few entries */
};

/* All memory comes from the query's arena. */
void ac_output_init(struct ac_output *output, struct ac_query *query, ac_emit *emit, void *cls);

/* True if the levels' choices are a candidate that this function has seen before (candidates spec,
 * item 10). */
bool ac_output_repeats(struct ac_output *output, const uint32_t *chosen);

/* Emits the candidate that consists of the levels' choices. */
void ac_output_put(struct ac_output *output, const uint32_t *chosen);

/* The same for a plain query, whose candidates differ only in the provider. */
void ac_output_put_plain(struct ac_output *output, uint32_t slot);

/* The slots that the emitted candidates use, each once, in ascending order. */
void ac_output_summaries(struct ac_output *output, struct ac_summaries *summaries);

#endif
