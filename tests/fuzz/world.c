/* See world.h. One thread. */
#include "world.h"

#include <jansson.h>
#include <stdlib.h>

#include "placement/api/definition.h"
#include "policy/keeper.h"
#include "replica/apply.h"

/* Added to ids that exist only in memory: the database's next ids never come near. */
static const int64_t FAR = (int64_t)1 << 50;

enum { PROVIDERS = 8, VCPU = 0, MEMORY_MB = 1, DISK_GB = 2, AGGREGATES = 2 };

static struct slice numbered(struct arena *arena, char digit, unsigned n)
{
    struct slice text = arena_printf(arena, "00000000-0000-4000-8000-%012u", n);
    memset((char *)(uintptr_t)text.data, digit, 8);
    return text;
}

static void sink_apply(void *cls, const struct change *change)
{
    apply_change(cls, change);
}

static int64_t trait_id(const struct version *version, const char *name)
{
    const struct catalog_row *row = catalog_find(&version->traits, slice_of(name));
    check(row != NULL);
    return row->id;
}

static void add_provider(struct change_list *list, int64_t id, int64_t parent, int64_t root)
{
    struct slice uuid = numbered(list->arena, '0', (unsigned)id);
    struct slice name = arena_printf(list->arena, "provider%u", (unsigned)id);
    change_append(list, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
        FAR + id, parent == 0 ? 0 : FAR + parent, FAR + root, id, uuid, name};
}

static void add_inventory(struct change_list *list, int64_t provider, int64_t class_id,
                          int32_t total, int32_t step)
{
    change_append(list, CHANGE_INVENTORY_INSERT)->inventory =
        (struct change_inventory){FAR + provider, class_id, total, 0, 1, total, step, 1.5};
}

static void add_links(struct change_list *list, const struct version *version)
{
    static const struct {
        int64_t provider;
        const char *trait;
    } TRAITS[] = {{1, "HW_CPU_X86_AVX"},  {2, "HW_CPU_X86_AVX"},   {4, "HW_CPU_X86_AVX"},
                  {5, "HW_CPU_X86_AVX2"}, {7, "STORAGE_DISK_SSD"}, {8, "MISC_SHARES_VIA_AGGREGATE"},
                  {8, "STORAGE_DISK_SSD"}};
    for (size_t i = 0; i < sizeof(TRAITS) / sizeof(TRAITS[0]); i++)
        change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link =
            (struct change_link){FAR + TRAITS[i].provider, trait_id(version, TRAITS[i].trait)};
    static const int64_t MEMBERS[] = {1, 2, 4, 8};
    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++)
        change_append(list, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
            (struct change_link){FAR + MEMBERS[i], FAR + 1};
    change_append(list, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
        (struct change_link){FAR + 2, FAR + 2};
}

static void add_consumer(struct change_list *list)
{
    struct slice uuid = numbered(list->arena, 'c', 1);
    change_append(list, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){FAR + 1, SLICE_LIT("project")};
    change_append(list, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){FAR + 1, SLICE_LIT("user")};
    change_append(list, CHANGE_CONSUMER_TYPE_INSERT)->catalog =
        (struct change_catalog){FAR + 1, SLICE_LIT("INSTANCE")};
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){FAR + 1, FAR + 1, FAR + 1, FAR + 1, 3, 0, uuid};
    for (int64_t class_id = VCPU; class_id <= MEMORY_MB; class_id++)
        change_append(list, CHANGE_ALLOCATION_INSERT)->allocation =
            (struct change_allocation){FAR + class_id, FAR + 1, FAR + 1, class_id, 2, uuid};
}

