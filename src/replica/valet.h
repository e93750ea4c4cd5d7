/* Lookups of groups, their members and claims, plans and placements in a version. Any thread, on a
 * pinned version; the writer also on the version it is making. Texts compare byte by byte unless
 * stated otherwise. NULL: there is none. Iteration is in the order of ids, which is that of
 * creation: begin with `after` 0 and continue with the last row's id. */
#ifndef BERTH_REPLICA_VALET_H
#define BERTH_REPLICA_VALET_H

#include "model/valet.h"
#include "replica/version.h"

/* Whether any group exists. Without one, exclusivity costs nothing. */
static inline bool version_has_valet_groups(const struct version *version)
{
    return version->valet[VALET_GROUPS].rows.count > 0;
}

static inline bool version_has_valet_placements(const struct version *version)
{
    return version->valet[VALET_PLACEMENTS].rows.count > 0;
}

const struct valet_group *version_valet_group(const struct version *version, int64_t id);
const struct valet_group *version_valet_group_by_uuid(const struct version *version,
                                                      struct slice uuid);
const struct valet_group *version_valet_group_by_name(const struct version *version,
                                                      struct slice name);
const struct valet_group *version_next_valet_group(const struct version *version, int64_t after);

/* The group's member with that project (project_equal). */
const struct valet_member *version_valet_member(const struct version *version, int64_t group_id,
                                                struct slice project);
const struct valet_member *version_next_valet_member(const struct version *version,
                                                     int64_t group_id, int64_t after);

const struct valet_claim *version_next_valet_claim(const struct version *version, int64_t after);
const struct valet_claim *version_next_valet_claim_of_group(const struct version *version,
                                                            int64_t group_id, int64_t after);
/* Claims of the host or rack with that uuid. */
const struct valet_claim *version_next_valet_claim_of(const struct version *version,
                                                      struct slice provider_uuid, int64_t after);

/* Claims of hosts that were claimed with the rack of that uuid. */
const struct valet_claim *version_next_valet_claim_with(const struct version *version,
                                                        struct slice rack_uuid, int64_t after);
/* Whether any rack is claimed. Without one, racks cost nothing. */
bool version_has_valet_rack_claims(const struct version *version);

const struct valet_plan *version_valet_plan(const struct version *version, int64_t id);
const struct valet_plan *version_valet_plan_by_uuid(const struct version *version,
                                                    struct slice uuid);
const struct valet_plan *version_next_valet_plan(const struct version *version, int64_t after);
const struct valet_plan *version_next_valet_plan_of_stack(const struct version *version,
                                                          struct slice stack_id, int64_t after);

/* The plan of the stack that belongs to the project (project_equal). */
const struct valet_plan *version_valet_plan_of_stack(const struct version *version,
                                                     struct slice project, struct slice stack_id);

const struct valet_placement *version_valet_placement(const struct version *version, int64_t id);
const struct valet_placement *version_valet_placement_by_uuid(const struct version *version,
                                                              struct slice uuid);
/* The row with that id (valet_id_equal); of several, the one whose id is byte by byte the same. */
const struct valet_placement *
version_valet_placement_by_orchestration(const struct version *version, struct slice id);
const struct valet_placement *version_valet_placement_by_resource(const struct version *version,
                                                                  struct slice id);
/* A placement, except the one with row id `but_for`, that has the id in any form as its
 * orchestration id or resource id; or any placement that has it as its own uuid, which identifies
 * the consumer that holds its capacity: no server has such an id. */
const struct valet_placement *version_valet_placement_with(const struct version *version,
                                                           struct slice id, int64_t but_for);
const struct valet_placement *version_next_valet_placement(const struct version *version,
                                                           int64_t after);
const struct valet_placement *version_next_valet_placement_of(const struct version *version,
                                                              int64_t plan_id, int64_t after);

#endif
