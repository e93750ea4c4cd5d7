/* A planner that knows no rule. One thread. */
#include <stdlib.h>

#include "engine/allocations.h"
#include "products/cloud.h"
#include "replica/nodes.h"
#include "unit.h"

enum { WORDS_MAX = 6 };

struct sentence {
    const struct plan *plan;
    struct slice word[WORDS_MAX];
    size_t count;
};

typedef void append_sentence(const struct sentence *sentence);

static struct change *append(const struct sentence *sentence, enum change_kind kind)
{
    struct change *change = change_append(sentence->plan->changes, kind);
    change->created_at_us = change->updated_at_us = sentence->plan->now_us;
    return change;
}

/* What the request itself has created; NULL: nothing of that name. */
static const struct change_provider *fresh_provider(const struct plan *plan, struct slice uuid)
{
    for (size_t i = 0; i < plan->changes->count; i++) {
        const struct change *change = &plan->changes->items[i];
        if (change->kind == CHANGE_PROVIDER_INSERT && slice_equal(change->provider.uuid, uuid))
            return &change->provider;
    }
    return NULL;
}

static int64_t fresh_consumer(const struct plan *plan, struct slice uuid)
{
    for (size_t i = 0; i < plan->changes->count; i++) {
        const struct change *change = &plan->changes->items[i];
        if (change->kind == CHANGE_CONSUMER_INSERT && slice_equal(change->consumer.uuid, uuid))
            return change->consumer.id;
    }
    return 0;
}

static int64_t fresh_name(const struct plan *plan, enum change_kind insert, struct slice name)
{
    for (size_t i = 0; i < plan->changes->count; i++) {
        const struct change *change = &plan->changes->items[i];
        if (change->kind == insert && slice_equal(change->catalog.name, name))
            return change->catalog.id;
    }
    return plan_name_id(plan, insert, name);
}

static const struct provider *known(const struct plan *plan, struct slice uuid)
{
    const struct provider *provider = version_provider_by_uuid(plan->version, uuid);
    assert_non_null(provider);
    return provider;
}

static int64_t provider_id(const struct plan *plan, struct slice uuid)
{
    const struct change_provider *fresh = fresh_provider(plan, uuid);
    return fresh != NULL ? fresh->id : known(plan, uuid)->id;
}

static int64_t number(struct slice word)
{
    char text[32];
    assert_true(word.len < sizeof(text));
    memcpy(text, word.data, word.len);
    text[word.len] = '\0';
    return strtoll(text, NULL, 10);
}

/* ---- consumers ---- */

static struct consumer_owner owner_named(const struct plan *plan, struct slice project)
{
    return (struct consumer_owner){
        .project_id = fresh_name(plan, CHANGE_PROJECT_INSERT, project),
        .user_id = fresh_name(plan, CHANGE_USER_INSERT, SLICE_LIT("user")),
    };
}

static const struct consumer *known_consumer(const struct sentence *sentence)
{
    const struct consumer *consumer = version_consumer(sentence->plan->version, sentence->word[1]);
    assert_non_null(consumer);
    return consumer;
}

static void consume(const struct sentence *sentence)
{
    const struct plan *plan = sentence->plan;
    struct slice uuid = sentence->word[1];
    const struct consumer *before = version_consumer(plan->version, uuid);
    int64_t id = before != NULL ? before->id : fresh_consumer(plan, uuid);
    if (id == 0) {
        struct consumer_owner owner = owner_named(plan, sentence->word[2]);
        id = allocations_put_consumer(plan, NULL, uuid, &owner);
    }
    int64_t class_id = fresh_name(plan, CHANGE_CLASS_INSERT, sentence->word[4]);
    allocations_consume(plan, id, uuid, provider_id(plan, sentence->word[3]), class_id,
                        number(sentence->word[5]));
}

static void owner(const struct sentence *sentence)
{
    const struct consumer *before = known_consumer(sentence);
    struct consumer_owner is = consumer_owner_of(sentence->plan->version, before);
    is.project_id = fresh_name(sentence->plan, CHANGE_PROJECT_INSERT, sentence->word[2]);
    allocations_set_owner(sentence->plan, before, &is);
}

