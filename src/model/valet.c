/* The tables of fields, and the comparison of ids. Constant data; pure. */
#include "model/valet.h"

#include "base/hash.h"
#include "base/hex.h"

// clang-format off: a table
#define FIELD(text, what, with, value)                                                             \
    {                                                                                              \
        .name = (text), .since = 1, .kind = RECORD_##what, .flags = (with), .initial = (value)     \
    }

enum {
    NULLABLE = RECORD_NULLABLE,
    UNIQUE = RECORD_UNIQUE,
    NEEDED = RECORD_NEEDED,
    KEY = RECORD_UNIQUE | RECORD_IS_UUID,
};

static const struct record_field group_fields[VALET_GROUP_FIELD_COUNT] = {
    [VALET_GROUP_UUID] = FIELD("uuid", TEXT, KEY, NULL),
    [VALET_GROUP_NAME] = FIELD("name", TEXT, UNIQUE | NEEDED, NULL),
    [VALET_GROUP_DESCRIPTION] = FIELD("description", TEXT, 0, ""),
    [VALET_GROUP_CREATED_AT] = FIELD("created_at", TIME, 0, NULL),
};

static const struct record_field member_fields[VALET_MEMBER_FIELD_COUNT] = {
    [VALET_MEMBER_GROUP_ID] = FIELD("group_id", REFERENCE, NEEDED, NULL),
    [VALET_MEMBER_PROJECT] = FIELD("project_id", TEXT, NEEDED, NULL),
    [VALET_MEMBER_ADDED_WITH] = FIELD("added_with", REFERENCE, 0, NULL),
};

static const struct record_field claim_fields[VALET_CLAIM_FIELD_COUNT] = {
    [VALET_CLAIM_GROUP_ID] = FIELD("group_id", REFERENCE, NEEDED, NULL),
    [VALET_CLAIM_PROVIDER] = FIELD("provider_uuid", TEXT, NEEDED, NULL),
    [VALET_CLAIM_IS_RACK] = FIELD("is_rack", BOOL, 0, "false"),
    [VALET_CLAIM_RACK] = FIELD("rack_uuid", TEXT, NULLABLE, NULL),
};

static const struct record_field plan_fields[VALET_PLAN_FIELD_COUNT] = {
    [VALET_PLAN_UUID] = FIELD("uuid", TEXT, KEY, NULL),
    [VALET_PLAN_NAME] = FIELD("name", TEXT, NEEDED, NULL),
    [VALET_PLAN_STACK_ID] = FIELD("stack_id", TEXT, NEEDED, NULL),
    [VALET_PLAN_PROJECT] = FIELD("project_id", TEXT, NEEDED, NULL),
    [VALET_PLAN_USER] = FIELD("user_id", TEXT, NEEDED, NULL),
    [VALET_PLAN_FINGERPRINT] = FIELD("fingerprint", TEXT, 0, ""),
    [VALET_PLAN_CONTENT] = FIELD("content", JSON, 0, "{}"),
    [VALET_PLAN_CREATED_AT] = FIELD("created_at", TIME, 0, NULL),
    [VALET_PLAN_ANY_PROJECT] = FIELD("any_project", BOOL, 0, "false"),
};

static const struct record_field placement_fields[VALET_PLACEMENT_FIELD_COUNT] = {
    [VALET_PLACEMENT_UUID] = FIELD("uuid", TEXT, KEY, NULL),
    [VALET_PLACEMENT_PLAN_ID] = FIELD("plan_id", REFERENCE, NEEDED, NULL),
    [VALET_PLACEMENT_NAME] = FIELD("name", TEXT, NEEDED, NULL),
    [VALET_PLACEMENT_ORCHESTRATION_ID] = FIELD("orchestration_id", TEXT, UNIQUE | NEEDED, NULL),
    [VALET_PLACEMENT_RESOURCE_ID] = FIELD("resource_id", TEXT, UNIQUE | NULLABLE, NULL),
    [VALET_PLACEMENT_LOCATION] = FIELD("location", TEXT, 0, ""),
    [VALET_PLACEMENT_RESERVED] = FIELD("reserved", BOOL, 0, "false"),
    [VALET_PLACEMENT_CREATED_AT] = FIELD("created_at", TIME, 0, NULL),
};

#define SHAPE(fields, count)                                                                       \
    {                                                                                              \
        (fields), (count), (count)                                                                 \
    }

const struct record_shape VALET_SHAPES[VALET_TABLE_COUNT] = {
    [VALET_GROUPS] = SHAPE(group_fields, VALET_GROUP_FIELD_COUNT),
    [VALET_MEMBERS] = SHAPE(member_fields, VALET_MEMBER_FIELD_COUNT),
    [VALET_CLAIMS] = SHAPE(claim_fields, VALET_CLAIM_FIELD_COUNT),
    [VALET_PLANS] = SHAPE(plan_fields, VALET_PLAN_FIELD_COUNT),
    [VALET_PLACEMENTS] = SHAPE(placement_fields, VALET_PLACEMENT_FIELD_COUNT),
};
// clang-format on

enum { UUID_DIGITS = 32, UUID_DASHED = 36 };

static bool is_dash_at(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

/* Reads the digits of a UUID in lower case; false: the text is not a UUID. */
static bool read_uuid(struct slice text, char digits[UUID_DIGITS])
{
    bool is_dashed = text.len == UUID_DASHED;
    if (!is_dashed && text.len != UUID_DIGITS)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (is_dashed && is_dash_at(i)) {
            if (text.data[i] != '-')
                return false;
            continue;
        }
        int value = hex_value(text.data[i]);
        if (value < 0)
            return false;
        digits[count++] = "0123456789abcdef"[value];
    }
    return true;
}

bool valet_id_equal(struct slice a, struct slice b)
{
    char one[UUID_DIGITS];
    char other[UUID_DIGITS];
    if (slice_equal(a, b))
        return true;
    return read_uuid(a, one) && read_uuid(b, other) && memcmp(one, other, UUID_DIGITS) == 0;
}

uint64_t valet_id_hash(struct slice id)
{
    char digits[UUID_DIGITS];
    if (read_uuid(id, digits))
        return hash_text((struct slice){digits, UUID_DIGITS});
    return hash_text(id);
}

bool valet_id_dashed(struct slice id, char dashed[VALET_ID_DASHED_LEN])
{
    char digits[UUID_DIGITS];
    if (!read_uuid(id, digits))
        return false;
    const char *from = digits;
    for (size_t i = 0; i < VALET_ID_DASHED_LEN; i++)
        dashed[i] = is_dash_at(i) ? '-' : *from++;
    return true;
}
