/* See log_changes.h. */
#include "store/log_changes.h"

#include <limits.h>
#include <stddef.h>

#include "store/log_codec.h"

enum { VERSION = 2, FIELDS_MOST = 5 };

/* Beside the kind, in a change's first byte. */
enum { SAME_CONSUMER = 0x40, SAME_TIMES = 0x80, KIND = 0x3f };

struct field {
    uint16_t at; /* its offset in struct change; an int64_t */
    bool is_id;  /* otherwise it has 32 bits */
};

#define ID(name)                                                                                   \
    {                                                                                              \
        (uint16_t) offsetof(struct change, name), true                                             \
    }
#define NUMBER(name)                                                                               \
    {                                                                                              \
        (uint16_t) offsetof(struct change, name), false                                            \
    }

/* By the byte that stands for them. Consumers and their uuids come first. */
static const struct {
    enum change_kind kind;
    unsigned count;
    struct field fields[FIELDS_MOST];
} forms[] = {
    {CHANGE_PROVIDER_GENERATION,
     3,
     {ID(generation.provider_id), NUMBER(generation.expected), NUMBER(generation.next)}},
    {CHANGE_CONSUMER_INSERT,
     4,
     {ID(consumer.project_id), ID(consumer.user_id), ID(consumer.type_id),
      NUMBER(consumer.generation)}},
    {CHANGE_CONSUMER_UPDATE,
     5,
     {ID(consumer.project_id), ID(consumer.user_id), ID(consumer.type_id),
      NUMBER(consumer.generation), NUMBER(consumer.expected_generation)}},
    {CHANGE_CONSUMER_DELETE, 1, {NUMBER(consumer.expected_generation)}},
    {CHANGE_ALLOCATION_INSERT,
     4,
     {ID(allocation.id), ID(allocation.provider_id), ID(allocation.class_id),
      NUMBER(allocation.used)}},
    {CHANGE_ALLOCATIONS_OF_DELETE, 0, {{0}}},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

static unsigned form_of(enum change_kind kind)
{
    unsigned form = 0;
    while (form < FORMS && forms[form].kind != kind)
        form++;
    return form;
}

static bool is_allocation(const struct change *change)
{
    return change->kind == CHANGE_ALLOCATION_INSERT || change->kind == CHANGE_ALLOCATIONS_OF_DELETE;
}

int64_t log_changes_consumer(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        return change->consumer.id;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        return change->allocation.consumer_id;
    default:
        return 0;
    }
}

struct slice log_changes_uuid(const struct change *change)
{
    return is_allocation(change) ? change->allocation.consumer_uuid : change->consumer.uuid;
}

static bool fits_field(const struct field *field, int64_t value)
{
    return field->is_id || (value >= INT32_MIN && value <= INT32_MAX);
}

/* ---- writing ---- */

static bool append_fields(struct buf *blob, unsigned form, const struct change *change)
{
    for (unsigned i = 0; i < forms[form].count; i++) {
        const struct field *field = &forms[form].fields[i];
        int64_t value;
        memcpy(&value, (const char *)change + field->at, sizeof(value));
        if (!fits_field(field, value))
            return false;
        log_put_number(blob, value);
    }
    return true;
}

/* What a change has in common with those before it. */
struct context {
    int64_t consumer; /* of the last one that has one; 0: none */
    uint8_t uuid_len;
    char uuid[LOG_UUID_LEN];
    int64_t created_at_us, updated_at_us;
};

static bool is_same_consumer(const struct context *context, int64_t id, struct slice uuid)
{
    return context->consumer == id &&
           slice_equal(uuid, (struct slice){context->uuid, context->uuid_len});
}

static void set_consumer(struct context *context, int64_t id, struct slice uuid)
{
    check(uuid.len <= sizeof(context->uuid));
    context->consumer = id;
    context->uuid_len = (uint8_t)uuid.len;
    memcpy(context->uuid, uuid.data, uuid.len);
}