static void user(const struct sentence *sentence)
{
    const struct consumer *before = known_consumer(sentence);
    struct consumer_owner is = consumer_owner_of(sentence->plan->version, before);
    is.user_id = fresh_name(sentence->plan, CHANGE_USER_INSERT, sentence->word[2]);
    allocations_set_owner(sentence->plan, before, &is);
}

static void type(const struct sentence *sentence)
{
    const struct consumer *before = known_consumer(sentence);
    struct consumer_owner is = consumer_owner_of(sentence->plan->version, before);
    is.type_id = fresh_name(sentence->plan, CHANGE_CONSUMER_TYPE_INSERT, sentence->word[2]);
    allocations_set_owner(sentence->plan, before, &is);
}

static void release(const struct sentence *sentence)
{
    allocations_release(sentence->plan, known_consumer(sentence));
}

static void drop(const struct sentence *sentence)
{
    allocations_drop(sentence->plan, known_consumer(sentence));
}

/* ---- providers ---- */

static int64_t root_id(const struct plan *plan, struct slice uuid)
{
    const struct change_provider *fresh = fresh_provider(plan, uuid);
    return fresh != NULL ? fresh->root_id
                         : version_provider(plan->version, known(plan, uuid)->root)->id;
}

static void insert(const struct sentence *sentence)
{
    const struct plan *plan = sentence->plan;
    int64_t id = store_next_id(plan->store, STORE_PROVIDERS);
    bool has_parent = sentence->count > 2;
    struct change_provider row = {
        .id = id,
        .parent_id = has_parent ? provider_id(plan, sentence->word[2]) : 0,
        .root_id = has_parent ? root_id(plan, sentence->word[2]) : id,
        .uuid = sentence->word[1],
        .name = sentence->word[1],
    };
    append(sentence, CHANGE_PROVIDER_INSERT)->provider = row;
}

static void update(const struct sentence *sentence, struct slice name, int64_t parent, int64_t root)
{
    const struct provider *provider = known(sentence->plan, sentence->word[1]);
    append(sentence, CHANGE_PROVIDER_UPDATE)->provider = (struct change_provider){
        .id = provider->id,
        .parent_id = parent,
        .root_id = root,
        .uuid = sentence->word[1],
        .name = name,
    };
}

static void parent(const struct sentence *sentence)
{
    const struct plan *plan = sentence->plan;
    update(sentence, sentence->word[1], provider_id(plan, sentence->word[2]),
           root_id(plan, sentence->word[2]));
}

static void unparent(const struct sentence *sentence)
{
    update(sentence, sentence->word[1], 0, known(sentence->plan, sentence->word[1])->id);
}

static void rename_provider(const struct sentence *sentence)
{
    const struct version *version = sentence->plan->version;
    const struct provider *provider = known(sentence->plan, sentence->word[1]);
    bool is_root = provider->parent.v == NUMBER_NONE;
    update(sentence, sentence->word[2],
           is_root ? 0 : version_provider(version, provider->parent)->id,
           version_provider(version, provider->root)->id);
}

static void remove_provider(const struct sentence *sentence)
{
    append(sentence, CHANGE_PROVIDER_DELETE)->provider.id =
        known(sentence->plan, sentence->word[1])->id;
}

static void link_to(const struct sentence *sentence, enum change_kind kind, enum change_kind insert)
{
    struct change_link link = {provider_id(sentence->plan, sentence->word[1]),
                               fresh_name(sentence->plan, insert, sentence->word[2])};
    append(sentence, kind)->link = link;
}

static void join(const struct sentence *sentence)
{
    link_to(sentence, CHANGE_PROVIDER_AGGREGATE_INSERT, CHANGE_AGGREGATE_INSERT);
}

static void leave(const struct sentence *sentence)
{
    link_to(sentence, CHANGE_PROVIDER_AGGREGATE_DELETE, CHANGE_AGGREGATE_INSERT);
}

