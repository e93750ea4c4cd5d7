/* Each name is looked up on its own. Pure; any thread. */
#include "valet/api/stack/stack_resolve.h"

#include "replica/valet.h"

struct resolving {
    const struct version *version;
    struct slice project;
    int status;
    struct err *err;
};

static bool refuse_server(const struct resolving *resolving, const struct stack_server *server,
                          const char *what, struct slice name)
{
    return err_set_join(resolving->err, resolving->status, NULL,
                        SLICE_LIT("Valet error: resource '"), server->orchestration_id,
                        SLICE_LIT("': "), slice_of(what), SLICE_LIT(" '"), name, SLICE_LIT("'"));
}

static bool check_traits(const struct resolving *resolving, const struct stack_server *server,
                         const struct stack_names *traits)
{
    for (uint32_t i = 0; i < traits->count; i++)
        if (catalog_find(&resolving->version->traits, traits->names[i]) == NULL)
            return refuse_server(resolving, server, "there is no trait", traits->names[i]);
    return true;
}

static bool check_class(const struct resolving *resolving, const struct stack_server *server,
                        struct slice name)
{
    return catalog_find(&resolving->version->classes, name) != NULL ||
           refuse_server(resolving, server, "there is no resource class", name);
}

static bool check_server(const struct resolving *resolving, const struct stack_server *server)
{
    for (uint32_t i = 0; i < server->amount_count; i++)
        if (!check_class(resolving, server, server->amounts[i].class_name))
            return false;
    for (uint32_t i = 0; i < server->removed.count; i++)
        if (!check_class(resolving, server, server->removed.names[i]))
            return false;
    return check_traits(resolving, server, &server->required) &&
           check_traits(resolving, server, &server->forbidden);
}

static bool find_group(const struct resolving *resolving, struct stack_group *group)
{
    const struct valet_group *found =
        version_valet_group_by_name(resolving->version, group->group_name);
    if (found == NULL)
        return err_set_join(resolving->err, 409, NULL,
                            SLICE_LIT("Valet error: Exclusivity group '"), group->group_name,
                            SLICE_LIT("' not found"));
    group->group_uuid = record_text(&found->record, VALET_GROUP_UUID);
    return version_valet_member(resolving->version, found->record.id, resolving->project) != NULL ||
           err_set_join(
               resolving->err, 409, NULL,
               SLICE_LIT("Valet error: the project is not a member of exclusivity group '"),
               group->group_name, SLICE_LIT("'"));
}

bool stack_resolve(struct stack *stack, const struct version *version, struct slice project,
                   int status_of_unknown, struct arena *arena, struct err *err)
{
    struct resolving resolving = {version, project, status_of_unknown, err};
    for (uint32_t i = 0; i < stack->server_count; i++)
        if (!check_server(&resolving, &stack->servers[i]))
            return false;
    struct stack_group *groups = arena_array(arena, stack->group_count, sizeof(*groups));
    for (uint32_t i = 0; i < stack->group_count; i++) {
        groups[i] = stack->groups[i];
        if (groups[i].type == STACK_EXCLUSIVITY && !find_group(&resolving, &groups[i]))
            return false;
        if (groups[i].group_uuid.data != NULL)
            groups[i].group_uuid = arena_copy(arena, groups[i].group_uuid);
    }
    stack->groups = groups;
    return true;
}

void stack_resolve_known(struct stack *stack, const struct version *version, struct arena *arena)
{
    struct stack_group *groups = arena_array(arena, stack->group_count, sizeof(*groups));
    for (uint32_t i = 0; i < stack->group_count; i++) {
        groups[i] = stack->groups[i];
        if (groups[i].type != STACK_EXCLUSIVITY)
            continue;
        const struct valet_group *found =
            version_valet_group_by_name(version, groups[i].group_name);
        groups[i].group_uuid = SLICE_LIT("");
        if (found != NULL)
            groups[i].group_uuid = arena_copy(arena, record_text(&found->record, VALET_GROUP_UUID));
    }
    stack->groups = groups;
}
