/* The text of the largest answers. Candidates are copied from the previous one where they are
 * alike; summaries are assembled from texts that the replica stores. Any thread. */
#include "placement/api/candidates_json.h"

#include "base/json_write.h"

/* Class names are [A-Z0-9_]+, unless another program wrote them. */
static bool is_plain(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] != '_' && (name.data[i] < '0' || name.data[i] > '9') &&
            (name.data[i] < 'A' || name.data[i] > 'Z'))
            return false;
    return true;
}

static void write_shown_name(struct buf *out, const struct candidates_class *shown)
{
    if (!shown->is_plain) {
        json_write_string(out, catalog_name(shown->row));
        return;
    }
    buf_append_char(out, '"');
    buf_append_slice(out, catalog_name(shown->row));
    buf_append_char(out, '"');
}

static const struct provider *provider_at(const struct candidates_writer *writer,
                                          struct slot_no slot)
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

/* Writes a candidate's provider; the form stores its position in the text. */
static void write_provider(struct candidates_writer *writer, struct slot_no slot)
{
    struct candidates_form *form = &writer->form;
    const struct provider *provider = provider_at(writer, slot);
    form->uuids[form->uuid_count++] = (uint32_t)(writer->out->len + 1 - form->at);
    if (provider->uuid_len != UUID_TEXT_MAX)
        form->is_fit = false;
    write_uuid(writer->out, provider);
}

/* {"VCPU": 1, ...}: the entries of one provider, beginning at *i. */
static void write_resources(struct candidates_writer *writer, const struct ac_candidate *candidate,
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
        json_write_string(
            out, catalog_name(catalog_row_at(&writer->version->classes, entry->class_no.v)));
        buf_append_lit(out, ": ");
        buf_append_int(out, entry->amount);
    }
    buf_append_char(out, '}');
}

/* From 1.12: {"UUID": {"resources": {...}}, ...}. */
static void write_allocations(struct candidates_writer *writer,
                              const struct ac_candidate *candidate)
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

static void write_allocation_list(struct candidates_writer *writer,
                                  const struct ac_candidate *candidate)
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