static void trait(const struct sentence *sentence)
{
    link_to(sentence, CHANGE_PROVIDER_TRAIT_INSERT, CHANGE_TRAIT_INSERT);
}

static void untrait(const struct sentence *sentence)
{
    link_to(sentence, CHANGE_PROVIDER_TRAIT_DELETE, CHANGE_TRAIT_INSERT);
}

/* ---- inventories and classes ---- */

static void stock(const struct sentence *sentence)
{
    const struct plan *plan = sentence->plan;
    const struct catalog_row *row = catalog_find(&plan->version->classes, sentence->word[2]);
    bool is_new = fresh_provider(plan, sentence->word[1]) != NULL || row == NULL ||
                  provider_inventory_of(known(plan, sentence->word[1]),
                                        (struct class_no){row->number}) == NULL;
    int32_t total = (int32_t)number(sentence->word[3]);
    struct change_inventory figures = {
        .provider_id = provider_id(plan, sentence->word[1]),
        .class_id = fresh_name(plan, CHANGE_CLASS_INSERT, sentence->word[2]),
        .total = total,
        .reserved = sentence->count > 4 ? (int32_t)number(sentence->word[4]) : 0,
        .min_unit = 1,
        .max_unit = total,
        .step_size = 1,
        .allocation_ratio = 1.0,
    };
    append(sentence, is_new ? CHANGE_INVENTORY_INSERT : CHANGE_INVENTORY_UPDATE)->inventory =
        figures;
}

static void clear(const struct sentence *sentence)
{
    struct change_inventory gone = {
        .provider_id = provider_id(sentence->plan, sentence->word[1]),
        .class_id = fresh_name(sentence->plan, CHANGE_CLASS_INSERT, sentence->word[2]),
    };
    append(sentence, CHANGE_INVENTORY_DELETE)->inventory = gone;
}

static void rename_class(const struct sentence *sentence)
{
    struct change_renamed renamed = {
        .row = {fresh_name(sentence->plan, CHANGE_CLASS_INSERT, sentence->word[1]),
                sentence->word[2]},
        .before = sentence->word[1]};
    append(sentence, CHANGE_CLASS_RENAME)->renamed = renamed;
}

/* ---- rows of nodes, without the mirror ---- */

static void node(const struct sentence *sentence)
{
    const struct plan *plan = sentence->plan;
    const struct node *before = version_node_by_uuid(plan->version, sentence->word[1]);
    struct node_draft draft = before != NULL
                                  ? node_draft_of(before)
                                  : node_draft_new(store_next_id(plan->store, STORE_NODES));
    node_set_text(&draft, NODE_UUID, sentence->word[1]);
    if (slice_equal(sentence->word[2], SLICE_LIT("class")))
        node_set_text(&draft, NODE_RESOURCE_CLASS, sentence->word[3]);
    else if (slice_equal(sentence->word[2], SLICE_LIT("mirrored-class")))
        node_set_text(&draft, NODE_MIRRORED_CLASS, sentence->word[3]);
    else if (slice_equal(sentence->word[2], SLICE_LIT("traits")))
        node_set_text(&draft, NODE_TRAITS, sentence->word[3]);
    else if (slice_equal(sentence->word[2], SLICE_LIT("adopted")))
        node_set_bool(&draft, NODE_PROVIDER_ADOPTED, number(sentence->word[3]) != 0);
    else if (slice_equal(sentence->word[2], SLICE_LIT("never-mirrored")))
        node_set_null(&draft, NODE_PROVIDER_ADOPTED);
    else if (slice_equal(sentence->word[2], SLICE_LIT("name")))
        node_set_text(&draft, NODE_NAME, sentence->word[3]);
    else if (slice_equal(sentence->word[2], SLICE_LIT("left")))
        node_set_text(&draft, NODE_MIRRORED_CONSUMER, sentence->word[3]);
    else if (slice_equal(sentence->word[2], SLICE_LIT("none-left")))
        node_set_null(&draft, NODE_MIRRORED_CONSUMER);
    else if (slice_equal(sentence->word[2], SLICE_LIT("maintenance")))
        node_set_bool(&draft, NODE_MAINTENANCE, number(sentence->word[3]) != 0);
    else
        node_set_text(&draft, NODE_DESCRIPTION, sentence->word[3]);
    if (sentence->count > 4)
        node_set_bool(&draft, NODE_PROVIDER_ADOPTED, number(sentence->word[4]) != 0);
    change_put_node(plan->changes, node_pack(&draft, plan->arena));
}

