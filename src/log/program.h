/* The programs that format.c makes of format strings and render.c runs. */
#ifndef BERTH_LOG_PROGRAM_H
#define BERTH_LOG_PROGRAM_H

#include "log/internal.h"

enum log_value_kind { LOG_VALUE_NONE, LOG_VALUE_TEXT, LOG_VALUE_INTEGER, LOG_VALUE_REAL };

/* A value as Python's % operator receives it. */
struct log_value {
    enum log_value_kind kind;
    struct slice text;
    int64_t integer;
    double real;
};

/* The rest of %(key)-08.3s. */
struct log_spec {
    bool left;
    bool zeros;
    bool plus;
    bool blank;
    int width;     /* 0: none */
    int precision; /* -1: none */
    char conversion;
};

enum log_op_kind {
    LOG_OP_LITERAL,
    LOG_OP_ASCTIME,
    LOG_OP_MILLISECONDS, /* three digits */
    LOG_OP_NAME,
    LOG_OP_MESSAGE,
    LOG_OP_CONTEXT, /* a text of log_context, unchanged */
    LOG_OP_VALUE    /* any other value, with or without flags */
};

/* Values that differ for each record; all others have become literals when a program runs. */
enum log_field {
    LOG_FIELD_ASCTIME,
    LOG_FIELD_ISOTIME,
    LOG_FIELD_MSECS,
    LOG_FIELD_CREATED,
    LOG_FIELD_RELATIVE,
    LOG_FIELD_NAME,
    LOG_FIELD_MESSAGE,
    LOG_FIELD_MSG,
    LOG_FIELD_THREAD,
    LOG_FIELD_THREAD_NAME,
    LOG_FIELD_PATH,
    LOG_FIELD_FILE,
    LOG_FIELD_MODULE,
    LOG_FIELD_LINE,
    LOG_FIELD_FUNCTION,
    LOG_FIELD_CONTEXT,
    LOG_FIELD_TOKEN,
    LOG_FIELD_ROLES,
    LOG_FIELD_IDENTITY,       /* in the settings' format */
    LOG_FIELD_PLAIN_IDENTITY, /* oslo.context's own */
    LOG_FIELD_CONSTANT        /* see format.c */
};

struct log_op {
    enum log_op_kind kind;
    enum log_field field; /* LOG_OP_VALUE */
    bool dash;            /* an empty or missing value is "-", as in %(user_identity)s */
    bool clean;           /* LOG_OP_VALUE: may contain text from a client */
    size_t offset;        /* in log_context, for LOG_OP_CONTEXT and LOG_FIELD_CONTEXT */
    struct slice text;    /* LOG_OP_LITERAL */
    const struct log_spec *spec;
};

struct log_program {
    struct log_op *ops;
    size_t count;
    size_t room;
};

struct log_format {
    enum log_form form;
    unsigned number;  /* index of its own entry in log_scratch.times */
    const char *date; /* strftime's */
    bool date_has_ms; /* followed by milliseconds */
    struct slice hostname;
    struct slice line_end;                      /* text that ends the color */
    struct log_program programs[2][LOG_LEVELS]; /* without a request, with one */
    struct log_program identity;
};

/* keys.c: the meaning of each %(key). */
enum log_key_scope { LOG_IN_RECORD = 1, LOG_IN_CONTEXT = 2 };

/* Values that are the same for all lines of a level. */
enum log_constant {
    LOG_CONSTANT_LEVEL_NAME,
    LOG_CONSTANT_LEVEL_NUMBER,
    LOG_CONSTANT_PROCESS,
    LOG_CONSTANT_PROCESS_NAME,
    LOG_CONSTANT_COLOR,
    LOG_CONSTANT_COLOR_END,
    LOG_CONSTANT_EMPTY,
    LOG_CONSTANT_DASH,
    LOG_CONSTANT_NONE,
    LOG_CONSTANT_TRUE,
    LOG_CONSTANT_FALSE,
    LOG_CONSTANT_VERSION,
    LOG_CONSTANT_PRODUCT
};

struct log_key {
    const char *name;
    enum log_key_scope scope;
    enum log_value_kind kind;
    enum log_field field;
    size_t detail; /* offset in log_context, or an enum log_constant */
};

/* Looks among the request's own keys, if the line has a request, and then, except in
 * %(user_identity)s, among those of every line. NULL: there is none. */
const struct log_key *log_key_find(struct slice name, bool has_context, bool in_identity);

struct log_value log_constant_value(enum log_constant constant, enum log_level level, bool color,
                                    bool in_identity, const char *product);

/* The date of a record in a format; valid until the next call. */
struct slice log_date_text(const struct log_format *format, int64_t wall_us,
                           struct log_scratch *scratch);

/* Appends the value according to the spec; the compiler has checked that they match. */
void log_value_append(struct buf *out, const struct log_value *value, const struct log_spec *spec);

/* A context's text at an offset. */
static inline struct slice log_context_text(const struct log_context *context, size_t offset)
{
    return *(const struct slice *)((const char *)context + offset);
}

#endif
