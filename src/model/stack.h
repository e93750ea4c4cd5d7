/* The contents of a plan of stacks (Valet spec, 6.2 to 6.4), checked and normalised: servers and
 * the groups that constrain them. Texts and arrays belong to the code that made it. */
#ifndef BERTH_MODEL_STACK_H
#define BERTH_MODEL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct stack_amount {
    struct slice class_name;
    int64_t amount; /* at least 1 */
};

struct stack_names {
    const struct slice *names;
    uint32_t count;
};

struct stack_server {
    struct slice orchestration_id;
    struct slice name;
    const struct stack_amount *amounts; /* no class occurs twice */
    uint32_t amount_count;              /* at least 1 */
    struct stack_names required;        /* traits, each once */
    struct stack_names forbidden;
    struct stack_names removed;   /* classes of which the body requests none; they must exist,
                                   * too */
    struct slice zone;            /* data == NULL: any */
    struct stack_names locations; /* names of hosts; count 0: any host */
};

enum stack_group_type { STACK_AFFINITY, STACK_DIVERSITY, STACK_EXCLUSIVITY };
enum stack_level { STACK_HOST, STACK_RACK };

/* A server, or a group of the same stack. */
struct stack_element {
    bool is_group;
    uint32_t at;
};

/* Groups do not refer to each other in circles; spec 6.4 states which elements a group may
 * contain. */
struct stack_group {
    struct slice orchestration_id;
    struct slice name;
    enum stack_group_type type;
    enum stack_level level;
    struct slice group_uuid; /* of an exclusivity group: that of the valet_group; otherwise data ==
                              * NULL */
    struct slice group_name;
    const struct stack_element *elements;
    uint32_t element_count; /* may be 0: elements that are neither server nor group are left out */
};

struct stack {
    const struct stack_server *servers; /* in the order of the body */
    uint32_t server_count;
    const struct stack_group *groups;
    uint32_t group_count;
    struct stack_names locations; /* for every server; count 0: any host */
};

/* Whether both contain the same names in the same order. */
bool stack_names_equal(const struct stack_names *a, const struct stack_names *b);

bool stack_names_has(const struct stack_names *names, struct slice name);

/* Whether both require the same from a host: amounts and traits, in the same order. */
bool stack_server_requests_same(const struct stack_server *a, const struct stack_server *b);

#endif
