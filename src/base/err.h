/* What went wrong, in the API's terms. One struct err travels down a call; the first failure wins.
 */
#ifndef BERTH_BASE_ERR_H
#define BERTH_BASE_ERR_H

#include <stdbool.h>

#include "base/check.h"
#include "base/slice.h"

struct arena;

struct err {
    int status;           /* HTTP status; 0: no error yet */
    const char *code;     /* placement error code, static text; NULL: placement.undefined_code */
    struct slice message; /* the detail without the status's boilerplate; in the arena, or static */
    struct arena *arena;  /* where messages are made; must outlive the err's readers */
    struct slice reason;  /* what the log says of it and the message does not; data == NULL:
                             nothing. In the arena */
    const char
        *denied_by; /* the policy rule that refuses, static text; NULL: something else does */
    int kind;       /* why, for those who try again or count: of an enum of the layer that
                       sets err; 0: any other reason */
};

static inline bool err_is_set(const struct err *err)
{
    return err->status != 0;
}

/* Sets status, code and message unless an error is set already; of any kind, unless err_of_kind is
 * called then. Always returns false, so that a
 * function can end with `return err_set(...)`. Text that may hold NUL bytes goes through
 * err_set_text. */
bool err_set(struct err *err, int status, const char *code, const char *format, ...)
    BERTH_PRINTF(4, 5);

/* Says of what kind the error is that has just been set. Always returns false. */
static inline bool err_of_kind(struct err *err, int kind)
{
    if (err->kind == 0)
        err->kind = kind;
    return false;
}

/* The same with a ready text, which is not copied. */
bool err_set_text(struct err *err, int status, const char *code, struct slice message);

/* The same with a text put together from parts, which may hold NUL bytes. */
bool err_set_parts(struct err *err, int status, const char *code, const struct slice *parts,
                   size_t count);

/* err_set_join(err, 404, NULL, SLICE_LIT("No such trait(s): "), name, SLICE_LIT(".")) */
#define err_set_join(err, status, code, ...)                                                       \
    err_set_parts((err), (status), (code), (const struct slice[]){__VA_ARGS__},                    \
                  sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))

/* Gives the error that has just been set its line in the log, unless it has one. Always returns
 * false. */
bool err_reason(struct err *err, const char *format, ...) BERTH_PRINTF(2, 3);

#endif
