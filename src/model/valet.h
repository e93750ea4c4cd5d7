/* The rows of exclusivity groups, plans and placements (Valet spec, 4, 6, 7 and 8): the tables of
 * their fields. Pure; any thread. */
#ifndef BERTH_MODEL_VALET_H
#define BERTH_MODEL_VALET_H

#include "model/record.h"

enum valet_table {
    VALET_GROUPS,
    VALET_MEMBERS,
    VALET_CLAIMS,
    VALET_PLANS,
    VALET_PLACEMENTS,
    VALET_TABLE_COUNT
};

enum valet_group_field {
    VALET_GROUP_UUID, /* of the group, and of the aggregate of its hosts */
    VALET_GROUP_NAME,
    VALET_GROUP_DESCRIPTION,
    VALET_GROUP_CREATED_AT,
    VALET_GROUP_FIELD_COUNT
};

/* One member of one group. */
enum valet_member_field {
    VALET_MEMBER_GROUP_ID,
    VALET_MEMBER_PROJECT,    /* as it was first sent */
    VALET_MEMBER_ADDED_WITH, /* the id of the first row that its request brought */
    VALET_MEMBER_FIELD_COUNT
};

/* What berth itself has claimed for a group: a host, or a rack with all its hosts. What an operator
 * has claimed is a host in the group's aggregate without such a row. */
enum valet_claim_field {
    VALET_CLAIM_GROUP_ID,
    VALET_CLAIM_PROVIDER, /* uuid of the host or, of a rack's claim, of the rack */
    VALET_CLAIM_IS_RACK,
    VALET_CLAIM_RACK, /* of a host that was claimed with its rack: the rack's uuid */
    VALET_CLAIM_FIELD_COUNT
};

enum valet_plan_field {
    VALET_PLAN_UUID,
    VALET_PLAN_NAME,
    VALET_PLAN_STACK_ID,
    VALET_PLAN_PROJECT, /* of who made it, and so are its holds */
    VALET_PLAN_USER,
    VALET_PLAN_FINGERPRINT, /* of the body that was accepted last */
    VALET_PLAN_CONTENT,     /* its servers and constraints: JSON of ours */
    VALET_PLAN_CREATED_AT,
    VALET_PLAN_ANY_PROJECT, /* all ids of servers in it came from those who see all projects: its
                               servers may be any project's, else they are the plan's own */
    VALET_PLAN_FIELD_COUNT
};

enum valet_placement_field {
    VALET_PLACEMENT_UUID, /* and that of the consumer that holds its capacity */
    VALET_PLACEMENT_PLAN_ID,
    VALET_PLACEMENT_NAME,
    VALET_PLACEMENT_ORCHESTRATION_ID,
    VALET_PLACEMENT_RESOURCE_ID,
    VALET_PLACEMENT_LOCATION, /* the last that is known: the name of a host */
    VALET_PLACEMENT_RESERVED,
    VALET_PLACEMENT_CREATED_AT,
    VALET_PLACEMENT_FIELD_COUNT
};

/* Indexed by enum valet_table. */
extern const struct record_shape VALET_SHAPES[VALET_TABLE_COUNT];

struct valet_group {
    struct record record;
};
struct valet_member {
    struct record record;
};
struct valet_claim {
    struct record record;
};
struct valet_plan {
    struct record record;
};
struct valet_placement {
    struct record record;
};

/* The type of the consumers that hold placements' capacity (section 8). */
#define VALET_HOLD_TYPE "VALET_HOLD"

/* The traits of providers that stand for racks and zones (Valet spec, 8.1). */
#define VALET_RACK_TRAIT "CUSTOM_VALET_RACK"
#define VALET_ZONE_TRAIT "CUSTOM_VALET_ZONE"

/* Ids of projects (section 4.6) and of servers compare as UUIDs, with hyphens or without and in any
 * case, if both are some, else byte by byte. Equal ids have equal hashes. */
bool valet_id_equal(struct slice a, struct slice b);
uint64_t valet_id_hash(struct slice id);

/* The form in which Placement keeps a UUID that is written by PUT, lower case with hyphens; false:
 * the id is none. */
enum { VALET_ID_DASHED_LEN = 36 };
bool valet_id_dashed(struct slice id, char dashed[VALET_ID_DASHED_LEN]);

static inline bool project_equal(struct slice a, struct slice b)
{
    return valet_id_equal(a, b);
}

static inline uint64_t project_hash(struct slice project)
{
    return valet_id_hash(project);
}

#endif
