/* The parts of a database URL, as SQLAlchemy's grammar separates them. */
#ifndef BERTH_STORE_SERVER_URL_PARTS_H
#define BERTH_STORE_SERVER_URL_PARTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

/* Slices of the URL, still encoded; empty, if the URL does not have the part. */
struct url_parts {
    struct slice scheme;   /* before "://": letters, digits, "_" and "+" */
    struct slice user;     /* percent-encoded */
    struct slice password; /* percent-encoded */
    struct slice host;     /* literal, without the brackets of an IPv6 address */
    struct slice port;     /* literal; without data: there is no ":" */
    struct slice database; /* literal */
    struct slice query;    /* name=value&name=value */
};

/* Separates the parts. False with one line (503), without any part of the URL in it: this is not a
 * URL, or an unencoded character makes parts end in the wrong place. Any thread. */
bool url_parts_parse(struct slice url, struct url_parts *parts, struct err *err) BERTH_MUST_CHECK;

/* Decodes percent-encoded text as Python's unquote(): a "%" without two hexadecimal digits stays.
 * In a query, "+" is a blank. The text is in the arena, with a NUL byte that is not counted. Any
 * thread. */
struct slice url_parts_decode(struct arena *arena, struct slice raw, bool plus_is_space);

#endif
