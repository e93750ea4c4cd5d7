/* JSON Patch (RFC 6902) as the Bare Metal API accepts it: add, replace and remove (bare metal
 * spec 3.4). Checks of the shape, of the fields, and the application are separate functions, so
 * that a caller can check access in between. */
#ifndef BERTH_BAREMETAL_API_INPUT_JSON_PATCH_H
#define BERTH_BAREMETAL_API_INPUT_JSON_PATCH_H

#include <jansson.h>

#include "base/err.h"

enum {
    JSON_PATCH_OPERATIONS_MAX = 1000,
    JSON_PATCH_PARTS_MAX = 25, /* of a path; so no patch makes a document deeper than this plus the
                                  nesting of a body */
};

/* Whether the body is a patch: a list of operations. 400 Schema error for patch: MSG, or over the
 * limits. All functions below require a patch that passed this check. */
bool json_patch_check(const json_t *patch, struct err *err) BERTH_MUST_CHECK;

/* Whether every operation is at or below one of the fields (NULL-terminated, in the order in which
 * the error lists them). 400 Cannot patch PATH. Only the following can be updated: A, B. */
bool json_patch_check_fields(const json_t *patch, const char *const *fields,
                             struct err *err) BERTH_MUST_CHECK;

/* The first part of an operation's path. */
struct slice json_patch_field(const json_t *operation);

/* The value that the operation gives to exactly that path ("/name"); NULL if its path differs, or
 * if it removes the field or has no value. */
const json_t *json_patch_value(const json_t *operation, const char *path);

/* Whether the patch only removes that path. */
bool json_patch_only_removes(const json_t *patch, const char *path);

/* The document with the patch applied, as a new document that the caller owns; or NULL with err
 * set, 400: Couldn't apply patch 'OP'. Reason: … The document is an object with all fields that can
 * be patched, null where a field is not set. Secrets in a quoted document are masked. */
json_t *json_patch_apply(const json_t *document, const json_t *patch, struct err *err);

#endif
