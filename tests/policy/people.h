/* Callers as the differentials write them. */
#ifndef BERTH_TESTS_PEOPLE_H
#define BERTH_TESTS_PEOPLE_H

#include <jansson.h>

#include "auth/identity.h"
#include "base/check.h"

enum { LIST_MAX = 64 };

struct person {
    struct identity identity;
    struct slice roles[LIST_MAX];
    struct slice service_roles[LIST_MAX];
};

/* The text of a member; data == NULL: it is none. */
struct slice people_text(const json_t *object, const char *key);

/* From the keywords of oslo.context's RequestContext. */
void people_read(const json_t *object, struct person *person);

#endif
