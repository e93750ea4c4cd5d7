/* An ident is a UUID or, from 1.5 on, a name. A last segment from which ".json" was removed is also
 * tried with it, because names may end that way. Workers and, for planners, the writer's thread. */
#include "baremetal/api/nodes/node_find.h"

#include "api/api.h"
#include "api/text/python_repr.h"
#include "baremetal/api/metal_request.h"

enum { MINOR_OF_NAMES = 5 };

struct access node_find_caller(struct api_request *request)
{
    struct access access;
    access_begin(&access, request->api->policies, &request->identity,
                 request->api->keystone == NULL);
    return access;
}

struct access_node node_find_whose(const struct node *node)
{
    return (struct access_node){node_text(node, NODE_OWNER), node_text(node, NODE_LESSEE)};
}

const struct node *node_find_named(const struct version *version, const struct ident *ident)
{
    switch (ident->kind) {
    case IDENT_UUID:
        return version_node_by_uuid(version, ident->text);
    case IDENT_NAME:
        return version_node_by_name(version, ident->text);
    case IDENT_NOBODY:
    case IDENT_NEITHER:
        break;
    }
    return NULL;
}

const struct node *node_find_refuse(struct slice ident, struct err *err)
{
    err_set_join(err, 404, NULL, SLICE_LIT("Node "), ident, SLICE_LIT(" could not be found."));
    return NULL;
}

bool node_find_check_ident(struct slice text, const char *argument, struct err *err)
{
    if (ident_read(err->arena, text).kind != IDENT_NEITHER)
        return true;
    struct buf message = {0};
    buf_append_lit(&message, "Expected UUID or name for ");
    buf_append_slice(&message, slice_of(argument));
    buf_append_lit(&message, ": ");
    python_str_text(&message, text);
    err_set_text(err, 400, NULL, arena_copy(err->arena, buf_slice(&message)));
    buf_free(&message);
    return false;
}

static const struct node *look_up(const struct api_request *request, const struct version *version,
                                  struct slice segment, struct err *err)
{
    struct ident ident = ident_read(err->arena, segment);
    if (ident.kind == IDENT_NAME && request->minor < MINOR_OF_NAMES)
        return NULL;
    return node_find_named(version, &ident);
}

const struct node *node_find_visible(struct api_request *request, const struct version *version,
                                     struct slice segment, struct access *access, struct err *err)
{
    const struct node *node = look_up(request, version, segment, err);
    if (node == NULL && metal_own(request)->with_suffix.data == segment.data) {
        segment = metal_own(request)->with_suffix;
        node = look_up(request, version, segment, err);
    }
    *access = node_find_caller(request);
    if (node == NULL)
        return node_find_refuse(segment, err);
    struct access_node whose = node_find_whose(node);
    if (!access_node_passes(access, POLICY_NODE_GET, &whose))
        return node_find_refuse(segment, err);
    return node;
}

const struct node *node_find(struct api_request *request, const struct version *version,
                             struct slice segment, enum policy_baremetal_rule rule, struct err *err)
{
    struct access access;
    const struct node *node = node_find_visible(request, version, segment, &access, err);
    if (node == NULL)
        return NULL;
    struct access_node whose = node_find_whose(node);
    return access_node(&access, rule, &whose, err) == ACCESS_ALLOWED ? node : NULL;
}
