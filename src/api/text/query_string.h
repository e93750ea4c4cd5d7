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
    bool is_utf8; /* false: some name or value is not valid UTF-8 (400 in the API) */
};

/* Splits at '&' and ';', passes over empty pairs, decodes '+' and %XX (a malformed % stays as it
 * is). */
struct query_string query_string_parse(struct arena *arena, struct slice raw);

/* %XX decoding of a path; '+' stays. */
struct slice percent_decode(struct arena *arena, struct slice raw, bool plus_is_space);

/* What is left of the encoded text behind so many characters of the decoded one. */
struct slice percent_skip(struct slice raw, size_t decoded);

bool text_is_utf8(struct slice text);

/* The last value of that name, or data == NULL. */
struct slice query_string_last(const struct query_string *query, struct slice name);

/* The first one. */
struct slice query_string_first(const struct query_string *query, struct slice name);

#endif
