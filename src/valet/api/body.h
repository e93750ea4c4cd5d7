/* Bodies of the Valet API: JSON objects, held within limits (Valet spec, 2.4 and 2.6). What is
 * found lives as long as the document. False and NULL: err has the 400 (or, of a body that is too
 * long, the 413). Any thread. */
#ifndef BERTH_VALET_API_BODY_H
#define BERTH_VALET_API_BODY_H

#include <jansson.h>
#include <limits.h>

#include "api/request.h"

enum {
    BODY_NESTING_MAX = 25, /* objects and lists within each other */
    BODY_TEXT_MAX = 255,   /* characters of a text that is used here */
    BODY_DESCRIPTION_MAX = 4096,
    BODY_IGNORED_MAX = INT_MAX, /* of one that is not: the body's own limit is below */
};

/* The request's body, an object, which lives as long as the request (request->body). */
json_t *body_read(struct api_request *request);

/* The same of bytes, into the heap (NULL: memory of its own): the caller owns the document. For
 * tests and the fuzzer, too. */
json_t *body_parse(struct slice bytes, struct json_heap *heap, struct err *err);

/* Whether the object has no other members than those; names end with NULL. */
bool body_check_keys(json_t *object, const char *const *names, struct err *err) BERTH_MUST_CHECK;

/* What a text may be. */
struct body_text {
    const char *name;
    bool is_optional; /* missing: data == NULL */
    unsigned min;     /* characters */
    unsigned max;
};

/* The member of that name. */
bool body_get_text(const json_t *object, const struct body_text *rule, struct slice *text,
                   struct err *err) BERTH_MUST_CHECK;

/* A member that is a list or an object; *value is NULL if it is optional and not there. */
bool body_get_list(const json_t *object, const char *name, bool is_optional, const json_t **value,
                   struct err *err) BERTH_MUST_CHECK;
bool body_get_object(const json_t *object, const char *name, bool is_optional, const json_t **value,
                     struct err *err) BERTH_MUST_CHECK;

/* Characters of a UTF-8 text. */
size_t body_text_length(struct slice text);

/* The 400 about a member: "-> NAME -> what". Returns false. */
bool body_refuse(const char *name, struct slice what, struct err *err);

#endif
