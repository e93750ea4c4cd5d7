/* The correct candidates, found by brute force. */
#ifndef BERTH_TESTS_UNIT_QUERY_ORACLE_H
#define BERTH_TESTS_UNIT_QUERY_ORACLE_H

#include "cloud.h"
#include "query/ac_request.h"

enum { ORACLE_GROUPS_MAX = 5 };

/* Candidates as texts. */
struct found {
    char **texts; /* malloc'd, as is each of them */
    size_t count;
};

struct found found_create(void);
void found_free(struct found *found);

/* Takes ownership of the text. */
void found_add(struct found *found, char *text);

/* Sorts the texts; unique: also drops repetitions. */
void found_sort(struct found *found, bool unique);

/* Whether a sorted list has the text. */
bool found_has(const struct found *found, const char *text);

/* Amounts by slot and class, and groups by slot, as one malloc'd text. */
char *found_text(const struct version *version, int64_t (*amounts)[CLOUD_CLASSES],
                 bool (*mapped)[ORACLE_GROUPS_MAX], uint32_t groups);

/* Adds all candidates of the request, which has at most ORACLE_GROUPS_MAX groups; sorted, each
 * once.
 */
void oracle_ask(const struct version *version, const struct ac_request *request,
                struct found *found);

#endif
