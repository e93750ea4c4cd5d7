/* The file dialect of oslo.config: sections, assignments, continuation lines (operators.md,
 * Configuration). What a value means is not known here. */
#ifndef BERTH_CONF_INI_H
#define BERTH_CONF_INI_H

#include <stddef.h>

#include "base/arena.h"
#include "base/slice.h"

/* One assignment, in the order of the file. A key may come several times. */
struct ini_entry {
    struct slice section; /* as written, without the brackets */
    struct slice key;     /* case matters */
    struct slice value;   /* the lines of a value joined by \n; may be empty; a NUL byte follows */
    unsigned line;        /* of the key, counted from 1 */
};

struct ini_file {
    struct ini_entry *entries; /* in the arena */
    size_t n;
};

struct ini_error {
    unsigned line;
    const char *what; /* static text */
};

/* Parses a whole file. Everything in `out` lies in the arena, nothing points into `text`. False at
 * the first line that is none of the dialect's, with `error` filled; as in oslo.config one such
 * line refuses the file. A byte order mark at the beginning is passed over (oslo.config refuses
 * it); a NUL byte is an error, and so is what is not UTF-8. */
bool ini_parse(struct slice text, struct arena *arena, struct ini_file *out,
               struct ini_error *error) BERTH_MUST_CHECK;

/* The two sides of an assignment, without the blanks around them, in the line's own memory. NULL,
 * or what is wrong with the line. */
const char *ini_split(struct slice line, struct slice *key, struct slice *value) BERTH_MUST_CHECK;

/* Cuts the next line off *rest and returns it without its end, which is \n, \r\n or \r, as in
 * Python's text files. */
struct slice ini_next_line(struct slice *rest);

/* Does the section as written in a file mean this one? oslo.config compares without case, except
 * for DEFAULT, which is only DEFAULT. `name` is in lower case or DEFAULT. */
bool ini_section_is(struct slice written, const char *name);

#endif
