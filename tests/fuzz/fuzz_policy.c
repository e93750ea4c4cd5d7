/* Policies: the first byte selects settings and whether the rest is a policy file or the text of
 * one rule. The policy is evaluated for several callers: every rule by its name, as for a request,
 * and with an explanation, which must agree. */
#include "cli/policy_explain.h"
#include "fuzz.h"
#include "policy/files.h"

enum { NEW_DEFAULTS = 1, SCOPE = 2, DEFAULT_RULE = 4, ONE_RULE = 8, ASKED_MAX = 100 };

static const struct slice ROLES[] = {SLICE_LIT("admin"), SLICE_LIT("Reader")};

static const struct identity CALLERS[] = {
    {.user_id = SLICE_LIT("u"), .project_id = SLICE_LIT("p"), .roles = {ROLES, 2}},
    {.system_scope = SLICE_LIT("all"), .service = {.roles = {ROLES, 1}}},
    {.domain_id = SLICE_LIT("d"), .user_domain_id = SLICE_LIT(""), .outside_admin_project = true},
};

static void check_entry(const struct policy *policy, const struct policy_set *set,
                        const struct policy_entry *entry, const struct policy_input *input)
{
    struct buf why = {0};
    enum policy_outcome outcome = policy_evaluate(entry->root, input);
    policy_explain(&why, entry, input);
    static const char FIRST[] = {[POLICY_TRUE] = 'p', [POLICY_FALSE] = 'f', [POLICY_FAULT] = 'r'};
    check(why.len > 2 && why.data[2] == FIRST[outcome]);
    buf_free(&why);
    if (entry->known == NULL || entry->known - set->table->rows >= set->table->checked)
        return;
    enum policy_verdict verdict = policy_decide(policy, (enum policy_service)(set - policy->sets),
                                                1 + (unsigned)(entry->known - set->table->rows),
                                                input->identity, input->target);
    if (policy->enforce_scope && !policy_scope_fits(entry->known->scopes, input->identity))
        check(verdict == POLICY_DENIED_SCOPE);
    else
        check(verdict == (outcome == POLICY_TRUE ? POLICY_ALLOWED : POLICY_DENIED));
}

static void ask_all(const struct policy *policy, const struct policy_set *set)
{
    const struct policy_attribute about[] = {{SLICE_LIT("project_id"), SLICE_LIT("p")},
                                             {SLICE_LIT("user_id"), {0}}};
    const struct policy_target target = {about, 2};
    for (size_t i = 0; i < set->entry_count && i < ASKED_MAX; i++) {
        check(policy_find(set, set->entries[i].name) == &set->entries[i]);
        for (size_t c = 0; c < sizeof(CALLERS) / sizeof(CALLERS[0]); c++) {
            const struct policy_input input = {&CALLERS[c], &target};
            check_entry(policy, set, &set->entries[i], &input);
        }
    }
    for (unsigned i = 0; i < policy->notes.count; i++)
        check(policy->notes.items[i].text.len > 0);
}

static bool take(struct slice text, bool one_rule, struct arena *arena,
                 struct policy_overrides *overrides, struct err *err)
{
    struct policy_notes notes = {.arena = arena};
    if (!one_rule)
        return policy_file_take("file", text, arena, overrides, &notes, err);
    struct policy_value *value = arena_zalloc(arena, sizeof(*value));
    *value = (struct policy_value){.kind = POLICY_VALUE_TEXT, .line = 1, .text = text};
    overrides->items = arena_alloc(arena, sizeof(*overrides->items));
    overrides->items[0] =
        (struct policy_override){SLICE_LIT("placement:traits:list"), value, "file:1"};
    overrides->count = 1;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct policy_overrides overrides = {0};
    struct policy_options options = {(data[0] & NEW_DEFAULTS) != 0, (data[0] & SCOPE) != 0, {0}};
    if ((data[0] & DEFAULT_RULE) != 0)
        options.default_rule = SLICE_LIT("default");
    struct slice text = {(const char *)data + 1, size - 1};
    struct policy *policy = NULL;
    if (take(text, (data[0] & ONE_RULE) != 0, arena, &overrides, &err))
        policy = policy_build(&options, &overrides, &err);
    check(policy != NULL || err.message.len > 0);
    arena_destroy(arena); /* a policy keeps no reference to its source */
    if (policy != NULL) {
        for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
            ask_all(policy, &policy->sets[i]);
        policy_release(policy);
    }
    return 0;
}
