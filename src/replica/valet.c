/* Lookups and iteration over groups, plans and placements. */
#include "replica/valet.h"

#include "base/hash.h"
#include "replica/rows.h"
#include "replica/valet_keys.h"

const struct valet_key VALET_KEYS[VALET_TABLE_COUNT][VALET_KEYS_MAX] = {
    [VALET_GROUPS] = {[VALET_GROUP_BY_UUID] = {VALET_KEY_TEXT, VALET_GROUP_UUID},
                      [VALET_GROUP_BY_NAME] = {VALET_KEY_TEXT, VALET_GROUP_NAME}},
    [VALET_MEMBERS] = {[VALET_MEMBER_BY_GROUP] = {VALET_KEY_REFERENCE, VALET_MEMBER_GROUP_ID},
                       [VALET_MEMBER_BY_PROJECT] = {VALET_KEY_ID, VALET_MEMBER_PROJECT}},
    [VALET_CLAIMS] = {[VALET_CLAIM_BY_GROUP] = {VALET_KEY_REFERENCE, VALET_CLAIM_GROUP_ID},
                      [VALET_CLAIM_BY_PROVIDER] = {VALET_KEY_TEXT, VALET_CLAIM_PROVIDER},
                      [VALET_CLAIM_BY_RACK] = {VALET_KEY_TEXT, VALET_CLAIM_RACK},
                      [VALET_CLAIM_BY_LEVEL] = {VALET_KEY_REFERENCE, VALET_CLAIM_IS_RACK}},
    [VALET_PLANS] = {[VALET_PLAN_BY_UUID] = {VALET_KEY_TEXT, VALET_PLAN_UUID},
                     [VALET_PLAN_BY_STACK] = {VALET_KEY_TEXT, VALET_PLAN_STACK_ID}},
    [VALET_PLACEMENTS] =
        {[VALET_PLACEMENT_BY_UUID] = {VALET_KEY_TEXT, VALET_PLACEMENT_UUID},
         [VALET_PLACEMENT_BY_ORCHESTRATION] = {VALET_KEY_ID, VALET_PLACEMENT_ORCHESTRATION_ID},
         [VALET_PLACEMENT_BY_RESOURCE] = {VALET_KEY_ID, VALET_PLACEMENT_RESOURCE_ID},
         [VALET_PLACEMENT_BY_PLAN] = {VALET_KEY_REFERENCE, VALET_PLACEMENT_PLAN_ID}},
};

bool valet_key_of(const struct valet_key *key, const struct record *record, uint64_t *value)
{
    struct slice text;
    switch (key->kind) {
    case VALET_KEY_NONE:
        return false;
    case VALET_KEY_TEXT:
        text = record_text(record, key->field);
        *value = text.data == NULL ? 0 : hash_text(text);
        return text.data != NULL;
    case VALET_KEY_ID:
        text = record_text(record, key->field);
        *value = text.data == NULL ? 0 : valet_id_hash(text);
        return text.data != NULL;
    case VALET_KEY_REFERENCE:
        *value = (uint64_t)record_number(record, key->field);
        return true;
    }
    check(false);
    return false;
}

static const struct record *by_id(const struct version *version, enum valet_table table, int64_t id)
{
    return rows_at(&version->valet[table].rows, id);
}

static const struct record *by_text(const struct version *version, enum valet_table table,
                                    unsigned tree, struct slice text)
{
    const struct valet_rows *rows = &version->valet[table];
    return rows_find_text(&rows->rows, &rows->by[tree], VALET_KEYS[table][tree].field, text);
}

/* If damage has left several, the one whose text is byte by byte the same takes precedence. */
static const struct record *by_ident(const struct version *version, enum valet_table table,
                                     unsigned tree, struct slice ident, int64_t but_for)
{
    const struct valet_rows *rows = &version->valet[table];
    const struct record *found = NULL;
    uint64_t hash = valet_id_hash(ident);
    for (int64_t id = 0; (id = rows_next_under(&rows->by[tree], hash, id)) != 0;) {
        const struct record *row = rows_at(&rows->rows, id);
        struct slice text = record_text(row, VALET_KEYS[table][tree].field);
        if (id == but_for)
            continue;
        if (slice_equal(text, ident))
            return row;
        if (found == NULL && valet_id_equal(text, ident))
            found = row;
    }
    return found;
}