static void fill(struct edit *edit, struct arena *arena)
{
    struct change_list list = {.arena = arena};
    static const int64_t PARENTS[PROVIDERS + 1] = {[5] = 4, [6] = 4, [7] = 5};
    change_append(&list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){FAR, SLICE_LIT("CUSTOM_FPGA")};
    change_append(&list, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){FAR, SLICE_LIT("CUSTOM_GOLD")};
    for (unsigned i = 1; i <= AGGREGATES; i++) {
        struct slice uuid = numbered(arena, 'a', i);
        change_append(&list, CHANGE_AGGREGATE_INSERT)->catalog =
            (struct change_catalog){FAR + i, uuid};
    }
    for (int64_t id = 1; id <= PROVIDERS; id++)
        add_provider(&list, id, PARENTS[id], id >= 4 && id <= 7 ? 4 : id);
    for (int64_t id = 1; id <= 6; id++) {
        add_inventory(&list, id, VCPU, 8, 1);
        add_inventory(&list, id, MEMORY_MB, 1024, id == 3 ? 64 : 1);
    }
    add_inventory(&list, 3, DISK_GB, 100, 10);
    add_inventory(&list, 7, FAR, 4, 1);
    add_inventory(&list, 8, DISK_GB, 1000, 1);
    add_links(&list, edit->version);
    add_consumer(&list);
    apply_changes(edit, &list);
}

const struct world *world_get(void)
{
    static struct world world;
    if (world.version != NULL)
        return &world;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct store_options options = {.connection = SLICE_LIT("sqlite://"), .sync_schema = true};
    world.store = store_open(&options, &err);
    check(world.store != NULL && store_begin_read(world.store, &err) == STORE_NEWS_RELOAD);
    world.replica = replica_create();
    struct edit *edit = replica_edit_empty(world.replica);
    check(store_load(world.store, sink_apply, edit, &err) == STORE_OK);
    struct store_stamp state;
    check(store_end_read(world.store, &state));
    apply_flush(edit);
    fill(edit, arena);
    struct version_stamp stamp = {{0}};
    replica_publish(world.replica, edit, &stamp);
    arena_destroy(arena);
    world.version = replica_newest(world.replica);
    return &world;
}

struct policy_keeper *fuzz_policies(void)
{
    struct err err = {0};
    const struct policy_options options = {0};
    struct policy *policy = policy_build(&options, &(struct policy_overrides){0}, &err);
    check(policy != NULL);
    return policy_keeper_of(policy);
}

struct api_request *fuzz_request_begin(struct fuzz_request *r, struct arena *arena,
                                       const struct api *api, unsigned minor)
{
    *r = (struct fuzz_request){.exchange.http = {.arena = arena, .method = SLICE_LIT("GET")}};
    r->exchange.headers = r->headers;
    r->endpoint = (struct api_endpoint){
        .definition = &placement_definition, .api = api, .settings = &r->settings};
    r->settings.max_candidates = -1;
    r->settings.incomplete_project_id = SLICE_LIT("incomplete");
    r->settings.incomplete_user_id = SLICE_LIT("incomplete");
    r->passage.request = &r->request;
    r->write = (struct api_write){{.err = {.arena = arena}}, &r->request};
    r->request = (struct api_request){.http = &r->exchange.http,
                                      .own = &r->own,
                                      .passage = &r->passage,
                                      .endpoint = &r->endpoint,
                                      .definition = &placement_definition,
                                      .api = api,
                                      .arena = arena,
                                      .minor = minor,
                                      .has_minor = true,
                                      .status = 200,
                                      .err = {.arena = arena},
                                      .write = &r->write.write};
    static const struct slice ADMIN = SLICE_LIT("admin");
    r->request.identity.roles = (struct identity_roles){&ADMIN, 1};
    request_id_generate(r->request.request_id);
    return &r->request;
}

void fuzz_request_header(struct fuzz_request *r, const char *name, struct slice value)
{
    check(r->exchange.header_count < sizeof(r->headers) / sizeof(r->headers[0]));
    r->headers[r->exchange.header_count++] = (struct request_header){slice_of(name), value, NULL};
}

void fuzz_request_end(struct fuzz_request *r)
{
    buf_free(&r->exchange.http.out);
    json_decref(r->request.body);
}

void fuzz_request_check_answer(struct fuzz_request *r)
{
    if (err_is_set(&r->request.err)) {
        check(r->request.err.status >= 400 && r->request.err.message.len < 1 << 20);
        r->request.definition->write_fault(&r->request);
    }
    struct buf *out = &r->exchange.http.out;
    if (out->len == 0)
        return;
    json_error_t error;
    json_t *answer = json_loadb(out->data, out->len, JSON_ALLOW_NUL, &error);
    check(answer != NULL);
    json_decref(answer);
}