static void unnode(const struct sentence *sentence)
{
    const struct node *before = version_node_by_uuid(sentence->plan->version, sentence->word[1]);
    change_delete_node(sentence->plan->changes, before->record.id);
}

static void take(const struct sentence *sentence)
{
    const struct plan *plan = sentence->plan;
    const struct node_allocation *before =
        version_node_allocation_by_uuid(plan->version, sentence->word[1]);
    struct node_allocation_draft draft =
        before != NULL
            ? node_allocation_draft_of(before)
            : node_allocation_draft_new(store_next_id(plan->store, STORE_NODE_ALLOCATIONS));
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, sentence->word[1]);
    node_allocation_set_text(&draft, NODE_ALLOCATION_STATE, SLICE_LIT("active"));
    node_allocation_set_node_id(&draft,
                                version_node_by_uuid(plan->version, sentence->word[2])->record.id);
    if (sentence->count > 3)
        node_allocation_set_bool(&draft, NODE_ALLOCATION_CONSUMER_ADOPTED,
                                 number(sentence->word[3]) != 0);
    change_put_node_allocation(plan->changes, node_allocation_pack(&draft, plan->arena));
}

static void untake(const struct sentence *sentence)
{
    const struct plan *plan = sentence->plan;
    change_delete_node_allocation(
        plan->changes,
        version_node_allocation_by_uuid(plan->version, sentence->word[1])->record.id);
}

static const struct {
    const char *name;
    append_sentence *append;
    size_t least; /* words, itself included */
} verbs[] = {
    {"consume", consume, 6},
    {"owner", owner, 3},
    {"user", user, 3},
    {"type", type, 3},
    {"release", release, 2},
    {"drop", drop, 2},
    {"insert", insert, 2},
    {"parent", parent, 3},
    {"unparent", unparent, 2},
    {"rename", rename_provider, 3},
    {"remove", remove_provider, 2},
    {"join", join, 3},
    {"leave", leave, 3},
    {"trait", trait, 3},
    {"untrait", untrait, 3},
    {"stock", stock, 4},
    {"clear", clear, 3},
    {"class", rename_class, 3},
    {"node", node, 4},
    {"unnode", unnode, 2},
    {"take", take, 3},
    {"untake", untake, 2},
};

static void append_one(struct sentence *sentence)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (slice_equal(sentence->word[0], slice_of(verbs[i].name))) {
            assert_true(sentence->count >= verbs[i].least);
            verbs[i].append(sentence);
            return;
        }
    fail_msg("unknown verb %.*s", SLICE_ARG(sentence->word[0]));
}

bool cloud_plan_raw(const struct plan *plan, const char *request)
{
    struct slice rest = slice_of(request);
    struct sentence sentence = {.plan = plan};
    struct slice word;
    while (record_next_word(&rest, &word)) {
        bool ends = word.data[word.len - 1] == ';';
        word.len -= ends ? 1 : 0;
        assert_true(sentence.count < WORDS_MAX);
        sentence.word[sentence.count++] = word;
        if (!ends && rest.len > 0)
            continue;
        append_one(&sentence);
        sentence.count = 0;
    }
    if (sentence.count > 0)
        append_one(&sentence);
    return true;
}

int cloud_raw(struct metal_world *cloud, const char *request)
{
    cloud->world.author = NULL;
    struct plan plan = metal_plan(cloud);
    const char *kept = arena_printf(cloud->world.arena, "%s", request).data;
    return world_conclude(&cloud->world, cloud_plan_raw(&plan, kept)) ? 0 : cloud->world.err.status;
}