static const struct record *next(const struct version *version, enum valet_table table,
                                 int64_t after)
{
    const struct ptree *rows = &version->valet[table].rows;
    int64_t id = rows_next_id(rows, after);
    return id == 0 ? NULL : rows_at(rows, id);
}

static const struct record *next_under(const struct version *version, enum valet_table table,
                                       unsigned tree, int64_t key, int64_t after)
{
    const struct valet_rows *rows = &version->valet[table];
    int64_t id = rows_next_under(&rows->by[tree], (uint64_t)key, after);
    return id == 0 ? NULL : rows_at(&rows->rows, id);
}

static const struct record *next_of_text(const struct version *version, enum valet_table table,
                                         unsigned tree, struct slice text, int64_t after)
{
    const struct valet_rows *rows = &version->valet[table];
    uint64_t hash = hash_text(text);
    while ((after = rows_next_under(&rows->by[tree], hash, after)) != 0) {
        const struct record *row = rows_at(&rows->rows, after);
        if (slice_equal(record_text(row, VALET_KEYS[table][tree].field), text))
            return row;
    }
    return NULL;
}

const struct valet_group *version_valet_group(const struct version *version, int64_t id)
{
    return (const struct valet_group *)by_id(version, VALET_GROUPS, id);
}

const struct valet_group *version_valet_group_by_uuid(const struct version *version,
                                                      struct slice uuid)
{
    return (const struct valet_group *)by_text(version, VALET_GROUPS, VALET_GROUP_BY_UUID, uuid);
}

const struct valet_group *version_valet_group_by_name(const struct version *version,
                                                      struct slice name)
{
    return (const struct valet_group *)by_text(version, VALET_GROUPS, VALET_GROUP_BY_NAME, name);
}

const struct valet_group *version_next_valet_group(const struct version *version, int64_t after)
{
    return (const struct valet_group *)next(version, VALET_GROUPS, after);
}

const struct valet_member *version_valet_member(const struct version *version, int64_t group_id,
                                                struct slice project)
{
    const struct valet_rows *rows = &version->valet[VALET_MEMBERS];
    uint64_t hash = project_hash(project);
    int64_t id = 0;
    while ((id = rows_next_under(&rows->by[VALET_MEMBER_BY_PROJECT], hash, id)) != 0) {
        const struct record *row = rows_at(&rows->rows, id);
        if (record_number(row, VALET_MEMBER_GROUP_ID) == group_id &&
            project_equal(record_text(row, VALET_MEMBER_PROJECT), project))
            return (const struct valet_member *)row;
    }
    return NULL;
}

const struct valet_member *version_next_valet_member(const struct version *version,
                                                     int64_t group_id, int64_t after)
{
    return (const struct valet_member *)next_under(version, VALET_MEMBERS, VALET_MEMBER_BY_GROUP,
                                                   group_id, after);
}

const struct valet_claim *version_next_valet_claim(const struct version *version, int64_t after)
{
    return (const struct valet_claim *)next(version, VALET_CLAIMS, after);
}

const struct valet_claim *version_next_valet_claim_of_group(const struct version *version,
                                                            int64_t group_id, int64_t after)
{
    return (const struct valet_claim *)next_under(version, VALET_CLAIMS, VALET_CLAIM_BY_GROUP,
                                                  group_id, after);
}

const struct valet_claim *version_next_valet_claim_of(const struct version *version,
                                                      struct slice provider_uuid, int64_t after)
{
    return (const struct valet_claim *)next_of_text(version, VALET_CLAIMS, VALET_CLAIM_BY_PROVIDER,
                                                    provider_uuid, after);
}

