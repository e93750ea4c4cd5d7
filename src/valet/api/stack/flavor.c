/* Converts a flavor's numbers to amounts of resource classes. Each key is unique, so only the three
 * classes of the plain numbers can occur a second time, through `resources:`; only these are
 * searched for. Pure; any thread. */
#include "valet/api/stack/flavor.h"

#include <inttypes.h>
#include <math.h>

enum { MIB_PER_GIB = 1024, BASE_CLASSES = 3, TEXT_MAX_BYTES = 255 };

/* Inventories cannot hold more. */
static const int64_t AMOUNT_MAX = INT32_MAX;

static bool flavor_refuse(struct arena *arena, struct slice *why, const char *key, const char *text)
{
    *why = arena_printf(arena, "%s %s", key, text);
    return false;
}

static bool read_number(const json_t *object, const char *key, bool is_required, int64_t *number,
                        struct arena *arena, struct slice *why)
{
    const json_t *value = json_object_get(object, key);
    *number = 0;
    if (value == NULL)
        return !is_required || flavor_refuse(arena, why, key, "is missing");
    double real = json_number_value(value);
    if (!json_is_number(value) || real != floor(real))
        return flavor_refuse(arena, why, key, "is not a whole number");
    if (!(real >= 0 && real <= (double)AMOUNT_MAX))
        return flavor_refuse(arena, why, key, "is not a number from 0 to 2147483647");
    *number = (int64_t)real;
    return true;
}

static bool read_base(const json_t *object, struct stack_amount *amounts, struct arena *arena,
                      struct slice *why)
{
    int64_t vcpus, ram, disk, ephemeral, swap;
    if (!read_number(object, "vcpus", true, &vcpus, arena, why) ||
        !read_number(object, "ram", true, &ram, arena, why) ||
        !read_number(object, "disk", true, &disk, arena, why) ||
        !read_number(object, "ephemeral", false, &ephemeral, arena, why) ||
        !read_number(object, "swap", false, &swap, arena, why))
        return false;
    int64_t gib = disk + ephemeral + (swap + MIB_PER_GIB - 1) / MIB_PER_GIB;
    if (gib > AMOUNT_MAX)
        return flavor_refuse(arena, why, "disk", "with ephemeral and swap is more than 2147483647");
    amounts[0] = (struct stack_amount){SLICE_LIT("VCPU"), vcpus};
    amounts[1] = (struct stack_amount){SLICE_LIT("MEMORY_MB"), ram};
    amounts[2] = (struct stack_amount){SLICE_LIT("DISK_GB"), gib};
    return true;
}

/* Only digits, at most as many as a 31-bit number has. */
static bool read_amount(struct slice text, int64_t *amount)
{
    *amount = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *amount = *amount * 10 + (text.data[i] - '0');
        if (*amount > AMOUNT_MAX)
            return false;
    }
    return text.len > 0;
}

static bool refuse_spec(struct arena *arena, struct slice *why, struct slice key, const char *text)
{
    struct slice parts[] = {SLICE_LIT("extra spec '"), key, slice_of(text)};
    *why = arena_join(arena, parts, 3);
    return false;
}

struct reading {
    struct stack_amount *amounts;
    size_t amount_count;
    struct slice *required, *forbidden, *removed;
    uint32_t required_count, forbidden_count, removed_count;
};

static bool read_resources(struct reading *reading, struct slice key, struct slice name,
                           struct slice value, struct arena *arena, struct slice *why)
{
    int64_t amount;
    if (name.len == 0 || name.len > TEXT_MAX_BYTES)
        return refuse_spec(arena, why, key, "' names no resource class");
    if (!read_amount(value, &amount))
        return refuse_spec(arena, why, key, "' is not a number from 0 to 2147483647");
    if (amount == 0)
        reading->removed[reading->removed_count++] = arena_copy(arena, name);
    for (size_t i = 0; i < BASE_CLASSES; i++) {
        if (!slice_equal(reading->amounts[i].class_name, name))
            continue;
        reading->amounts[i].amount = amount;
        return true;
    }
    reading->amounts[reading->amount_count++] =
        (struct stack_amount){arena_copy(arena, name), amount};
    return true;
}

