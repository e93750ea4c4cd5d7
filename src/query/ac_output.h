/* Where the search puts its candidates. */
#ifndef BERTH_QUERY_AC_OUTPUT_H
#define BERTH_QUERY_AC_OUTPUT_H

#include "query/ac_plan.h"
#include "query/ac_search.h"

/* A candidate seen under one anchor may come again under another: then all of it is shared. */
struct ac_seen {
    uint32_t **table; /* open addressing; each the chosen slots of a level_count */
    uint32_t capacity;
    uint32_t count;
};

struct ac_output {
    struct ac_plan *plan;
    ac_emit *emit;
    void *cls;
    int64_t emitted;
    struct ac_seen seen;
    struct ac_entry *entries; /* room for one candidate */
    struct ac_mapping *mappings;
    struct ac_candidate candidate; /* the last one */
    uint32_t *used;                /* slots for the summaries, as they come */
    uint32_t used_count;
    size_t used_capacity;
    bool summarise_roots;
};

/* Everything is in the plan's arena. */
void ac_output_init(struct ac_output *output, struct ac_plan *plan, ac_emit *emit, void *cls);

/* True if the levels' choices are a candidate that was asked about before (candidates spec, item
 * 10). */
bool ac_output_repeats(struct ac_output *output, const uint32_t *chosen);

/* Emits the candidate of the levels' choices. */
void ac_output_put(struct ac_output *output, const uint32_t *chosen);

/* The same for a plain plan, whose candidates differ in nothing but the provider. */
void ac_output_put_plain(struct ac_output *output, uint32_t slot);

/* What was used by the candidates emitted, each once, ascending. */
void ac_output_summaries(struct ac_output *output, struct ac_summaries *summaries);

#endif
