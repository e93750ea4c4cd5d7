/* Candidates and summaries as JSON. */
#ifndef BERTH_PLACEMENT_API_CANDIDATES_JSON_H
#define BERTH_PLACEMENT_API_CANDIDATES_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "query/ac_search.h"

enum { CANDIDATES_MOST_BYTES = 256 << 20 };

/* The candidates of one query usually differ only in their providers: the text of the last one is
 * copied, and its uuids are overwritten. */
struct candidates_form {
    struct ac_entry *entries;
    uint32_t entry_count;
    struct ac_mapping *mappings;
    uint32_t mapping_count;
    size_t at; /* its offset in the body */
    size_t len;
    bool is_fit;     /* there is one, and all its uuids have the usual length */
    uint32_t *uuids; /* their offsets in the text, in the order in which they are written */
    uint32_t uuid_count;
    uint32_t capacity; /* of the three arrays */
};

/* The class of the inventory at one position of a provider's row: hosts are alike, so it is usually
 * the same for the next provider. */
struct candidates_class {
    struct class_no class_no;
    const struct catalog_row *row; /* NULL: none yet */
    bool is_wanted;
    bool is_plain; /* the name needs no escaping in JSON */
};

enum { CANDIDATES_CLASSES = 8 };

struct candidates_writer {
    const struct version *version;
    const struct ac_request *requested;
    struct arena *arena;
    struct buf *out;
    unsigned minor;
    uint64_t count;
    struct budget *budget;
    bool is_too_large;
    struct candidates_form form;
    struct candidates_class classes[CANDIDATES_CLASSES];
};

/* The ac_emit of a search: appends a candidate, with a separator before it. Nothing beyond
 * CANDIDATES_MOST_BYTES is written: is_too_large is set, and the budget is exhausted. */
void candidates_write_one(void *cls, const struct ac_candidate *candidate);

/* Appends the members of the summaries object, without its braces. False: the budget is
 * exhausted. */
bool candidates_write_summaries(struct candidates_writer *writer,
                                const struct ac_summaries *summaries) BERTH_MUST_CHECK;

#endif
