/* What a plan asks for (Valet spec, 6.2 to 6.4), checked and normalised: servers and the groups
 * that constrain them. Texts and arrays belong to whoever made it. */
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
    const struct stack_amount *amounts; /* classes differ */
    uint32_t amount_count;              /* at least 1 */
    struct stack_names required;        /* traits, each once */
    struct stack_names forbidden;
    struct stack_names removed;   /* classes that its body has none of: they exist, too */
    struct slice zone;            /* data == NULL: any */
    struct stack_names locations; /* names of hosts; count 0: no limit */
};

enum stack_group_type { STACK_AFFINITY, STACK_DIVERSITY, STACK_EXCLUSIVITY };
enum stack_level { STACK_HOST, STACK_RACK };

/* A server or a group of the same stack. */
struct stack_element {
    bool is_group;
    uint32_t at;
};

/* Groups refer to each other without circles; what may list what is spec 6.4. */
struct stack_group {
    struct slice orchestration_id;
    struct slice name;
    enum stack_group_type type;
    enum stack_level level;
    struct slice group_uuid; /* exclusivity: of the valet_group; else data == NULL */
    struct slice group_name;
    const struct stack_element *elements;
    uint32_t element_count; /* what is neither server nor group is left out: may be 0 */
};

struct stack {
    const struct stack_server *servers; /* in the order of the body */
    uint32_t server_count;
    const struct stack_group *groups;
    uint32_t group_count;
    struct stack_names locations; /* of every server; count 0: no limit */
};

/* The same names in the same order. */
bool stack_names_equal(const struct stack_names *a, const struct stack_names *b);

bool stack_names_has(const struct stack_names *names, struct slice name);

/* Whether they ask a host for the same: amounts and traits, in the same order. */
bool stack_server_asks_same(const struct stack_server *a, const struct stack_server *b);

#endif
