/* GET /allocation_candidates: parse, ask, write. The candidates go to the body as they are found;
 * the summaries of their trees follow. A question without limit can have more candidates than any
 * memory holds: it is refused when the body has become as large as a body may be. */
#include "api/placement/candidates_parameters.h"
#include "api/placement/handlers.h"
#include "base/json_write.h"
#include "query/ac_search.h"

enum { CANDIDATES_MOST_BYTES = 256 << 20 };

struct writer {
    const struct version *version;
    const struct ac_request *asked;
    struct buf *out;
    unsigned minor;
    uint64_t count;
    struct budget *budget;
    bool is_too_large;
};

static void write_name(struct buf *out, const struct catalog_row *row)
{
    buf_append_char(out, '"');
    buf_append_slice(out, catalog_name(row)); /* class names are [A-Z0-9_]+ */
    buf_append_char(out, '"');
}

static const struct provider *provider_at(const struct writer *writer, struct slot_no slot)
{
    return version_place(writer->version, slot)->provider;
}

static void write_uuid(struct buf *out, const struct provider *provider)
{
    char *at = buf_reserve(out, UUID_TEXT_MAX + 2);
    uint32_t len = provider->uuid_len;
    at[0] = '"';
    if (len == UUID_TEXT_MAX) /* nearly always: a copy of known size */
        memcpy(at + 1, provider->uuid, UUID_TEXT_MAX);
    else
        memcpy(at + 1, provider->uuid, len);
    at[1 + len] = '"';
    out->len += len + 2;
}

/* {"VCPU": 1, ...}: the entries of one provider, from *i on. */
static void write_resources(struct writer *writer, const struct ac_candidate *candidate,
                            uint32_t *i)
{
    struct buf *out = writer->out;
    struct slot_no slot = candidate->entries[*i].slot;
    buf_append_char(out, '{');
    for (bool first = true; *i < candidate->entry_count && candidate->entries[*i].slot.v == slot.v;
         (*i)++, first = false) {
        const struct ac_entry *entry = &candidate->entries[*i];
        if (!first)
            buf_append_lit(out, ", ");
        write_name(out, catalog_row_at(&writer->version->classes, entry->class_no.v));
        buf_append_lit(out, ": ");
        buf_append_int(out, entry->amount);
    }
    buf_append_char(out, '}');
}

/* From 1.12: {"UUID": {"resources": {...}}, ...}. */
static void write_allocations(struct writer *writer, const struct ac_candidate *candidate)
{
    struct buf *out = writer->out;
    buf_append_char(out, '{');
    for (uint32_t i = 0; i < candidate->entry_count;) {
        if (i > 0)
            buf_append_lit(out, ", ");
        write_uuid(out, provider_at(writer, candidate->entries[i].slot));
        buf_append_lit(out, ": {\"resources\": ");
        write_resources(writer, candidate, &i);
        buf_append_char(out, '}');
    }
    buf_append_char(out, '}');
}

static void write_allocation_list(struct writer *writer, const struct ac_candidate *candidate)
{
    struct buf *out = writer->out;
    buf_append_char(out, '[');
    for (uint32_t i = 0; i < candidate->entry_count;) {
        if (i > 0)
            buf_append_lit(out, ", ");
        buf_append_lit(out, "{\"resource_provider\": {\"uuid\": ");
        write_uuid(out, provider_at(writer, candidate->entries[i].slot));
        buf_append_lit(out, "}, \"resources\": ");
        write_resources(writer, candidate, &i);
        buf_append_char(out, '}');
    }
    buf_append_char(out, ']');
}

static void write_mappings(struct writer *writer, const struct ac_candidate *candidate)
{
    struct buf *out = writer->out;
    buf_append_lit(out, ", \"mappings\": {");
    for (uint32_t i = 0; i < candidate->mapping_count;) {
        uint32_t group = candidate->mappings[i].group;
        if (i > 0)
            buf_append_lit(out, ", ");
        json_write_string(out, writer->asked->groups[group].suffix);
        buf_append_lit(out, ": [");
        for (bool first = true;
             i < candidate->mapping_count && candidate->mappings[i].group == group;
             i++, first = false) {
            if (!first)
                buf_append_lit(out, ", ");
            write_uuid(out, provider_at(writer, candidate->mappings[i].slot));
        }
        buf_append_char(out, ']');
    }
    buf_append_char(out, '}');
}