const struct valet_claim *version_next_valet_claim_with(const struct version *version,
                                                        struct slice rack_uuid, int64_t after)
{
    return (const struct valet_claim *)next_of_text(version, VALET_CLAIMS, VALET_CLAIM_BY_RACK,
                                                    rack_uuid, after);
}

bool version_has_valet_rack_claims(const struct version *version)
{
    return next_under(version, VALET_CLAIMS, VALET_CLAIM_BY_LEVEL, RECORD_TRUE, 0) != NULL;
}

const struct valet_plan *version_valet_plan(const struct version *version, int64_t id)
{
    return (const struct valet_plan *)by_id(version, VALET_PLANS, id);
}

const struct valet_plan *version_valet_plan_by_uuid(const struct version *version,
                                                    struct slice uuid)
{
    return (const struct valet_plan *)by_text(version, VALET_PLANS, VALET_PLAN_BY_UUID, uuid);
}

const struct valet_plan *version_next_valet_plan(const struct version *version, int64_t after)
{
    return (const struct valet_plan *)next(version, VALET_PLANS, after);
}

const struct valet_plan *version_next_valet_plan_of_stack(const struct version *version,
                                                          struct slice stack_id, int64_t after)
{
    return (const struct valet_plan *)next_of_text(version, VALET_PLANS, VALET_PLAN_BY_STACK,
                                                   stack_id, after);
}

const struct valet_plan *version_valet_plan_of_stack(const struct version *version,
                                                     struct slice project, struct slice stack_id)
{
    const struct valet_plan *plan = NULL;
    for (int64_t id = 0; (plan = version_next_valet_plan_of_stack(version, stack_id, id)) != NULL;
         id = plan->record.id)
        if (project_equal(record_text(&plan->record, VALET_PLAN_PROJECT), project))
            return plan;
    return NULL;
}

const struct valet_placement *version_valet_placement(const struct version *version, int64_t id)
{
    return (const struct valet_placement *)by_id(version, VALET_PLACEMENTS, id);
}

const struct valet_placement *version_valet_placement_by_uuid(const struct version *version,
                                                              struct slice uuid)
{
    return (const struct valet_placement *)by_text(version, VALET_PLACEMENTS,
                                                   VALET_PLACEMENT_BY_UUID, uuid);
}

const struct valet_placement *
version_valet_placement_by_orchestration(const struct version *version, struct slice id)
{
    return (const struct valet_placement *)by_ident(version, VALET_PLACEMENTS,
                                                    VALET_PLACEMENT_BY_ORCHESTRATION, id, 0);
}

const struct valet_placement *version_valet_placement_by_resource(const struct version *version,
                                                                  struct slice id)
{
    return (const struct valet_placement *)by_ident(version, VALET_PLACEMENTS,
                                                    VALET_PLACEMENT_BY_RESOURCE, id, 0);
}

const struct valet_placement *version_valet_placement_with(const struct version *version,
                                                           struct slice id, int64_t but_for)
{
    char dashed[VALET_ID_DASHED_LEN];
    bool is_uuid = valet_id_dashed(id, dashed);
    const struct record *found =
        by_text(version, VALET_PLACEMENTS, VALET_PLACEMENT_BY_UUID,
                is_uuid ? (struct slice){dashed, VALET_ID_DASHED_LEN} : id);
    if (found == NULL)
        found = by_ident(version, VALET_PLACEMENTS, VALET_PLACEMENT_BY_ORCHESTRATION, id, but_for);
    if (found == NULL)
        found = by_ident(version, VALET_PLACEMENTS, VALET_PLACEMENT_BY_RESOURCE, id, but_for);
    return (const struct valet_placement *)found;
}

const struct valet_placement *version_next_valet_placement(const struct version *version,
                                                           int64_t after)
{
    return (const struct valet_placement *)next(version, VALET_PLACEMENTS, after);
}

const struct valet_placement *version_next_valet_placement_of(const struct version *version,
                                                              int64_t plan_id, int64_t after)
{
    return (const struct valet_placement *)next_under(version, VALET_PLACEMENTS,
                                                      VALET_PLACEMENT_BY_PLAN, plan_id, after);
}
