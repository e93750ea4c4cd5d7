/* The file format of oslo.config: sections, assignments, continuation lines (operators.md,
 * Configuration). The meaning of values is handled elsewhere. */
#ifndef BERTH_CONF_INI_H
#define BERTH_CONF_INI_H

#include <stddef.h>

#include "base/arena.h"
#include "base/slice.h"

/* One assignment. They are in the order of the file. A key may occur several times. */
struct ini_entry {
    struct slice section; /* as written, without the brackets */
    struct slice key;     /* case matters */
    struct slice
        value;     /* the lines of a value joined by \n; may be empty; followed by a NUL byte */
    unsigned line; /* of the key, counted from 1 */
};

struct ini_file {
    struct ini_entry *entries; /* in the arena */
    size_t n;
};

struct ini_error {
    unsigned line;
    const char *what; /* static text */
};

/* Parses a whole file. Everything in `out` lies in the arena; nothing points into `text`. False at
 * the first line that is not in the format, with `error` filled; as in oslo.config, one such line
 * makes the file invalid. A byte order mark at the beginning is ignored (oslo.config rejects it); a
 * NUL byte is an error, and so is text that is not UTF-8. */
bool ini_parse(struct slice text, struct arena *arena, struct ini_file *out,
               struct ini_error *error) BERTH_MUST_CHECK;

/* The two sides of an assignment, without surrounding blanks, in the line's own memory. NULL, or
 * the reason why the line is invalid. */
const char *ini_split(struct slice line, struct slice *key, struct slice *value) BERTH_MUST_CHECK;

/* Cuts the next line off *rest and returns it without its line end, which is \n, \r\n or \r, as in
 * Python's text files. */
struct slice ini_next_line(struct slice *rest);

/* Whether the section name in a file means this section. oslo.config ignores case, except for
 * DEFAULT, which must be DEFAULT. `name` is in lower case or DEFAULT. */
bool ini_section_is(struct slice written, const char *name);

#endif
