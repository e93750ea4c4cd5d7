/* Bodies of POST and PUT …/traits, and what a patch leaves: read, held within limits, and checked
 * for what stands in them alone (bare metal spec 1.5, 3.1, 8.3). What a field's version, a name or
 * a reference needs comes later. */
#ifndef BERTH_BAREMETAL_API_INPUT_BODY_CHECKS_H
#define BERTH_BAREMETAL_API_INPUT_BODY_CHECKS_H

#include <jansson.h>

#include "base/err.h"

enum {
    BODY_CHECKS_BYTES_MAX = 1 << 20,
    BODY_CHECKS_NESTING_MAX = 25, /* objects and lists within each other */
};

struct json_heap;

/* The document in the heap (NULL: memory of its own), the caller's: an empty object of no body.
 * NULL with err set: 413, or 400 Malformed JSON: …, or for its nesting. */
json_t *body_checks_load(struct slice body, struct json_heap *heap, struct err *err);

/* `argument` is how the messages call the document: "allocation" or "patch". Its uuid becomes
 * lower-case. */
bool body_checks_allocation(json_t *document, const char *argument,
                            struct err *err) BERTH_MUST_CHECK;

/* "node" or "patch"; the second is what a patch leaves, which has fields that a POST has not.
 * UUIDs become lower-case; words for booleans become booleans. */
bool body_checks_node(json_t *document, const char *argument, bool is_patched,
                      struct err *err) BERTH_MUST_CHECK;

/* The body of PUT …/traits, and the trait in a path. */
bool body_checks_traits(const json_t *body, struct err *err) BERTH_MUST_CHECK;
bool body_checks_trait(struct slice trait, struct err *err) BERTH_MUST_CHECK;

#endif
