/* Changes of groups, plans and placements: a put is a whole row, and only the trees whose key has
 * changed are modified. Writer only. */
#include "replica/apply_internal.h"
#include "replica/rows.h"
#include "replica/valet_keys.h"

void apply_valet_change(struct edit *edit, const struct change *change)
{
    enum valet_table table = change_valet_table(change->kind);
    struct valet_rows *rows = &edit->version->valet[table];
    int64_t id = change->row.id;
    check(change_is_valet_put(change->kind) == (change->row.record != NULL));
    const struct record *before = rows_at(&rows->rows, id);
    const struct record *after = rows_replace(&edit->cow, &rows->rows, id, change->row.record);
    for (unsigned i = 0; i < VALET_KEYS_MAX; i++) {
        const struct valet_key *key = &VALET_KEYS[table][i];
        uint64_t old = 0;
        uint64_t new = 0;
        bool had = before != NULL && valet_key_of(key, before, &old);
        bool has = after != NULL && valet_key_of(key, after, &new);
        rows_move_key(&edit->cow, &rows->by[i], id, had, old, has, new);
    }
    rows_drop(&edit->cow, before);
}
