/* Every combination of every provider, each checked by the rules of the candidates specification as
 * they are written there. */
#include "oracle.h"

#include <stdlib.h>

#include "base/buf.h"
#include "unit.h"

enum { LEVELS_MAX = 6, FOUND_MAX = 20000 };

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void found_add(struct found *found, char *text)
{
    assert_true(found->count < FOUND_MAX);
    found->texts[found->count++] = text;
}

void found_sort(struct found *found, bool unique)
{
    qsort(found->texts, found->count, sizeof(char *), compare_texts);
    size_t kept = 0;
    for (size_t i = 0; i < found->count && unique; i++) {
        if (kept > 0 && strcmp(found->texts[kept - 1], found->texts[i]) == 0)
            free(found->texts[i]);
        else
            found->texts[kept++] = found->texts[i];
    }
    if (unique)
        found->count = kept;
}

void found_free(struct found *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->texts[i]);
    free(found->texts);
}

struct found found_create(void)
{
    return (struct found){calloc(FOUND_MAX, sizeof(char *)), 0};
}

bool found_has(const struct found *found, const char *text)
{
    return bsearch(&text, found->texts, found->count, sizeof(char *), compare_texts) != NULL;
}

char *found_text(const struct version *version, int64_t (*amounts)[CLOUD_CLASSES],
                 bool (*mapped)[ORACLE_GROUPS_MAX], uint32_t groups)
{
    struct buf text = {0};
    for (uint32_t slot = 0; slot < version->slot_limit; slot++)
        for (unsigned c = 0; c < CLOUD_CLASSES; c++)
            if (amounts[slot][c] > 0)
                buf_printf(&text, "%u.%u=%lld ", slot, c, (long long)amounts[slot][c]);
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t slot = 0; slot < version->slot_limit; slot++)
            if (mapped[slot][g])
                buf_printf(&text, "g%u:%u ", g, slot);
    buf_append_char(&text, '\0');
    return text.data;
}

struct oracle {
    const struct version *version;
    const struct ac_request *request;
    struct found *found;
    uint32_t levels;
    uint32_t level_group[LEVELS_MAX];
    const struct ac_resource *level_resource[LEVELS_MAX]; /* NULL: the whole granular group */
    uint32_t chosen[LEVELS_MAX];
    uint32_t anchor;
};

static const struct provider *at(const struct oracle *o, uint32_t slot)
{
    return version_place(o->version, (struct slot_no){slot})->provider;
}

static uint32_t root_slot(const struct oracle *o, uint32_t slot)
{
    return version_slot(o->version, at(o, slot)->root).v;
}

static bool has(const struct catalog *catalog, const struct name_set *set, struct slice name)
{
    const struct catalog_row *row = catalog_find(catalog, name);
    return row != NULL && name_set_has(set, row->number);
}

static bool has_trait(const struct oracle *o, uint32_t slot, struct slice name)
{
    return has(&o->version->traits, at(o, slot)->traits, name);
}

static bool in_aggregate(const struct oracle *o, uint32_t slot, struct slice name)
{
    return has(&o->version->aggregates, at(o, slot)->aggregates, name);
}

static bool fits(const struct oracle *o, uint32_t slot, const struct ac_resource *resource)
{
    const struct catalog_row *row = catalog_find(&o->version->classes, resource->class_name);
    const struct provider_inventory *inventory =
        provider_inventory_of(at(o, slot), (struct class_no){row->number});
    return inventory != NULL && capacity_unit_fits(&inventory->figures, resource->amount) &&
           inventory->used + resource->amount <= capacity_of(&inventory->figures);
}

static bool member_of_all(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    for (uint32_t i = 0; i < group->member_of_count; i++) {
        bool any = false;
        for (uint32_t j = 0; j < group->member_of[i].count; j++)
            any = any || in_aggregate(o, slot, group->member_of[i].names[j]);
        if (!any)
            return false;
    }
    return true;
}

static bool in_forbidden(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    for (uint32_t i = 0; i < group->forbidden_aggregates.count; i++)
        if (in_aggregate(o, slot, group->forbidden_aggregates.names[i]))
            return true;
    return false;
}

