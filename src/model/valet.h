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
    VALET_MEMBER_ADDED_WITH, /* the id of the first row added by the same request */
    VALET_MEMBER_FIELD_COUNT
};

/* A claim that berth itself has made for a group: a host, or a rack with all its hosts. A host in
 * the group's aggregate without such a row was claimed by an operator. */
enum valet_claim_field {
    VALET_CLAIM_GROUP_ID,
    VALET_CLAIM_PROVIDER, /* uuid of the host, or of the rack if a rack is claimed */
    VALET_CLAIM_IS_RACK,
    VALET_CLAIM_RACK, /* of a host that was claimed with its rack: the rack's uuid */
    VALET_CLAIM_FIELD_COUNT
};

enum valet_plan_field {
    VALET_PLAN_UUID,
    VALET_PLAN_NAME,
    VALET_PLAN_STACK_ID,
    VALET_PLAN_PROJECT, /* the project that created the plan; its holds belong to the same
                         * project */
    VALET_PLAN_USER,
    VALET_PLAN_FINGERPRINT, /* of the last accepted body */
    VALET_PLAN_CONTENT,     /* its servers and constraints: JSON in berth's own form */
    VALET_PLAN_CREATED_AT,
    VALET_PLAN_ANY_PROJECT, /* all server ids in it came from callers that see all projects: its
                             * servers may belong to any project; otherwise to the plan's own */
    VALET_PLAN_FIELD_COUNT
};

enum valet_placement_field {
    VALET_PLACEMENT_UUID, /* also that of the consumer that holds its capacity */
    VALET_PLACEMENT_PLAN_ID,
    VALET_PLACEMENT_NAME,
    VALET_PLACEMENT_ORCHESTRATION_ID,
    VALET_PLACEMENT_RESOURCE_ID,
    VALET_PLACEMENT_LOCATION, /* the last known one: the name of a host */
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

/* The traits of providers that represent racks and zones (Valet spec, 8.1). */
#define VALET_RACK_TRAIT "CUSTOM_VALET_RACK"
#define VALET_ZONE_TRAIT "CUSTOM_VALET_ZONE"

/* Compares ids of projects (section 4.6) and of servers: as UUIDs, in any case and with or without
 * hyphens, if both are UUIDs; otherwise byte by byte. Equal ids have equal hashes. */
bool valet_id_equal(struct slice a, struct slice b);
uint64_t valet_id_hash(struct slice id);

/* The form in which Placement stores a UUID written by PUT: lower case with hyphens. False: the id
 * is not a UUID. */
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
