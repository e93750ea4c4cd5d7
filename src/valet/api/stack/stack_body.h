/* Reads the resources of a plan's body as a stack (Valet spec, 6.2 to 6.4 and 2.6). Pure; any
 * thread. */
#ifndef BERTH_VALET_API_STACK_STACK_BODY_H
#define BERTH_VALET_API_STACK_STACK_BODY_H

#include "valet/api/stack/flavors.h"

enum { STACK_BODY_TEXT_MAX_CHARS = 255 };

/* Context for reading a body. */
struct stack_body {
    const struct flavors *flavors;
    uint32_t max_servers;
    struct arena *arena; /* for the stack's arrays; texts stay the document's or are copied */
};

/* Reads `resources` and `locations` (NULL: none) of a body; the stack's texts live as long as the
 * document and the arena. Groups of type exclusivity have a name and no uuid yet. False: 400, or
 * 409 where section 6.4 says so. Errors of section 6.2 have no prefix, the others "Valet error: ".
 */
bool stack_body_read(const struct stack_body *input, const json_t *resources,
                     const json_t *locations, struct stack *stack,
                     struct err *err) BERTH_MUST_CHECK;

/* Reads a list of strings for that key, each of at most 255 characters; NULL: none. False: 400. */
bool stack_body_names(const json_t *list, const char *key, struct arena *arena,
                      struct stack_names *names, struct err *err) BERTH_MUST_CHECK;

/* The SHA-256, in hexadecimal digits, of the JSON of all three, with sorted keys and locations NULL
 * as []. */
enum { STACK_FINGERPRINT_LEN = 64 };
void stack_fingerprint(struct slice plan_name, const json_t *resources, const json_t *locations,
                       char out[STACK_FINGERPRINT_LEN]);

#endif