static void write_candidate(void *cls, const struct ac_candidate *candidate)
{
    struct writer *writer = cls;
    struct buf *out = writer->out;
    if (out->len > CANDIDATES_MOST_BYTES) {
        writer->is_too_large = true;
        budget_exhaust(writer->budget);
        return;
    }
    if (writer->count++ > 0)
        buf_append_lit(out, ", ");
    buf_append_lit(out, "{\"allocations\": ");
    if (writer->minor >= 12)
        write_allocations(writer, candidate);
    else
        write_allocation_list(writer, candidate);
    if (writer->minor >= 34)
        write_mappings(writer, candidate);
    buf_append_char(out, '}');
}

static bool is_requested(const struct writer *writer, struct slice class_name)
{
    for (uint32_t g = 0; g < writer->asked->group_count; g++)
        for (uint32_t i = 0; i < writer->asked->groups[g].resource_count; i++)
            if (slice_equal(writer->asked->groups[g].resources[i].class_name, class_name))
                return true;
    return false;
}

static void write_summary(struct writer *writer, const struct provider *provider)
{
    struct buf *out = writer->out;
    if (writer->count++ > 0)
        buf_append_lit(out, ", ");
    write_uuid(out, provider);
    buf_append_lit(out, ": {\"resources\": {");
    bool first = true;
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        const struct catalog_row *row =
            catalog_row_at(&writer->version->classes, inventory->class_no.v);
        if (writer->minor < 27 && !is_requested(writer, catalog_name(row)))
            continue;
        if (!first)
            buf_append_lit(out, ", ");
        first = false;
        write_name(out, row);
        buf_append_lit(out, ": {\"capacity\": ");
        buf_append_int(out, capacity_of(&inventory->figures));
        buf_append_lit(out, ", \"used\": ");
        buf_append_int(out, inventory->used);
        buf_append_char(out, '}');
    }
    buf_append_char(out, '}');
    if (writer->minor >= 17) {
        buf_append_lit(out, ", \"traits\": ");
        buf_append_slice(out, name_set_json(provider->traits));
    }
    if (writer->minor >= 29) {
        buf_append_lit(out, ", \"parent_provider_uuid\": ");
        if (provider->parent.v == NUMBER_NONE)
            buf_append_lit(out, "null");
        else
            write_uuid(out, version_provider(writer->version, provider->parent));
        buf_append_lit(out, ", \"root_provider_uuid\": ");
        write_uuid(out, version_provider(writer->version, provider->root));
    }
    buf_append_char(out, '}');
}

static void write_summaries(struct writer *writer, const struct ac_summaries *summaries)
{
    writer->count = 0;
    for (uint32_t i = 0; i < summaries->count; i++) {
        struct slot_no slot = {summaries->slots[i]};
        uint32_t end =
            summaries->are_roots ? version_place(writer->version, slot)->end : slot.v + 1;
        for (; slot.v < end; slot.v++)
            write_summary(writer, provider_at(writer, slot));
    }
}

enum api_step handle_candidates_list(struct api_request *request)
{
    struct ac_request asked;
    if (!candidates_parameters_read(request, &asked))
        return API_DONE;
    struct budget budget = api_budget(request);
    struct writer writer = {request->version, &asked, api_out(request), request->minor, 0,
                            &budget,          false};
    struct ac_summaries summaries;
    writer.out->len = 0;
    buf_append_lit(writer.out, "{\"allocation_requests\": [");
    switch (ac_search(request->version, &asked, request->arena, &budget, write_candidate, &writer,
                      &summaries, &request->err)) {
    case AC_REFUSED:
        return API_DONE;
    case AC_EXPENSIVE:
        if (request->phase == PHASE_SLOW)
            buf_free(writer.out);
        if (writer.is_too_large && request->phase == PHASE_SLOW)
            err_set(&request->err, 400, NULL,
                    "There are more allocation candidates than one answer can hold. Ask for fewer "
                    "with limit.");
        return api_over_budget(request);
    case AC_DONE:
        break;
    }
    buf_append_lit(writer.out, "], \"provider_summaries\": {");
    write_summaries(&writer, &summaries);
    buf_append_lit(writer.out, "}}");
    api_answer_json(request, 0);
    return API_DONE;
}
