/* GET /resource_providers: the list with its filters. A long list is written in pieces as its
 * client reads. */
#include "api/charge.h"
#include "api/request.h"
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "placement/api/group_parameters.h"
#include "placement/api/handlers.h"
#include "placement/api/provider_json.h"
#include "query/providers.h"

enum {
    WRITTEN_AT_ONCE = 1000, /* providers */
    STEPS_OF_A_LOOK = 4,    /* of the budget, for Last-Modified */
};

static const struct schema *schema_for(unsigned minor)
{
    if (minor >= 18)
        return &SCHEMA_PROVIDERS_QUERY_1_18;
    if (minor >= 14)
        return &SCHEMA_PROVIDERS_QUERY_1_14;
    if (minor >= 4)
        return &SCHEMA_PROVIDERS_QUERY_1_4;
    return minor >= 3 ? &SCHEMA_PROVIDERS_QUERY_1_3 : &SCHEMA_PROVIDERS_QUERY_1_0;
}

static bool read_query(struct api_request *request, struct providers_query *wanted)
{
    struct query_string query = query_string_parse(request->arena, request->query);
    struct ac_group *group = &wanted->group;
    struct slice all = SLICE_LIT("");
    if (!body_schema_check_query(&query, schema_for(request->minor), &request->err))
        return false;
    if (query_string_first(&query, SLICE_LIT("member_of")).data != NULL &&
        !parameter_member_of(request, &query, all, group))
        return false;
    if (query_string_first(&query, SLICE_LIT("required")).data != NULL &&
        !parameter_required(request, &query, all, group))
        return false;
    wanted->uuid = query_string_last(&query, SLICE_LIT("uuid"));
    wanted->name = query_string_last(&query, SLICE_LIT("name"));
    struct slice in_tree = query_string_last(&query, SLICE_LIT("in_tree"));
    if (in_tree.len > 0)
        group->in_tree = in_tree;
    struct slice resources = query_string_last(&query, SLICE_LIT("resources"));
    return resources.data == NULL || parameter_resources(request, resources, group);
}

struct provider_list {
    struct providers_found found;
    uint32_t written;
};

static bool write_more(struct api_request *request)
{
    struct provider_list *list = request->stream.state;
    struct buf *out = api_out(request);
    bool is_whole = request->stream.more == NULL;
    for (;
         list->written < list->found.count && (is_whole || out->len < request->stream.piece_bytes);
         list->written++) {
        if (list->written > 0)
            buf_append_lit(out, ", ");
        provider_write_json(out, list->found.providers[list->written], request->version,
                            request->minor, request->mount);
    }
    if (list->written < list->found.count)
        return true;
    buf_append_lit(out, "]}");
    return false;
}

enum api_step handle_placement_providers_list(struct api_request *request)
{
    struct providers_query wanted = {0};
    if (!read_query(request, &wanted))
        return API_DONE;
    struct budget budget = api_budget(request);
    struct providers_found found;
    switch (
        providers_find(request->version, &wanted, request->arena, &budget, &found, &request->err)) {
    case PROVIDERS_REFUSED:
        return API_DONE;
    case PROVIDERS_EXPENSIVE:
        return api_over_budget(request);
    case PROVIDERS_DONE:
        break;
    }
    if (!budget_take(&budget, STEPS_OF_A_LOOK * (int64_t)found.count))
        return api_over_budget(request);
    int64_t modified_at_us = 0;
    for (uint32_t i = 0; i < found.count; i++)
        if (found.providers[i]->modified_at_us > modified_at_us)
            modified_at_us = found.providers[i]->modified_at_us;
    struct provider_list *list = arena_zalloc(request->arena, sizeof(*list));
    list->found = found;
    request->stream.state = list;
    api_out(request)->len = 0;
    buf_append_lit(api_out(request), "{\"resource_providers\": [");
    if (found.count > WRITTEN_AT_ONCE)
        request->stream.more = write_more;
    else
        check(!write_more(request));
    api_answer_json(request, modified_at_us);
    return API_DONE;
}