static bool read_trait(struct reading *reading, struct slice key, struct slice name,
                       struct slice value, struct arena *arena, struct slice *why)
{
    if (name.len == 0 || name.len > TEXT_MAX_BYTES)
        return refuse_spec(arena, why, key, "' names no trait");
    if (slice_equal(value, SLICE_LIT("required")))
        reading->required[reading->required_count++] = arena_copy(arena, name);
    else if (slice_equal(value, SLICE_LIT("forbidden")))
        reading->forbidden[reading->forbidden_count++] = arena_copy(arena, name);
    else
        return refuse_spec(arena, why, key, "' is neither 'required' nor 'forbidden'");
    return true;
}

static bool read_spec(struct reading *reading, struct slice key, const json_t *value,
                      struct arena *arena, struct slice *why)
{
    const struct slice resources = SLICE_LIT("resources:");
    const struct slice trait = SLICE_LIT("trait:");
    struct slice text = {json_string_value(value), json_string_length(value)};
    if (text.data == NULL)
        return refuse_spec(arena, why, key, "' is not a string");
    if (slice_starts_with(key, resources))
        return read_resources(reading, key, slice_skip(key, resources.len), text, arena, why);
    if (slice_starts_with(key, trait))
        return read_trait(reading, key, slice_skip(key, trait.len), text, arena, why);
    return true;
}

static bool read_specs(const json_t *object, struct reading *reading, struct arena *arena,
                       struct slice *why)
{
    json_t *specs = json_object_get(object, "extra_specs");
    if (specs != NULL && !json_is_object(specs))
        return flavor_refuse(arena, why, "extra_specs", "is not an object");
    size_t count = json_object_size(specs);
    struct stack_amount *amounts = arena_array(arena, BASE_CLASSES + count, sizeof(*amounts));
    memcpy(amounts, reading->amounts, BASE_CLASSES * sizeof(*amounts));
    reading->amounts = amounts;
    reading->required = arena_array(arena, count, sizeof(struct slice));
    reading->forbidden = arena_array(arena, count, sizeof(struct slice));
    reading->removed = arena_array(arena, count, sizeof(struct slice));
    for (void *at = json_object_iter(specs); at != NULL; at = json_object_iter_next(specs, at))
        if (!read_spec(reading,
                       (struct slice){json_object_iter_key(at), json_object_iter_key_len(at)},
                       json_object_iter_value(at), arena, why))
            return false;
    return true;
}

bool flavor_read(const json_t *object, struct arena *arena, struct flavor *flavor,
                 struct slice *why)
{
    struct stack_amount base[BASE_CLASSES];
    if (!read_base(object, base, arena, why))
        return false;
    struct reading reading = {.amounts = base, .amount_count = BASE_CLASSES};
    if (!read_specs(object, &reading, arena, why))
        return false;
    uint32_t left = 0;
    for (size_t i = 0; i < reading.amount_count; i++)
        if (reading.amounts[i].amount > 0)
            reading.amounts[left++] = reading.amounts[i];
    *flavor = (struct flavor){
        .amounts = reading.amounts,
        .amount_count = left,
        .required = {reading.required, reading.required_count},
        .forbidden = {reading.forbidden, reading.forbidden_count},
        .removed = {reading.removed, reading.removed_count},
    };
    return left > 0 || flavor_refuse(arena, why, "the flavor", "asks for nothing");
}

static struct stack_names copy_names(const struct stack_names *names, struct arena *arena)
{
    struct slice *copy = arena_array(arena, names->count, sizeof(*copy));
    for (uint32_t i = 0; i < names->count; i++)
        copy[i] = arena_copy(arena, names->names[i]);
    return (struct stack_names){copy, names->count};
}

struct flavor flavor_copy(const struct flavor *flavor, struct arena *arena)
{
    struct stack_amount *amounts = arena_array(arena, flavor->amount_count, sizeof(*amounts));
    for (uint32_t i = 0; i < flavor->amount_count; i++)
        amounts[i] = (struct stack_amount){arena_copy(arena, flavor->amounts[i].class_name),
                                           flavor->amounts[i].amount};
    return (struct flavor){
        .amounts = amounts,
        .amount_count = flavor->amount_count,
        .required = copy_names(&flavor->required, arena),
        .forbidden = copy_names(&flavor->forbidden, arena),
        .removed = copy_names(&flavor->removed, arena),
    };
}
