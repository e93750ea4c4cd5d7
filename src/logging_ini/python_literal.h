/* The few Python expressions that occur in a logging configuration as a handler's arguments. */
#ifndef BERTH_LOGGING_INI_PYTHON_LITERAL_H
#define BERTH_LOGGING_INI_PYTHON_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

enum python_kind {
    PYTHON_NONE,
    PYTHON_TEXT,
    PYTHON_INTEGER,
    PYTHON_BOOLEAN,
    PYTHON_NAME,     /* dotted, such as sys.stdout */
    PYTHON_SEQUENCE, /* a tuple or a list */
    PYTHON_MAPPING   /* items: key, value, key, value… */
};

struct python_value {
    enum python_kind kind;
    struct slice text; /* of PYTHON_TEXT and PYTHON_NAME; followed by a NUL byte */
    int64_t integer;   /* of PYTHON_INTEGER and PYTHON_BOOLEAN */
    const struct python_value *items;
    size_t count;
};

/* Reads one expression of strings, whole numbers and their products, None, True, False, dotted
 * names, tuples (also without parentheses), lists and mappings. False: it is malformed, nested
 * deeper than eight, or of another kind. Everything lies in the arena. */
bool python_literal_parse(struct slice text, struct arena *arena,
                          struct python_value *out) BERTH_MUST_CHECK;

#endif
