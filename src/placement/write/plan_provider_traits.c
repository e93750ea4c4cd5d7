/* A provider's traits: only known ones; its generation is raised only if something changes. Writer
 * thread only. */
#include "placement/write/plan_provider_traits.h"

#include <stdlib.h>

#include "base/arena.h"
#include "placement/write/plan_providers.h"

enum { UNKNOWN_TEXT_MAX = 4096 };

/* "No such trait A, B", without duplicates, in alphabetical order, as many as fit. */
static bool plan_provider_traits_refuse_unknown(struct slice *names, size_t count, struct err *err)
{
    qsort(names, count, sizeof(*names), slice_compare);
    struct slice *parts = arena_array(err->arena, 2 * count + 1, sizeof(*parts));
    size_t n = 0;
    size_t len = 0;
    parts[n++] = SLICE_LIT("No such trait ");
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && slice_equal(names[i], names[i - 1]))
            continue;
        if (n > 1)
            parts[n++] = SLICE_LIT(", ");
        if (len > UNKNOWN_TEXT_MAX) {
            parts[n++] = SLICE_LIT("...");
            break;
        }
        parts[n++] = names[i];
        len += names[i].len;
    }
    return err_set_parts(err, 400, NULL, parts, n);
}

static int plan_provider_traits_compare_ids(const void *left, const void *right)
{
    int64_t a = (*(const struct catalog_row *const *)left)->id;
    int64_t b = (*(const struct catalog_row *const *)right)->id;
    return a < b ? -1 : a > b;
}

/* The rows of the wanted traits, without duplicates, in the order of their ids, marked in `wanted`
 * by number; NULL with err set: one is unknown. */
static const struct catalog_row **
plan_provider_traits_resolve(const struct plan_provider_traits *input, const struct plan *plan,
                             bool *wanted, size_t *count, struct err *err)
{
    const struct catalog *catalog = &plan->version->traits;
    const struct catalog_row **rows =
        arena_array(plan->arena, input->name_count, sizeof(struct catalog_row *));
    struct slice *unknown = arena_array(plan->arena, input->name_count, sizeof(*unknown));
    size_t unknown_count = 0;
    *count = 0;
    for (size_t i = 0; i < input->name_count; i++) {
        const struct catalog_row *row = catalog_find(catalog, input->names[i]);
        if (row == NULL)
            unknown[unknown_count++] = input->names[i];
        else if (!wanted[row->number])
            rows[(*count)++] = row;
        if (row != NULL)
            wanted[row->number] = true;
    }
    if (unknown_count > 0) {
        plan_provider_traits_refuse_unknown(unknown, unknown_count, err);
        return NULL;
    }
    qsort(rows, *count, sizeof(struct catalog_row *), plan_provider_traits_compare_ids);
    return rows;
}

static void plan_provider_traits_note(const struct catalog_row **rows, size_t count,
                                      struct planned_traits *result, struct err *err)
{
    result->names = arena_array(err->arena, count, sizeof(*result->names));
    result->count = count;
    result->modified_at_us = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t modified_at_us =
            rows[i]->updated_at_us != 0 ? rows[i]->updated_at_us : rows[i]->created_at_us;
        if (modified_at_us > result->modified_at_us)
            result->modified_at_us = modified_at_us;
        result->names[i] = arena_copy(err->arena, catalog_name(rows[i]));
    }
}

bool plan_provider_traits_set(const struct plan_provider_traits *input, const struct plan *plan,
                              struct planned_traits *result, struct err *err)
{
    const struct version *version = plan->version;
    const struct provider *provider = plan_provider_find(version, input->provider_uuid, err);
    if (provider == NULL ||
        (input->has_generation && !plan_generation_is(provider, input->generation, err)))
        return false;
    bool *wanted = arena_zalloc(plan->arena, version->traits.limit * sizeof(bool));
    size_t count;
    const struct catalog_row **rows =
        plan_provider_traits_resolve(input, plan, wanted, &count, err);
    if (rows == NULL)
        return false;

    size_t changes_before = plan->changes->count;
    const struct name_set *set = provider->traits;
    for (uint32_t i = 0; i < set->count; i++) {
        if (!wanted[set->numbers[i]])
            change_append(plan->changes, CHANGE_PROVIDER_TRAIT_DELETE)->link = (struct change_link){
                provider->id, catalog_row_at(&version->traits, set->numbers[i])->id};
        wanted[set->numbers[i]] = false; /* those still marked at the end are new */
    }
    for (size_t i = 0; i < count; i++) {
        if (!wanted[rows[i]->number])
            continue;
        struct change *change = change_append(plan->changes, CHANGE_PROVIDER_TRAIT_INSERT);
        change->created_at_us = plan->now_us;
        change->link = (struct change_link){provider->id, rows[i]->id};
    }
    result->generation = provider->generation;
    if (plan->changes->count > changes_before)
        result->generation = change_next_generation(provider->generation);
    plan_provider_traits_note(rows, count, result, err);
    return true;
}
