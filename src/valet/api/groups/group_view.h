/* A group as clients see it (Valet spec, 4.2). */
#ifndef BERTH_VALET_API_GROUPS_GROUP_VIEW_H
#define BERTH_VALET_API_GROUPS_GROUP_VIEW_H

#include "base/arena.h"
#include "base/buf.h"
#include "replica/valet.h"

struct group_view {
    struct slice uuid;
    struct slice name;
    struct slice description;
    const struct slice *members; /* those of the newest request first */
    size_t member_count;
};

/* The group with `more`, members that the version does not have yet, first. Texts are not copied;
 * the list is in the arena. */
struct group_view group_view_of(const struct version *version, const struct valet_group *group,
                                const struct slice *more, size_t more_count, struct arena *arena);

/* The same with copies of the texts, in the arena. */
struct group_view *group_view_copy(const struct group_view *view, struct arena *arena);

void group_view_write(struct buf *out, const struct group_view *view);

#endif