static bool append_change(struct buf *blob, struct context *context, const struct change *change)
{
    unsigned form = form_of(change->kind);
    int64_t consumer = log_changes_consumer(change);
    if (form == FORMS || consumer < 0)
        return false;
    const struct slice uuid = consumer == 0 ? (struct slice){0} : log_changes_uuid(change);
    bool is_same = consumer != 0 && is_same_consumer(context, consumer, uuid);
    bool same_times = context->created_at_us == change->created_at_us &&
                      context->updated_at_us == change->updated_at_us;
    buf_append_char(blob,
                    (char)(form | (is_same ? SAME_CONSUMER : 0u) | (same_times ? SAME_TIMES : 0u)));
    if (!same_times) {
        log_put_number(blob, change->created_at_us);
        log_put_number(blob, change->updated_at_us);
        context->created_at_us = change->created_at_us;
        context->updated_at_us = change->updated_at_us;
    }
    if (consumer != 0 && !is_same) {
        log_put_number(blob, consumer);
        log_put_uuid(blob, uuid);
        set_consumer(context, consumer, uuid);
    }
    return append_fields(blob, form, change);
}

bool log_changes_append(struct buf *blob, const struct change *changes, size_t count)
{
    struct context context = {0};
    check(blob->len == 0);
    buf_append_char(blob, VERSION);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = append_change(blob, &context, &changes[i]) && blob->len <= LOG_CHANGES_BYTES_MOST;
    if (!ok)
        blob->len = 0;
    return ok;
}

/* ---- reading ---- */

bool log_changes_is(struct slice blob)
{
    return blob.len > 0 && blob.data[0] == VERSION;
}

static bool read_fields(struct log_reader *reader, unsigned form, struct change *change)
{
    for (unsigned i = 0; i < forms[form].count; i++) {
        const struct field *field = &forms[form].fields[i];
        int64_t value;
        if (!log_get_number(reader, &value) || !fits_field(field, value))
            return false;
        memcpy((char *)change + field->at, &value, sizeof(value));
    }
    return true;
}

static bool read_consumer(struct log_reader *reader, struct context *context, bool is_same,
                          struct change *change)
{
    if (!is_same && (!log_get_number(reader, &context->consumer) ||
                     !log_get_uuid(reader, context->uuid, &context->uuid_len)))
        return false;
    const struct slice uuid = {context->uuid, context->uuid_len};
    if (is_allocation(change)) {
        change->allocation.consumer_id = context->consumer;
        change->allocation.consumer_uuid = uuid;
    } else {
        change->consumer.id = context->consumer;
        change->consumer.uuid = uuid;
    }
    return context->consumer > 0;
}

static bool read_change(struct log_reader *reader, struct context *context, struct change *change)
{
    unsigned byte;
    if (!log_get_byte(reader, &byte) || (byte & KIND) >= FORMS)
        return false;
    unsigned form = byte & KIND;
    *change = (struct change){.kind = forms[form].kind};
    if ((byte & SAME_TIMES) == 0 && (!log_get_number(reader, &context->created_at_us) ||
                                     !log_get_number(reader, &context->updated_at_us)))
        return false;
    change->created_at_us = context->created_at_us;
    change->updated_at_us = context->updated_at_us;
    return (change->kind == CHANGE_PROVIDER_GENERATION ||
            read_consumer(reader, context, (byte & SAME_CONSUMER) != 0, change)) &&
           read_fields(reader, form, change);
}

bool log_changes_read(struct slice blob, log_changes_take *take, void *cls)
{
    struct context context = {0};
    struct log_reader reader = log_reader_of(blob);
    unsigned version;
    if (!log_get_byte(&reader, &version) || version != VERSION)
        return false;
    while (reader.left > 0) {
        struct change change;
        if (!read_change(&reader, &context, &change) || !take(cls, &change))
            return false;
    }
    return true;
}