static bool has_forbidden_trait(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    for (uint32_t i = 0; i < group->forbidden.count; i++)
        if (has_trait(o, slot, group->forbidden.names[i]))
            return true;
    return false;
}

static bool shares_with_anchor(const struct oracle *o, uint32_t slot)
{
    if (!has_trait(o, slot, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE")))
        return false;
    const struct name_set *mine = at(o, slot)->aggregates;
    for (uint32_t other = 0; other < o->version->slot_limit; other++) {
        if (at(o, other) == NULL || root_slot(o, other) != o->anchor)
            continue;
        for (uint32_t i = 0; i < mine->count; i++)
            if (name_set_has(at(o, other)->aggregates, mine->numbers[i]))
                return true;
    }
    return false;
}

static bool tree_allows(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    if (group->in_tree.data == NULL || group->resource_count == 0)
        return true;
    const struct provider *named = version_provider_by_uuid(o->version, group->in_tree);
    return root_slot(o, slot) == version_slot(o->version, named->root).v;
}

static bool is_option(const struct oracle *o, uint32_t level, uint32_t slot)
{
    const struct ac_group *group = &o->request->groups[o->level_group[level]];
    bool own = root_slot(o, slot) == o->anchor;
    if (has_forbidden_trait(o, slot, group) || !tree_allows(o, slot, group))
        return false;
    if (!own && !shares_with_anchor(o, slot))
        return false;
    if (o->level_resource[level] != NULL) { /* the unsuffixed group */
        if (!fits(o, slot, o->level_resource[level]))
            return false;
        if (in_forbidden(o, slot, group) || in_forbidden(o, o->anchor, group))
            return false;
        if (!own)
            return group->in_tree.data == NULL && member_of_all(o, slot, group);
        return member_of_all(o, slot, group) || member_of_all(o, o->anchor, group);
    }
    for (uint32_t i = 0; i < group->resource_count; i++)
        if (!fits(o, slot, &group->resources[i]))
            return false;
    for (uint32_t i = 0; i < group->required_count; i++) {
        bool any = false;
        for (uint32_t j = 0; j < group->required[i].count; j++)
            any = any || has_trait(o, slot, group->required[i].names[j]);
        if (!any)
            return false;
    }
    return member_of_all(o, slot, group) && !in_forbidden(o, slot, group);
}

static bool is_granular(const struct oracle *o, uint32_t level)
{
    return o->level_resource[level] == NULL;
}

static bool traits_together(const struct oracle *o)
{
    for (uint32_t g = 0; g < o->request->group_count; g++) {
        const struct ac_group *group = &o->request->groups[g];
        for (uint32_t i = 0; group->suffix.len == 0 && i < group->required_count; i++) {
            bool met = false;
            for (uint32_t l = 0; l < o->levels; l++)
                for (uint32_t j = 0; o->level_group[l] == g && j < group->required[i].count; j++)
                    met = met || has_trait(o, o->chosen[l], group->required[i].names[j]);
            if (!met)
                return false;
        }
    }
    return true;
}

static bool is_ancestor_or_self(const struct oracle *o, uint32_t above, uint32_t slot)
{
    const struct provider *p = at(o, slot);
    while (p->no.v != at(o, above)->no.v) {
        if (p->parent.v == NUMBER_NONE)
            return false;
        p = version_provider(o->version, p->parent);
    }
    return true;
}

static bool subtrees_together(const struct oracle *o)
{
    for (uint32_t s = 0; s < o->request->same_subtree_count; s++) {
        const struct ac_names *suffixes = &o->request->same_subtrees[s];
        uint32_t slots[LEVELS_MAX];
        uint32_t count = 0;
        for (uint32_t l = 0; l < o->levels; l++)
            for (uint32_t i = 0; i < suffixes->count; i++)
                if (slice_equal(o->request->groups[o->level_group[l]].suffix, suffixes->names[i]))
                    slots[count++] = o->chosen[l];
        bool together = false;
        for (uint32_t i = 0; i < count; i++) {
            bool above_all = true;
            for (uint32_t j = 0; j < count; j++)
                above_all = above_all && is_ancestor_or_self(o, slots[i], slots[j]);
            together = together || above_all;
        }
        if (!together)
            return false;
    }
    return true;
}

static void check_combination(struct oracle *o)
{
    uint32_t limit = o->version->slot_limit;
    int64_t(*amounts)[CLOUD_CLASSES] = calloc(limit, sizeof(*amounts));
    bool(*mapped)[ORACLE_GROUPS_MAX] = calloc(limit, sizeof(*mapped));
    bool *uses = calloc(limit, sizeof(*uses));
    bool good = traits_together(o) && subtrees_together(o);
    for (uint32_t l = 0; l < o->levels; l++) {
        const struct ac_group *group = &o->request->groups[o->level_group[l]];
        mapped[o->chosen[l]][o->level_group[l]] = true;
        for (uint32_t i = 0; i < group->resource_count; i++) {
            const struct ac_resource *resource = &group->resources[i];
            if (o->level_resource[l] != NULL && o->level_resource[l] != resource)
                continue;
            uint32_t c = catalog_find(&o->version->classes, resource->class_name)->number;
            amounts[o->chosen[l]][c] += resource->amount;
            uses[o->chosen[l]] = true;
        }
        for (uint32_t m = 0; m < l; m++)
            if (o->request->isolate && is_granular(o, l) && is_granular(o, m) &&
                o->chosen[l] == o->chosen[m])
                good = false;
    }
    for (uint32_t slot = 0; slot < limit; slot++) {
        for (unsigned c = 0; c < CLOUD_CLASSES; c++) {
            if (amounts[slot][c] == 0)
                continue;
            const struct provider_inventory *inventory =
                provider_inventory_of(at(o, slot), (struct class_no){c});
            if (inventory->used + amounts[slot][c] > capacity_of(&inventory->figures) ||
                amounts[slot][c] > inventory->figures.max_unit)
                good = false;
        }
        for (uint32_t other = 0; other < slot; other++)
            if (!o->request->nested_aware && uses[slot] && uses[other] &&
                root_slot(o, slot) == root_slot(o, other))
                good = false;
    }
    if (good)
        found_add(o->found, found_text(o->version, amounts, mapped, o->request->group_count));
    free(amounts);
    free(mapped);
    free(uses);
}

static void try_levels(struct oracle *o, uint32_t level)
{
    if (level == o->levels) {
        check_combination(o);
        return;
    }
    for (uint32_t slot = 0; slot < o->version->slot_limit; slot++) {
        if (at(o, slot) == NULL || !is_option(o, level, slot))
            continue;
        o->chosen[level] = slot;
        try_levels(o, level + 1);
    }
}

static bool anchor_allowed(const struct oracle *o)
{
    for (uint32_t i = 0; i < o->request->root_required.count; i++)
        if (!has_trait(o, o->anchor, o->request->root_required.names[i]))
            return false;
    for (uint32_t i = 0; i < o->request->root_forbidden.count; i++)
        if (has_trait(o, o->anchor, o->request->root_forbidden.names[i]))
            return false;
    return true;
}

void oracle_ask(const struct version *version, const struct ac_request *request,
                struct found *found)
{
    struct oracle o = {.version = version, .request = request, .found = found};
    for (uint32_t g = 0; g < request->group_count; g++) {
        const struct ac_group *group = &request->groups[g];
        if (group->resource_count == 0 && group->required_count + group->member_of_count == 0)
            return; /* item 5 */
        for (uint32_t i = 0; group->suffix.len == 0 && i < group->resource_count; i++) {
            o.level_group[o.levels] = g;
            o.level_resource[o.levels++] = &group->resources[i];
        }
        if (group->suffix.len > 0) {
            o.level_group[o.levels] = g;
            o.level_resource[o.levels++] = NULL;
        }
    }
    for (o.anchor = 0; o.anchor < version->slot_limit; o.anchor++) {
        const struct place *place = version_place(version, (struct slot_no){o.anchor});
        if (place->provider != NULL && place->root == o.anchor && anchor_allowed(&o))
            try_levels(&o, 0);
    }
    found_sort(found, true);
}
