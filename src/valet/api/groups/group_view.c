/* Members are stored in the order in which they were added; requests are shown newest first. Pure;
 * any thread. */
#include "valet/api/groups/group_view.h"

#include "base/json_write.h"

struct members {
    const struct valet_member **rows;
    size_t count;
    size_t room;
};

static struct members group_view_collect(const struct version *version,
                                         const struct valet_group *group, struct arena *arena)
{
    struct members all = {0};
    const struct valet_member *member;
    for (int64_t id = 0;
         (member = version_next_valet_member(version, group->record.id, id)) != NULL;
         id = member->record.id) {
        all.rows = arena_grow(arena, all.rows, all.count, &all.room, sizeof(*all.rows));
        all.rows[all.count++] = member;
    }
    return all;
}

static int64_t added_with(const struct valet_member *member)
{
    return record_number(&member->record, VALET_MEMBER_ADDED_WITH);
}

struct group_view group_view_of(const struct version *version, const struct valet_group *group,
                                const struct slice *more, size_t more_count, struct arena *arena)
{
    struct members all = group_view_collect(version, group, arena);
    struct slice *members = arena_array(arena, more_count + all.count, sizeof(*members));
    size_t count = 0;
    while (count < more_count) {
        members[count] = more[count];
        count++;
    }
    for (size_t end = all.count; end > 0;) {
        size_t begin = end - 1;
        while (begin > 0 && added_with(all.rows[begin - 1]) == added_with(all.rows[end - 1]))
            begin--;
        for (size_t i = begin; i < end; i++)
            members[count++] = record_text(&all.rows[i]->record, VALET_MEMBER_PROJECT);
        end = begin;
    }
    return (struct group_view){
        .uuid = record_text(&group->record, VALET_GROUP_UUID),
        .name = record_text(&group->record, VALET_GROUP_NAME),
        .description = record_text(&group->record, VALET_GROUP_DESCRIPTION),
        .members = members,
        .member_count = count,
    };
}

struct group_view *group_view_copy(const struct group_view *view, struct arena *arena)
{
    struct group_view *copy = arena_alloc(arena, sizeof(*copy));
    struct slice *members = arena_array(arena, view->member_count, sizeof(*members));
    for (size_t i = 0; i < view->member_count; i++)
        members[i] = arena_copy(arena, view->members[i]);
    *copy = (struct group_view){
        .uuid = arena_copy(arena, view->uuid),
        .name = arena_copy(arena, view->name),
        .description = arena_copy(arena, view->description),
        .members = members,
        .member_count = view->member_count,
    };
    return copy;
}

void group_view_write(struct buf *out, const struct group_view *view)
{
    buf_append_lit(out, "{\"id\": ");
    json_write_string(out, view->uuid);
    buf_append_lit(out, ", \"name\": ");
    json_write_string(out, view->name);
    buf_append_lit(out, ", \"description\": ");
    json_write_string(out, view->description);
    buf_append_lit(out, ", \"type\": \"exclusivity\", \"members\": [");
    for (size_t i = 0; i < view->member_count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        json_write_string(out, view->members[i]);
    }
    buf_append_lit(out, "]}");
}
