/* UUIDs and names in paths, filters and bodies (bare metal spec 1.2). */
#ifndef BERTH_BAREMETAL_API_INPUT_IDENT_H
#define BERTH_BAREMETAL_API_INPUT_IDENT_H

#include <jansson.h>

#include "base/err.h"

struct arena;

enum ident_kind {
    IDENT_NEITHER, /* 400 */
    IDENT_UUID,    /* the text is its lower-case form */
    IDENT_NAME,
    IDENT_NOBODY, /* resembles a UUID, but in a form that is never stored: matches nothing */
};

struct ident {
    enum ident_kind kind;
    struct slice text;
};

/* Classifies a text. A UUID in capitals is copied to the arena, any other text stays where it is.
 */
struct ident ident_read(struct arena *arena, struct slice text);

/* 1 to 255 characters of A-Z a-z 0-9 - . _ ~ */
bool ident_is_name(struct slice text);

/* 8-4-4-4-12 hexadecimal digits; `lower` is set to the lower-case form, in the arena. */
bool ident_read_uuid(struct arena *arena, struct slice text, struct slice *lower);

/* Whether the value of `name` in a POST (is_update: a PATCH) of an allocation is a valid name; null
 * means no name. 400 Cannot create (update) allocation with invalid name 'X'. */
bool ident_check_allocation_name(const json_t *name, bool is_update,
                                 struct err *err) BERTH_MUST_CHECK;

/* The same for a node; `node` is the ident of the patched node, data == NULL in a POST. 400 also
 * for words that are path segments below /v1/nodes. */
bool ident_check_node_name(const json_t *name, struct slice node, struct err *err) BERTH_MUST_CHECK;

#endif
