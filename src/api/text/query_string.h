/* The query string as a list of decoded pairs (placement spec, Query strings). */
#ifndef BERTH_API_TEXT_QUERY_STRING_H
#define BERTH_API_TEXT_QUERY_STRING_H

#include "base/err.h"

struct arena;

struct query_pair {
    struct slice name;
    struct slice value;
};

struct query_string {
    struct query_pair *pairs;
    size_t count;
    bool is_utf8; /* false: a name or value is not valid UTF-8 (400 in the API) */
};

/* Splits at '&' and ';', ignores empty pairs, and decodes '+' and %XX (a malformed % is kept). */
struct query_string query_string_parse(struct arena *arena, struct slice raw);

/* Decodes %XX; '+' is decoded to a space if plus_is_space. */
struct slice percent_decode(struct arena *arena, struct slice raw, bool plus_is_space);

/* The rest of the encoded text after that many characters of the decoded one. */
struct slice percent_skip(struct slice raw, size_t decoded);

bool text_is_utf8(struct slice text);

/* The last value with that name, or data == NULL. */
struct slice query_string_last(const struct query_string *query, struct slice name);

/* The first value with that name, or data == NULL. */
struct slice query_string_first(const struct query_string *query, struct slice name);

#endif
