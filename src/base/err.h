/* An error in the API's terms. One struct err is passed down a chain of calls; the first failure
 * wins. */
#ifndef BERTH_BASE_ERR_H
#define BERTH_BASE_ERR_H

#include <stdbool.h>

#include "base/check.h"
#include "base/slice.h"

struct arena;

struct err {
    int status;           /* HTTP status; 0: no error yet */
    const char *code;     /* placement error code, static text; NULL: placement.undefined_code */
    struct slice message; /* the detail without the text that belongs to the status; in the arena or
                           * static */
    struct arena *arena;  /* where messages are made; must outlive all readers of the err */
    struct slice reason;  /* what the log adds to the message; data == NULL: nothing. In the
                           * arena */
    const char
        *denied_by; /* the policy rule that refuses, static text; NULL: something else refuses */
    int kind;       /* the reason, for callers that retry or count: a value from an enum of the
                     * layer that sets err; 0: any other reason */
};

static inline bool err_is_set(const struct err *err)
{
    return err->status != 0;
}

/* Sets status, code and message unless an error is already set. The kind is 0 unless err_of_kind is
 * called afterwards. Always returns false, so that a function can end with `return err_set(...)`.
 * Use err_set_text for text that may contain NUL bytes. */
bool err_set(struct err *err, int status, const char *code, const char *format, ...)
    BERTH_PRINTF(4, 5);

/* Sets the kind of the error that has just been set. Always returns false. */
static inline bool err_of_kind(struct err *err, int kind)
{
    if (err->kind == 0)
        err->kind = kind;
    return false;
}

/* Like err_set, with a finished text, which is not copied. */
bool err_set_text(struct err *err, int status, const char *code, struct slice message);

/* Like err_set, with a text made of parts, which may contain NUL bytes. */
bool err_set_parts(struct err *err, int status, const char *code, const struct slice *parts,
                   size_t count);

/* err_set_join(err, 404, NULL, SLICE_LIT("No such trait(s): "), name, SLICE_LIT(".")) */
#define err_set_join(err, status, code, ...)                                                       \
    err_set_parts((err), (status), (code), (const struct slice[]){__VA_ARGS__},                    \
                  sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))

/* Sets the log reason of the error that has just been set, unless it has one. Always returns
 * false. */
bool err_reason(struct err *err, const char *format, ...) BERTH_PRINTF(2, 3);

#endif
