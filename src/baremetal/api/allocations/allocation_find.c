/* By uuid or name. Allocations that the caller may not see are reported as missing. Any thread. */
#include "baremetal/api/allocations/allocation_find.h"

#include "baremetal/api/access.h"
#include "baremetal/api/input/ident.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"
#include "replica/nodes.h"

static const struct node_allocation *lookup(const struct version *version,
                                            const struct ident *ident)
{
    if (ident->kind == IDENT_UUID)
        return version_node_allocation_by_uuid(version, ident->text);
    if (ident->kind == IDENT_NAME)
        return version_node_allocation_by_name(version, ident->text);
    return NULL;
}

/* A suffix .json is ignored, unless only a name that includes it exists (1.1). */
static const struct node_allocation *
lookup_with_suffix(struct api_request *request, struct slice text, const struct version *version)
{
    struct ident ident = ident_read(request->arena, text);
    const struct node_allocation *found = lookup(version, &ident);
    if (found != NULL || metal_own(request)->with_suffix.data != text.data)
        return found;
    ident = ident_read(request->arena, metal_own(request)->with_suffix);
    return lookup(version, &ident);
}

static bool check_ident(struct api_request *request, struct slice text,
                        enum policy_baremetal_rule rule, struct err *err)
{
    struct ident ident = ident_read(request->arena, text);
    if (ident.kind == IDENT_NEITHER && rule == POLICY_NODE_ALLOCATION_UPDATE)
        return err_set_join(err, 400, NULL,
                            SLICE_LIT("Expected a logical name or UUID but received "), text,
                            SLICE_LIT("."));
    return ident.kind != IDENT_NEITHER ||
           err_set_join(err, 400, NULL, SLICE_LIT("Expected UUID or name for allocation_ident: "),
                        text);
}

static const struct node_allocation *not_found(struct slice text, struct err *err)
{
    err_set_join(err, 404, NULL, SLICE_LIT("Allocation "), text, SLICE_LIT(" could not be found."));
    return NULL;
}

const struct node_allocation *allocation_find(struct api_request *request, struct slice text,
                                              enum policy_baremetal_rule rule,
                                              const struct version *version, struct err *err)
{
    if (!check_ident(request, text, rule, err))
        return NULL;
    const struct node_allocation *found = lookup_with_suffix(request, text, version);
    if (found == NULL)
        return not_found(text, err);
    struct access access = node_find_caller(request);
    switch (
        access_allocation(&access, rule, node_allocation_text(found, NODE_ALLOCATION_OWNER), err)) {
    case ACCESS_ALLOWED:
        return found;
    case ACCESS_REFUSED:
        return NULL;
    case ACCESS_HIDDEN:
        break;
    }
    return not_found(text, err);
}

const struct node_allocation *allocation_find_of_node(struct api_request *request,
                                                      struct slice text, int unknown_status,
                                                      enum policy_baremetal_rule rule,
                                                      const struct version *version,
                                                      struct err *err)
{
    struct access access;
    const struct node *node = node_find_visible(request, version, text, &access, err);
    if (node == NULL) {
        struct ident ident = ident_read(request->arena, text);
        if (err->status == 404 && node_find_named(version, &ident) == NULL)
            err->status = unknown_status;
        return NULL;
    }
    const struct node_allocation *found = version_node_allocation_of(version, node->record.id);
    if (found == NULL) {
        err_set_join(err, 404, NULL, SLICE_LIT("Allocation for node "), text,
                     SLICE_LIT(" was not found"));
        return NULL;
    }
    struct slice owner = node_allocation_text(found, NODE_ALLOCATION_OWNER);
    if (access_allocation_passes(&access, rule, owner))
        return found;
    (void)access_refuse(rule, err);
    return NULL;
}
