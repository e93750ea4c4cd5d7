/* Reads bodies of POST and PUT …/traits, and results of patches; enforces limits and checks
 * everything that depends on the document alone (bare metal spec 1.5, 3.1, 8.3). Versions of
 * fields, names and references are checked later. */
#ifndef BERTH_BAREMETAL_API_INPUT_BODY_CHECKS_H
#define BERTH_BAREMETAL_API_INPUT_BODY_CHECKS_H

#include <jansson.h>

#include "base/err.h"

enum {
    BODY_CHECKS_BYTES_MAX = 1 << 20,
    BODY_CHECKS_NESTING_MAX = 25, /* objects and lists inside each other */
};

struct json_heap;

/* The document, which the caller owns, in the heap (NULL: memory of its own); an empty object if
 * there is no body. NULL with err set: 413, 400 Malformed JSON: …, or 400 for its nesting. */
json_t *body_checks_load(struct slice body, struct json_heap *heap, struct err *err);

/* `argument` is the document's name in messages: "allocation" or "patch". Its uuid becomes
 * lower-case. */
bool body_checks_allocation(json_t *document, const char *argument,
                            struct err *err) BERTH_MUST_CHECK;

/* "node" or "patch": the latter is the result of a patch, which may have fields that a POST may
 * not. UUIDs become lower-case; words for booleans become booleans. */
bool body_checks_node(json_t *document, const char *argument, bool is_patched,
                      struct err *err) BERTH_MUST_CHECK;

/* Check the body of PUT …/traits, and the trait in a path. */
bool body_checks_traits(const json_t *body, struct err *err) BERTH_MUST_CHECK;
bool body_checks_trait(struct slice trait, struct err *err) BERTH_MUST_CHECK;

#endif
