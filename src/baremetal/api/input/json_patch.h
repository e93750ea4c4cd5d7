/* JSON Patch (RFC 6902) as far as the bare metal API takes it: add, replace and remove (bare metal
 * spec 3.4). Shape first, then which fields, then the application, so that a caller can look at
 * access in between. */
#ifndef BERTH_BAREMETAL_API_INPUT_JSON_PATCH_H
#define BERTH_BAREMETAL_API_INPUT_JSON_PATCH_H

#include <jansson.h>

#include "base/err.h"

enum {
    JSON_PATCH_OPERATIONS_MAX = 1000,
    JSON_PATCH_PARTS_MAX = 25, /* of a path; so no patch makes a document deeper than this and the
                                  nesting of a body */
};

/* Whether the body is a patch: a list of operations. 400 Schema error for patch: MSG, or over the
 * limits. All functions below want one. */
bool json_patch_check(const json_t *patch, struct err *err) BERTH_MUST_CHECK;

/* Whether every operation is at or below one of the fields (NULL-terminated, in the order in which
 * they are told). 400 Cannot patch PATH. Only the following can be updated: A, B. */
bool json_patch_check_fields(const json_t *patch, const char *const *fields,
                             struct err *err) BERTH_MUST_CHECK;

/* The first part of an operation's path. */
struct slice json_patch_field(const json_t *operation);

/* The value that the operation gives to that very path ("/name"); NULL if it is at another one,
 * removes it, or has none. */
const json_t *json_patch_value(const json_t *operation, const char *path);

/* Whether all that the patch does is to remove that path. */
bool json_patch_only_removes(const json_t *patch, const char *path);

/* The document with the patch applied, a new one, the caller's; or NULL with err set, 400:
 * Couldn't apply patch 'OP'. Reason: … The document is an object that has all fields that can be
 * patched, with null where there is nothing. Secrets are masked where a reason quotes from it. */
json_t *json_patch_apply(const json_t *document, const json_t *patch, struct err *err);

#endif
