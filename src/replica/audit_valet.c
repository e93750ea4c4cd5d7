/* The audit of groups, plans and placements: each row is in the trees of its keys, and the trees
 * have no other entries. Any thread, on a pinned version. */
#include "replica/audit_internal.h"
#include "replica/rows.h"
#include "replica/valet_keys.h"

static bool audit_table(const struct version *version, enum valet_table table, struct buf *why)
{
    const struct valet_rows *rows = &version->valet[table];
    uint64_t keyed[VALET_KEYS_MAX] = {0};
    for (int64_t id = 0; (id = rows_next_id(&rows->rows, id)) != 0;) {
        const struct record *record = rows_at(&rows->rows, id);
        AUDIT_INTO(why, record != NULL && record->id == id, "Valet table %d: row %lld: key differs",
                   (int)table, (long long)id);
        for (unsigned i = 0; i < VALET_KEYS_MAX; i++) {
            uint64_t key;
            uint64_t ignored;
            if (!valet_key_of(&VALET_KEYS[table][i], record, &key))
                continue;
            keyed[i]++;
            AUDIT_INTO(why, ptree_find(&rows->by[i], key, (uint64_t)id, &ignored),
                       "Valet table %d: row %lld: not by its key %u", (int)table, (long long)id, i);
        }
    }
    for (unsigned i = 0; i < VALET_KEYS_MAX; i++)
        AUDIT_INTO(why, rows->by[i].count == keyed[i], "Valet table %d: key %u: counts differ",
                   (int)table, i);
    return true;
}

bool audit_valet(const struct version *version, struct buf *why)
{
    for (int table = 0; table < VALET_TABLE_COUNT; table++)
        if (!audit_table(version, (enum valet_table)table, why))
            return false;
    return true;
}
