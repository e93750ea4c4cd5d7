/* Reads arguments of a query one by one, with the error texts for invalid values (bare metal
 * spec 1.5 to 1.7). Each function leaves its result unchanged if the argument is missing. A
 * repeated argument is invalid: 400, with all its values. */
#ifndef BERTH_BAREMETAL_API_INPUT_ARGUMENTS_H
#define BERTH_BAREMETAL_API_INPUT_ARGUMENTS_H

#include "api/text/query_string.h"
#include "baremetal/api/input/ident.h"

struct argument {
    const char *name;
    struct slice text; /* of a repeated argument: its values as a list, quoted */
    bool is_there;
    bool is_repeated;
};

struct argument argument_find(struct arena *arena, const struct query_string *query,
                              const char *name);

/* 400 Unexpected arguments: A, B for all arguments that are not among the names (NULL-terminated).
 */
bool arguments_check_names(const struct query_string *query, const char *const *names,
                           struct err *err) BERTH_MUST_CHECK;

bool argument_text(const struct argument *argument, struct slice *text,
                   struct err *err) BERTH_MUST_CHECK;
bool argument_uuid(const struct argument *argument, struct slice *uuid,
                   struct err *err) BERTH_MUST_CHECK;
bool argument_ident(const struct argument *argument, struct ident *ident,
                    struct err *err) BERTH_MUST_CHECK;
bool argument_boolean(const struct argument *argument, bool *value,
                      struct err *err) BERTH_MUST_CHECK;

bool argument_integer(const struct argument *argument, int64_t *number,
                      struct err *err) BERTH_MUST_CHECK;

/* 1 or more, reduced to the initial *limit, the maximum. */
bool argument_limit(const struct argument *argument, size_t *limit,
                    struct err *err) BERTH_MUST_CHECK;

/* "asc" or "desc". */
bool argument_sort_dir(const struct argument *argument, bool *is_descending,
                       struct err *err) BERTH_MUST_CHECK;
bool argument_check_sort_dir(struct slice text, bool *is_descending,
                             struct err *err) BERTH_MUST_CHECK;

/* `fields`, `shard`: names in lower case without surrounding blanks, each once, in the order given.
 */
struct argument_words {
    struct slice *words;
    size_t count;
};

bool argument_words(const struct argument *argument, struct argument_words *words,
                    struct err *err) BERTH_MUST_CHECK;

/* 400 Field(s) "A, B" are not valid for names that is_known does not know. */
bool argument_check_fields(const struct argument_words *fields,
                           bool (*is_known)(const void *with, struct slice name), const void *with,
                           struct err *err) BERTH_MUST_CHECK;

/* "1 t true on y yes" and "0 f false off n no", in any case and with surrounding blanks; false if
 * the text is none of them. */
bool argument_read_boolean(struct slice text, bool *value);

/* 400 Invalid NAME: Unrecognized value 'V', acceptable values are: … */
bool argument_refuse_boolean(const char *name, struct slice value, struct err *err);

#endif