static void write_mappings(struct candidates_writer *writer, const struct ac_candidate *candidate)
{
    struct buf *out = writer->out;
    buf_append_lit(out, ", \"mappings\": {");
    for (uint32_t i = 0; i < candidate->mapping_count;) {
        uint32_t group = candidate->mappings[i].group;
        if (i > 0)
            buf_append_lit(out, ", ");
        json_write_string(out, writer->requested->groups[group].suffix);
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

static void form_grow(struct candidates_writer *writer, uint32_t capacity)
{
    struct candidates_form *form = &writer->form;
    if (capacity <= form->capacity)
        return;
    form->entries = arena_array(writer->arena, capacity, sizeof(*form->entries));
    form->mappings = arena_array(writer->arena, capacity, sizeof(*form->mappings));
    form->uuids = arena_array(writer->arena, capacity, sizeof(*form->uuids));
    form->capacity = capacity;
}

/* Writes a candidate piece by piece, and stores it as the form of those that follow. */
static void write_in_full(struct candidates_writer *writer, const struct ac_candidate *candidate)
{
    struct candidates_form *form = &writer->form;
    struct buf *out = writer->out;
    form_grow(writer, candidate->entry_count + candidate->mapping_count);
    form->at = out->len;
    form->uuid_count = 0;
    form->is_fit = true;
    buf_append_lit(out, "{\"allocations\": ");
    if (writer->minor >= 12)
        write_allocations(writer, candidate);
    else
        write_allocation_list(writer, candidate);
    if (writer->minor >= 34)
        write_mappings(writer, candidate);
    buf_append_char(out, '}');
    form->len = out->len - form->at;
    form->entry_count = candidate->entry_count;
    form->mapping_count = candidate->mapping_count;
    memcpy(form->entries, candidate->entries, candidate->entry_count * sizeof(*candidate->entries));
    memcpy(form->mappings, candidate->mappings,
           candidate->mapping_count * sizeof(*candidate->mappings));
}

/* Whether a different provider begins at entry i. */
static bool begins_provider(const struct ac_entry *entries, uint32_t i)
{
    return i == 0 || entries[i].slot.v != entries[i - 1].slot.v;
}

/* Whether the candidate's text differs from the form's only in the uuids. */
static bool differs_only_in_uuids(const struct candidates_form *form,
                                  const struct ac_candidate *candidate)
{
    if (!form->is_fit || candidate->entry_count != form->entry_count ||
        candidate->mapping_count != form->mapping_count)
        return false;
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        const struct ac_entry *entry = &candidate->entries[i];
        const struct ac_entry *before = &form->entries[i];
        if (entry->class_no.v != before->class_no.v || entry->amount != before->amount ||
            begins_provider(candidate->entries, i) != begins_provider(form->entries, i))
            return false;
    }
    for (uint32_t i = 0; i < candidate->mapping_count; i++)
        if (candidate->mappings[i].group != form->mappings[i].group)
            return false;
    return true;
}

/* Copies the form; false: one of the uuids has a different length. */
static bool write_copy(struct candidates_writer *writer, const struct ac_candidate *candidate)
{
    struct candidates_form *form = &writer->form;
    struct buf *out = writer->out;
    char *text = buf_reserve(out, form->len);
    const uint32_t *at = form->uuids;
    memcpy(text, out->data + form->at, form->len);
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
    out->len += form->len;
    return true;
}

/* For finding its providers, which are seldom in the processor's caches, in addition to its
 * text. */
enum { STEPS_OF_A_CANDIDATE = 40 };

/* Bytes written per step of the budget: copied unchanged, assembled, or mostly stored as text. */
enum { COPIED_A_STEP = 32, WRITTEN_A_STEP = 8, READY_A_STEP = 16 };

void candidates_write_one(void *cls, const struct ac_candidate *candidate)
{
    struct candidates_writer *writer = cls;
    struct buf *out = writer->out;
    if (out->len > CANDIDATES_MOST_BYTES) {
        writer->is_too_large = true;
        budget_exhaust(writer->budget);
        return;
    }
    if (writer->count++ > 0)
        buf_append_lit(out, ", ");
    size_t before = out->len;
    bool is_copy = differs_only_in_uuids(&writer->form, candidate) && write_copy(writer, candidate);
    if (!is_copy)
        write_in_full(writer, candidate);
    /* if this exhausts it, the search notices at its next step */
    (void)budget_take(writer->budget,
                      (int64_t)((out->len - before) / (is_copy ? COPIED_A_STEP : WRITTEN_A_STEP)));
}

static bool is_requested(const struct candidates_writer *writer, struct slice class_name)
{
    writer->budget->left -= writer->requested->group_count;
    for (uint32_t g = 0; g < writer->requested->group_count; g++)
        for (uint32_t i = 0; i < writer->requested->groups[g].resource_count; i++)
            if (slice_equal(writer->requested->groups[g].resources[i].class_name, class_name))
                return true;
    return false;
}

static const struct candidates_class *shown_class(struct candidates_writer *writer, uint32_t at,
                                                  struct class_no class_no)
{
    struct candidates_class *shown = &writer->classes[at % CANDIDATES_CLASSES];
    if (shown->row == NULL || shown->class_no.v != class_no.v) {
        shown->class_no = class_no;
        shown->row = catalog_row_at(&writer->version->classes, class_no.v);
        shown->is_plain = is_plain(catalog_name(shown->row));
        shown->is_wanted = writer->minor >= 27 || is_requested(writer, catalog_name(shown->row));
    }
    return shown;
}

static void write_summary(struct candidates_writer *writer, const struct provider *provider)
{
    struct buf *out = writer->out;
    if (writer->count++ > 0)
        buf_append_lit(out, ", ");
    write_uuid(out, provider);
    buf_append_lit(out, ": {\"resources\": {");
    bool first = true;
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        const struct candidates_class *shown = shown_class(writer, i, inventory->class_no);
        if (!shown->is_wanted)
            continue;
        if (!first)
            buf_append_lit(out, ", ");
        first = false;
        write_shown_name(out, shown);
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

/* An estimate, which is good enough for a few kilobytes. */
static int64_t steps_of_summary(const struct candidates_writer *writer,
                                const struct provider *provider)
{
    size_t bytes =
        provider->inventory_count * sizeof("\"MEMORY_MB\": {\"capacity\": 1, \"used\": 1}, ");
    if (writer->minor >= 17)
        bytes += name_set_json(provider->traits).len;
    return (int64_t)(bytes / READY_A_STEP);
}

bool candidates_write_summaries(struct candidates_writer *writer,
                                const struct ac_summaries *summaries)
{
    writer->count = 0;
    for (uint32_t i = 0; i < summaries->count; i++) {
        struct slot_no slot = {summaries->slots[i]};
        uint32_t end =
            summaries->are_roots ? version_place(writer->version, slot)->end : slot.v + 1;
        for (; slot.v < end; slot.v++) {
            const struct provider *provider = provider_at(writer, slot);
            if (!budget_allows(writer->budget, steps_of_summary(writer, provider)))
                return false;
            size_t before = writer->out->len;
            write_summary(writer, provider);
            if (!budget_take(writer->budget,
                             4 + (int64_t)((writer->out->len - before) / READY_A_STEP)))
                return false;
        }
    }
    return true;
}
