/* Reading callers. The texts stay where they are. */
#include "people.h"

struct slice people_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return (struct slice){0};
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static struct identity_roles roles_of(const json_t *list, struct slice names[LIST_MAX])
{
    struct identity_roles roles = {names, (unsigned)json_array_size(list)};
    check(roles.count <= LIST_MAX);
    for (unsigned i = 0; i < roles.count; i++) {
        const json_t *name = json_array_get(list, i);
        names[i] = (struct slice){json_string_value(name), json_string_length(name)};
    }
    return roles;
}

void people_read(const json_t *object, struct person *person)
{
    struct identity *identity = &person->identity;
    *identity = (struct identity){
        .user_id = people_text(object, "user_id"),
        .user_domain_id = people_text(object, "user_domain_id"),
        .project_id = people_text(object, "project_id"),
        .project_domain_id = people_text(object, "project_domain_id"),
        .domain_id = people_text(object, "domain_id"),
        .system_scope = people_text(object, "system_scope"),
        .names.project = people_text(object, "project_name"),
        .roles = roles_of(json_object_get(object, "roles"), person->roles),
        .outside_admin_project = json_is_false(json_object_get(object, "is_admin_project")),
        .service =
            {
                .user_id = people_text(object, "service_user_id"),
                .user_domain_id = people_text(object, "service_user_domain_id"),
                .project_id = people_text(object, "service_project_id"),
                .project_domain_id = people_text(object, "service_project_domain_id"),
                .roles = roles_of(json_object_get(object, "service_roles"), person->service_roles),
            },
    };
}
