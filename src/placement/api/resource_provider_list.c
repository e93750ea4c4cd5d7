/* GET /resource_providers: the list with its filters. */
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "placement/api/group_parameters.h"
#include "placement/api/handlers.h"
#include "query/providers.h"

enum {
    LEAST_STEPS_OF_ONE = 24,     /* its text at the oldest version */
    LONG_QUERY_BYTES = 16 << 10, /* are not read on a worker: that takes its time, too */
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

static bool read_question(struct api_request *request, struct providers_question *question)
{
    struct query_string query = query_string_parse(request->arena, request->query);
    struct ac_group *group = &question->group;
    struct slice all = SLICE_LIT("");
    if (!body_schema_check_query(&query, schema_for(request->minor), &request->err))
        return false;
    if (query_string_first(&query, SLICE_LIT("member_of")).data != NULL &&
        !parameter_member_of(request, &query, all, group))
        return false;
    if (query_string_first(&query, SLICE_LIT("required")).data != NULL &&
        !parameter_required(request, &query, all, group))
        return false;
    question->uuid = query_string_last(&query, SLICE_LIT("uuid"));
    question->name = query_string_last(&query, SLICE_LIT("name"));
    struct slice in_tree = query_string_last(&query, SLICE_LIT("in_tree"));
    if (in_tree.len > 0)
        group->in_tree = in_tree;
    struct slice resources = query_string_last(&query, SLICE_LIT("resources"));
    return resources.data == NULL || parameter_resources(request, resources, group);
}

enum api_step handle_providers_list(struct api_request *request)
{
    struct providers_question question = {0};
    if (request->phase != PHASE_SLOW && request->query.len > LONG_QUERY_BYTES)
        return api_over_budget(request);
    if (!read_question(request, &question))
        return API_DONE;
    struct budget budget = api_budget(request);
    struct providers_found found;
    switch (providers_find(request->version, &question, request->arena, &budget, &found,
                           &request->err)) {
    case PROVIDERS_REFUSED:
        return API_DONE;
    case PROVIDERS_EXPENSIVE:
        return api_over_budget(request);
    case PROVIDERS_DONE:
        break;
    }
    if (!budget_allows(&budget, LEAST_STEPS_OF_ONE * (int64_t)found.count))
        return api_over_budget(request);
    struct buf *out = api_out(request);
    out->len = 0;
    size_t counted = 0;
    int64_t modified_at_us = 0;
    buf_append_lit(out, "{\"resource_providers\": [");
    for (uint32_t i = 0; i < found.count; i++) {
        const struct provider *provider = found.providers[i];
        if (i > 0)
            buf_append_lit(out, ", ");
        provider_write_json(out, provider, request->version, request->minor, request->mount);
        if (!api_charge_text(request, &budget, &counted))
            return api_start_over(request);
        if (provider->modified_at_us > modified_at_us)
            modified_at_us = provider->modified_at_us;
    }
    buf_append_lit(out, "]}");
    api_answer_json(request, modified_at_us);
    return API_DONE;
}
