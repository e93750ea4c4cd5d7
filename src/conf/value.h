/* Converts a configured text to a value of its option's type. */
#ifndef BERTH_CONF_VALUE_H
#define BERTH_CONF_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "conf/options.h"

/* The source of a value; later ones override earlier ones. */
enum conf_origin {
    CONF_ORIGIN_DEFAULT,  /* the option table */
    CONF_ORIGIN_EMBEDDED, /* no file at all: see load.h */
    CONF_ORIGIN_FILE,
    CONF_ORIGIN_ENVIRONMENT,
    CONF_ORIGIN_COMMAND_LINE
};

/* Exactly one of the members below `where` is used, depending on the option's type. Texts are
 * NUL-terminated and contain no other NUL byte. */
struct conf_value {
    const struct option *option;
    enum conf_origin origin;
    const char *where; /* "FILE:LINE", the environment variable, the switch; "" for defaults */
    bool is_set;       /* false: neither a value nor a default */
    const char *text;
    int64_t integer;
    double real;
    bool boolean;
    const char *const *items; /* OPTION_LIST and OPTION_MULTI */
    size_t items_n;
};

/* Converts `n` texts (one, unless the type is OPTION_MULTI) as oslo.config's types do, into value's
 * member and is_set. An empty number is a value that is not set. False: `why` (in the arena) gives
 * the reason, without naming option or source. Texts and parts are copied into the arena. */
bool value_convert(struct conf_value *value, const struct slice *texts, size_t n,
                   struct arena *arena, struct slice *why) BERTH_MUST_CHECK;

/* Appends the value as oslo.config's interpolation shows it: True and False for booleans, 60.0 for
 * a float, ['a', 'b'] for lists, nothing for a value that is not set. */
void value_print(const struct conf_value *value, struct buf *out);

/* Whether these two values of one option are equal. Their sources do not matter. */
bool value_equal(const struct conf_value *a, const struct conf_value *b);

#endif
