/* Functions that fill in a struct err. Any thread, one err at a time. */
#include "base/err.h"

#include <stdarg.h>

#include "base/arena.h"

bool err_set(struct err *err, int status, const char *code, const char *format, ...)
{
    if (err_is_set(err))
        return false;
    va_list args;
    va_start(args, format);
    err->message = arena_vprintf(err->arena, format, args);
    va_end(args);
    err->status = status;
    err->code = code;
    err->kind = 0;
    err->reason = (struct slice){0};
    err->denied_by = NULL;
    return false;
}

bool err_set_text(struct err *err, int status, const char *code, struct slice message)
{
    if (err_is_set(err))
        return false;
    err->message = message;
    err->status = status;
    err->code = code;
    err->kind = 0;
    err->reason = (struct slice){0};
    err->denied_by = NULL;
    return false;
}

bool err_set_parts(struct err *err, int status, const char *code, const struct slice *parts,
                   size_t count)
{
    if (err_is_set(err))
        return false;
    return err_set_text(err, status, code, arena_join(err->arena, parts, count));
}

bool err_reason(struct err *err, const char *format, ...)
{
    if (err->reason.data != NULL)
        return false;
    va_list args;
    va_start(args, format);
    err->reason = arena_vprintf(err->arena, format, args);
    va_end(args);
    return false;
}
