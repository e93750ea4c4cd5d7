/* GET /allocation_candidates: parse, ask, write. The candidates go to the body as they are found;
 * the summaries of their trees follow. A question without limit can have more candidates than any
 * memory holds: it is refused when the body has become as large as a body may be. */
#include "api/placement/candidates_parameters.h"
#include "api/placement/handlers.h"
#include "base/json_write.h"
#include "query/ac_search.h"

enum { CANDIDATES_MOST_BYTES = 256 << 20 };

/* Candidates of one question are mostly alike but for the providers: the text of the last one is
 * copied, and the uuids in it are put over. */
struct template
{
    struct ac_entry *entries;
    uint32_t entry_count;
    struct ac_mapping *mappings;
    uint32_t mapping_count;
    size_t at; /* in the body */
    size_t len;
    bool is_fit;     /* there is one, and all its uuids have the usual length */
    uint32_t *uuids; /* where in the text they stand, in the order in which they are written */
    uint32_t uuid_count;
    uint32_t capacity; /* of the three arrays */
};

/* The class of the inventory at one place of a row: hosts are alike, so mostly the same again. */
struct shown_class {
    struct class_no class_no;
    const struct catalog_row *row; /* NULL: none yet */
    bool is_wanted;
};

enum { SHOWN_CLASSES = 8 };

struct writer {
    const struct version *version;
    const struct ac_request *asked;
    struct arena *arena;
    struct buf *out;
    unsigned minor;
    uint64_t count;
    struct budget *budget;
    bool is_too_large;
    struct template template;
    struct shown_class classes[SHOWN_CLASSES];
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
    *at++ = '"';
    at = mempcpy(at, provider->uuid, provider->uuid_len);
    *at++ = '"';
    out->len = (size_t)(at - out->data);
}

/* A candidate's provider, whose place in the text the template keeps. */
static void write_provider(struct writer *writer, struct slot_no slot)
{
    struct template *template = &writer->template;
    const struct provider *provider = provider_at(writer, slot);
    template->uuids[template->uuid_count++] = (uint32_t)(writer->out->len + 1 - template->at);
    if (provider->uuid_len != UUID_TEXT_MAX)
        template->is_fit = false;
    write_uuid(writer->out, provider);
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
        write_provider(writer, candidate->entries[i].slot);
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
        write_provider(writer, candidate->entries[i].slot);
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
            write_provider(writer, candidate->mappings[i].slot);
        }
        buf_append_char(out, ']');
    }
    buf_append_char(out, '}');
}

static void template_grow(struct writer *writer, uint32_t capacity)
{
    struct template *template = &writer->template;
    if (capacity <= template->capacity)
        return;
    template->entries = arena_array(writer->arena, capacity, sizeof(*template->entries));
    template->mappings = arena_array(writer->arena, capacity, sizeof(*template->mappings));
    template->uuids = arena_array(writer->arena, capacity, sizeof(*template->uuids));
    template->capacity = capacity;
}

/* Writes a candidate piece by piece, and keeps it as the template of those to come. */
static void write_anew(struct writer *writer, const struct ac_candidate *candidate)
{
    struct template *template = &writer->template;
    struct buf *out = writer->out;
    template_grow(writer, candidate->entry_count + candidate->mapping_count);
    template->at = out->len;
    template->uuid_count = 0;
    template->is_fit = true;
    buf_append_lit(out, "{\"allocations\": ");
    if (writer->minor >= 12)
        write_allocations(writer, candidate);
    else
        write_allocation_list(writer, candidate);
    if (writer->minor >= 34)
        write_mappings(writer, candidate);
    buf_append_char(out, '}');
    template->len = out->len - template->at;
    template->entry_count = candidate->entry_count;
    template->mapping_count = candidate->mapping_count;
    memcpy(template->entries, candidate->entries,
           candidate->entry_count * sizeof(*candidate->entries));
    memcpy(template->mappings, candidate->mappings,
           candidate->mapping_count * sizeof(*candidate->mappings));
}

/* Whether entry i begins another provider. */
static bool begins_provider(const struct ac_entry *entries, uint32_t i)
{
    return i == 0 || entries[i].slot.v != entries[i - 1].slot.v;
}

/* Whether the candidate's text is the template's, but for the uuids. */
static bool is_alike(const struct template *template, const struct ac_candidate *candidate)
{
    if (!template->is_fit || candidate->entry_count != template->entry_count ||
        candidate->mapping_count != template->mapping_count)
        return false;
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        const struct ac_entry *entry = &candidate->entries[i];
        const struct ac_entry *before = &template->entries[i];
        if (entry->class_no.v != before->class_no.v || entry->amount != before->amount ||
            begins_provider(candidate->entries, i) != begins_provider(template->entries, i))
            return false;
    }
    for (uint32_t i = 0; i < candidate->mapping_count; i++)
        if (candidate->mappings[i].group != template->mappings[i].group)
            return false;
    return true;
}

/* Copies the template; false if one of the uuids is of another length. */
static bool write_alike(struct writer *writer, const struct ac_candidate *candidate)
{
    struct template *template = &writer->template;
    struct buf *out = writer->out;
    char *text = buf_reserve(out, template->len);
    const uint32_t *at = template->uuids;
    memcpy(text, out->data + template->at, template->len);
    const struct provider *provider = NULL;
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        if (!begins_provider(candidate->entries, i))
            continue;
        provider = provider_at(writer, candidate->entries[i].slot);
        if (provider->uuid_len != UUID_TEXT_MAX)
            return false;
        memcpy(text + *at++, provider->uuid, UUID_TEXT_MAX);
    }
    for (uint32_t i = 0; i < candidate->mapping_count && writer->minor >= 34; i++) {
        provider = provider_at(writer, candidate->mappings[i].slot);
        if (provider->uuid_len != UUID_TEXT_MAX)
            return false;
        memcpy(text + *at++, provider->uuid, UUID_TEXT_MAX);
    }
    out->len += template->len;
    return true;
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
    if (!is_alike(&writer->template, candidate) || !write_alike(writer, candidate))
        write_anew(writer, candidate);
}

static bool is_requested(const struct writer *writer, struct slice class_name)
{
    for (uint32_t g = 0; g < writer->asked->group_count; g++)
        for (uint32_t i = 0; i < writer->asked->groups[g].resource_count; i++)
            if (slice_equal(writer->asked->groups[g].resources[i].class_name, class_name))
                return true;
    return false;
}

static const struct shown_class *shown_class(struct writer *writer, uint32_t at,
                                             struct class_no class_no)
{
    struct shown_class *shown = &writer->classes[at % SHOWN_CLASSES];
    if (shown->row == NULL || shown->class_no.v != class_no.v) {
        shown->class_no = class_no;
        shown->row = catalog_row_at(&writer->version->classes, class_no.v);
        shown->is_wanted = writer->minor >= 27 || is_requested(writer, catalog_name(shown->row));
    }
    return shown;
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
        const struct shown_class *shown = shown_class(writer, i, inventory->class_no);
        if (!shown->is_wanted)
            continue;
        if (!first)
            buf_append_lit(out, ", ");
        first = false;
        write_name(out, shown->row);
        buf_append_lit(out, ": ");
        provider_inventory_write_summary(out, inventory);
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
        if (provider->root.v == provider->no.v)
            write_uuid(out, provider);
        else
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
    struct writer writer = {
        .version = request->version,
        .asked = &asked,
        .arena = request->arena,
        .out = api_out(request),
        .minor = request->minor,
        .budget = &budget,
    };
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
