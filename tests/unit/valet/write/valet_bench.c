/* See valet_bench.h. One thread. */
#include "valet/write/valet_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_reshaper.h"
#include "placement/write/plan_traits.h"
#include "replica/audit.h"
#include "unit.h"
#include "valet/write/valet_rule.h"

static void open_berth(struct valet_bench *bench)
{
    struct err err = {.arena = bench->arena};
    struct store_options options = {.connection = slice_of(bench->url),
                                    .busy_timeout_ms = 400,
                                    .sync_schema = true,
                                    .create_missing_file = true,
                                    .synchronous_off = true};
    bench->store = store_open(&options, &err);
    assert_non_null(bench->store);
    bench->replica = replica_create();
    bench->pipeline =
        pipeline_create(bench->store, bench->replica, products_open(&bench->products, NULL), &err);
    assert_non_null(bench->pipeline);
}

static void close_berth(struct valet_bench *bench)
{
    pipeline_destroy(bench->pipeline);
    products_close(&bench->products);
    replica_destroy(bench->replica);
    store_close(bench->store);
}

static bool make_marks(void *cls, const struct plan *plan, struct err *err)
{
    (void)cls;
    struct planned_trait trait;
    return plan_trait_put(SLICE_LIT("CUSTOM_VALET_RACK"), plan, &trait, err);
}

void valet_open(struct valet_bench *bench)
{
    *bench = (struct valet_bench){0};
    snprintf(bench->directory, sizeof(bench->directory), "/tmp/berth-valet-XXXXXX");
    assert_non_null(mkdtemp(bench->directory));
    snprintf(bench->path, sizeof(bench->path), "%s/db", bench->directory);
    snprintf(bench->url, sizeof(bench->url), "sqlite:///%s", bench->path);
    bench->arena = arena_create();
    open_berth(bench);
    assert_int_equal(sqlite3_open(bench->path, &bench->shell), SQLITE_OK);
    sqlite3_busy_timeout(bench->shell, 5000);
    assert_int_equal(valet_write(bench, make_marks, NULL), 0);
}

void valet_open_again(struct valet_bench *bench)
{
    close_berth(bench);
    open_berth(bench);
}

void valet_close(struct valet_bench *bench)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    sqlite3_close(bench->shell);
    close_berth(bench);
    for (size_t i = 0; i < 3; i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", bench->path, suffixes[i]);
        unlink(name);
    }
    rmdir(bench->directory);
    arena_destroy(bench->arena);
}

void valet_join(struct valet_bench *other, const struct valet_bench *first)
{
    *other = (struct valet_bench){.arena = arena_create()};
    memcpy(other->path, first->path, sizeof(other->path));
    memcpy(other->url, first->url, sizeof(other->url));
    open_berth(other);
}

void valet_part(struct valet_bench *other)
{
    close_berth(other);
    arena_destroy(other->arena);
}

void valet_shell(struct valet_bench *bench, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(bench->shell, sql, NULL, NULL, &message) != SQLITE_OK)
        print_error("%s\n", message);
    assert_null(message);
}

const struct version *valet_version(struct valet_bench *bench)
{
    return replica_newest(bench->replica);
}

struct slice valet_uuid(struct valet_bench *bench, const char *name)
{
    char digits[13] = "000000000000";
    for (size_t i = 0; name[i] != '\0' && i < 6; i++)
        snprintf(&digits[2 * i], 3, "%02x", (unsigned char)name[i]);
    for (size_t i = 0; i < 12; i++)
        digits[i] = digits[i] == '\0' ? '0' : digits[i];
    return arena_printf(bench->arena, "aaaaaaaa-0000-4000-8000-%.12s", digits);
}

struct asked {
    struct pipeline_request request; /* first */
    valet_step *step;
    void *cls;
    bool is_done;
};

static bool plan_asked(struct pipeline_request *request, const struct plan *plan)
{
    struct asked *asked = (struct asked *)request;
    return asked->step(asked->cls, plan, &request->err);
}

static void asked_done(struct pipeline_request *request)
{
    ((struct asked *)request)->is_done = true;
}

int valet_write(struct valet_bench *bench, valet_step *step, void *cls)
{
    struct asked asked = {
        .request = {.plan = plan_asked,
                    .done = asked_done,
                    .author = bench->author,
                    .err = {.arena = bench->arena}},
        .step = step,
        .cls = cls,
    };
    pipeline_submit(bench->pipeline, &asked.request);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(asked.is_done);
    bench->err = asked.request.err;
    struct buf why = {0};
    if (!audit_version(valet_version(bench), &why)) {
        buf_append_char(&why, '\0');
        fail_msg("%s", why.data);
    }
    buf_free(&why);
    return bench->err.status;
}

void valet_read(struct valet_bench *bench)
{
    struct asked asked = {.request = {.done = asked_done, .err = {.arena = bench->arena}}};
    pipeline_submit(bench->pipeline, &asked.request);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(asked.is_done);
    assert_int_equal(asked.request.err.status, 0);
}

/* ---- providers ---- */

struct words {
    struct valet_bench *bench;
    const char *name;
    const char *text;
};

static size_t split(struct words *words, struct slice *list, bool as_uuids)
{
    size_t count = 0;
    struct slice rest = slice_of(words->text);
    struct slice word;
    while (record_next_word(&rest, &word)) {
        const char *name = arena_printf(words->bench->arena, "%.*s", SLICE_ARG(word)).data;
        list[count++] = as_uuids ? valet_uuid(words->bench, name) : slice_of(name);
    }
    return count;
}

static bool create_provider(void *cls, const struct plan *plan, struct err *err)
{
    const struct words *words = cls;
    struct planned_provider result;
    struct slice parent = {0};
    if (words->text != NULL)
        parent = valet_uuid(words->bench, words->text);
    return plan_provider_create(valet_uuid(words->bench, words->name), slice_of(words->name),
                                parent, plan, &result, err);
}

void valet_provider(struct valet_bench *bench, const char *name, const char *parent)
{
    struct words words = {bench, name, parent};
    assert_int_equal(valet_write(bench, create_provider, &words), 0);
}

static bool delete_provider(void *cls, const struct plan *plan, struct err *err)
{
    const struct words *words = cls;
    return plan_provider_delete(valet_uuid(words->bench, words->name), plan, err);
}

void valet_delete_provider(struct valet_bench *bench, const char *name)
{
    struct words words = {bench, name, NULL};
    assert_int_equal(valet_write(bench, delete_provider, &words), 0);
}

static bool set_parent(void *cls, const struct plan *plan, struct err *err)
{
    const struct words *words = cls;
    struct planned_provider result;
    struct plan_provider_update update = {
        .uuid = valet_uuid(words->bench, words->name),
        .name = slice_of(words->name),
        .has_parent = true,
        .may_move = true,
    };
    if (words->text != NULL)
        update.parent_uuid = valet_uuid(words->bench, words->text);
    return plan_provider_update(&update, plan, &result, err);
}

void valet_parent(struct valet_bench *bench, const char *name, const char *parent)
{
    struct words words = {bench, name, parent};
    assert_int_equal(valet_write(bench, set_parent, &words), 0);
}

static bool stock_host(void *cls, const struct plan *plan, struct err *err)
{
    const struct words *words = cls;
    struct inventory_figures vcpu = {HOST_VCPU, 0, 1, HOST_VCPU, 1, 1.0};
    struct inventory_figures memory = {HOST_MEMORY, 0, 1, HOST_MEMORY, 1, 1.0};
    struct plan_inventory items[] = {{SLICE_LIT("VCPU"), vcpu, true},
                                     {SLICE_LIT("MEMORY_MB"), memory, true}};
    struct plan_inventories input = {
        .provider_uuid = valet_uuid(words->bench, words->name),
        .generation = valet_find(words->bench, words->name)->generation,
        .items = items,
        .item_count = 2,
    };
    int64_t generation;
    return plan_inventories_set(&input, plan, &generation, err);
}

void valet_host(struct valet_bench *bench, const char *name)
{
    struct words words = {bench, name, NULL};
    if (valet_find(bench, name) == NULL)
        valet_provider(bench, name, NULL);
    assert_int_equal(valet_write(bench, stock_host, &words), 0);
}

static bool set_aggregates(void *cls, const struct plan *plan, struct err *err)
{
    struct words *words = cls;
    struct slice uuids[8];
    struct plan_aggregates input = {
        .provider_uuid = valet_uuid(words->bench, words->name),
        .uuids = uuids,
        .uuid_count = split(words, uuids, true),
        .has_generation = true,
        .generation = valet_find(words->bench, words->name)->generation,
    };
    int64_t generation;
    return plan_aggregates_set(&input, plan, &generation, err);
}

void valet_aggregates(struct valet_bench *bench, const char *name, const char *aggregates)
{
    struct words words = {bench, name, aggregates};
    assert_int_equal(valet_write(bench, set_aggregates, &words), 0);
}

static bool set_traits(void *cls, const struct plan *plan, struct err *err)
{
    struct words *words = cls;
    struct slice names[8];
    struct plan_provider_traits input = {
        .provider_uuid = valet_uuid(words->bench, words->name),
        .names = names,
        .name_count = split(words, names, false),
    };
    struct planned_traits result;
    return plan_provider_traits_set(&input, plan, &result, err);
}

void valet_traits(struct valet_bench *bench, const char *name, const char *traits)
{
    struct words words = {bench, name, traits};
    assert_int_equal(valet_write(bench, set_traits, &words), 0);
}

void valet_rack(struct valet_bench *bench, const char *name, const char *aggregate)
{
    valet_provider(bench, name, NULL);
    valet_aggregates(bench, name, aggregate);
    valet_traits(bench, name, "CUSTOM_VALET_RACK");
}

/* ---- rows ---- */

struct row {
    struct valet_bench *bench;
    enum valet_table table;
    struct record_value *values;
};

static int64_t next_id(const struct plan *plan, enum valet_table table)
{
    return store_next_id(plan->store, (enum store_table)(STORE_VALET + (int)table));
}

static bool put_row(void *cls, const struct plan *plan, struct err *err)
{
    (void)err;
    const struct row *row = cls;
    change_put_valet(plan->changes, row->table,
                     record_pack(&VALET_SHAPES[row->table], next_id(plan, row->table), row->values,
                                 plan->arena));
    return true;
}

static void put(struct valet_bench *bench, enum valet_table table, struct record_value *values)
{
    struct row row = {bench, table, values};
    assert_int_equal(valet_write(bench, put_row, &row), 0);
}

static int64_t group_id(struct valet_bench *bench, const char *name)
{
    const struct valet_group *group =
        version_valet_group_by_name(valet_version(bench), slice_of(name));
    assert_non_null(group);
    return group->record.id;
}

void valet_group(struct valet_bench *bench, const char *name)
{
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], values);
    values[VALET_GROUP_UUID].text = valet_uuid(bench, name);
    values[VALET_GROUP_NAME].text = slice_of(name);
    values[VALET_GROUP_CREATED_AT].number = 1;
    put(bench, VALET_GROUPS, values);
}

void valet_member(struct valet_bench *bench, const char *group, const char *project)
{
    struct record_value values[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], values);
    values[VALET_MEMBER_GROUP_ID].number = group_id(bench, group);
    values[VALET_MEMBER_PROJECT].text = slice_of(project);
    values[VALET_MEMBER_ADDED_WITH].number = 1;
    put(bench, VALET_MEMBERS, values);
}

struct claiming {
    struct valet_bench *bench;
    const char *group;
    const char *rack; /* NULL: only the host */
    const char *host;
};

static void append_row(const struct claiming *claiming, const struct plan *plan,
                       struct slice provider, bool is_rack)
{
    struct record_value values[VALET_CLAIM_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_CLAIMS], values);
    values[VALET_CLAIM_GROUP_ID].number = group_id(claiming->bench, claiming->group);
    values[VALET_CLAIM_PROVIDER].text = provider;
    values[VALET_CLAIM_IS_RACK].number = is_rack ? RECORD_TRUE : RECORD_FALSE;
    if (!is_rack && claiming->rack != NULL)
        values[VALET_CLAIM_RACK].text = valet_uuid(claiming->bench, claiming->rack);
    change_put_valet(
        plan->changes, VALET_CLAIMS,
        record_pack(&VALET_SHAPES[VALET_CLAIMS], next_id(plan, VALET_CLAIMS), values, plan->arena));
}

static void append_host(const struct claiming *claiming, const struct plan *plan,
                        const struct provider *host, int64_t aggregate)
{
    struct change *change = change_append(plan->changes, CHANGE_PROVIDER_AGGREGATE_INSERT);
    change->created_at_us = plan->now_us;
    change->link = (struct change_link){host->id, aggregate};
    append_row(claiming, plan, provider_uuid(host), false);
}

static bool claim_for_group(void *cls, const struct plan *plan, struct err *err)
{
    (void)err;
    const struct claiming *claiming = cls;
    const struct version *version = plan->version;
    struct slice uuid = valet_uuid(claiming->bench, claiming->group);
    const struct catalog_row *row = catalog_find(&version->aggregates, uuid);
    int64_t aggregate = row != NULL ? row->id : store_next_id(plan->store, STORE_AGGREGATES);
    if (row == NULL)
        change_append(plan->changes, CHANGE_AGGREGATE_INSERT)->catalog =
            (struct change_catalog){aggregate, uuid};
    if (claiming->rack == NULL) {
        append_host(claiming, plan, valet_find(claiming->bench, claiming->host), aggregate);
        return true;
    }
    const struct provider *rack = valet_find(claiming->bench, claiming->rack);
    append_row(claiming, plan, provider_uuid(rack), true);
    struct host_marks marks = host_marks_of(version);
    struct marker_hosts hosts = marker_hosts_of(version, &marks, rack, marks.rack);
    const struct provider *host;
    while ((host = marker_hosts_next(&hosts)) != NULL)
        if (row == NULL || !name_set_has(host->aggregates, row->number))
            append_host(claiming, plan, host, aggregate);
    return true;
}

void valet_claim_host(struct valet_bench *bench, const char *group, const char *host)
{
    struct claiming claiming = {bench, group, NULL, host};
    assert_int_equal(valet_write(bench, claim_for_group, &claiming), 0);
}

void valet_claim_rack(struct valet_bench *bench, const char *group, const char *rack)
{
    struct claiming claiming = {bench, group, rack, NULL};
    assert_int_equal(valet_write(bench, claim_for_group, &claiming), 0);
}

struct placing {
    struct valet_bench *bench;
    struct record_value *values;
    int64_t id; /* 0: new */
    const char *host;
    struct claim claim;
};

static bool place(void *cls, const struct plan *plan, struct err *err)
{
    const struct placing *placing = cls;
    struct claim_set set;
    if (placing->host != NULL) {
        claim_begin(&set, &placing->claim, 1, CLAIM_BY_POST, 0, plan, err);
        if (!claim_find_providers(&set) || !claim_check_amounts(&set))
            return false;
        claim_write(&set);
    }
    int64_t id = placing->id != 0 ? placing->id : next_id(plan, VALET_PLACEMENTS);
    change_put_valet(
        plan->changes, VALET_PLACEMENTS,
        record_pack(&VALET_SHAPES[VALET_PLACEMENTS], id, placing->values, plan->arena));
    return true;
}

static int64_t plan_id(struct valet_bench *bench)
{
    const struct valet_plan *row = version_next_valet_plan(valet_version(bench), 0);
    if (row != NULL)
        return row->record.id;
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLANS], values);
    values[VALET_PLAN_UUID].text = valet_uuid(bench, "plan");
    values[VALET_PLAN_NAME].text = SLICE_LIT("plan");
    values[VALET_PLAN_STACK_ID].text = SLICE_LIT("stack");
    values[VALET_PLAN_PROJECT].text = SLICE_LIT("p");
    values[VALET_PLAN_USER].text = SLICE_LIT("user");
    values[VALET_PLAN_FINGERPRINT].text = SLICE_LIT("0");
    values[VALET_PLAN_CONTENT].text = SLICE_LIT("{}");
    values[VALET_PLAN_CREATED_AT].number = 1;
    put(bench, VALET_PLANS, values);
    return version_next_valet_plan(valet_version(bench), 0)->record.id;
}

void valet_place(struct valet_bench *bench, const char *placement, const char *server,
                 const char *host, int64_t vcpus)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    const struct valet_placement *known = valet_placement(bench, placement);
    record_init(&VALET_SHAPES[VALET_PLACEMENTS], values);
    if (known != NULL)
        record_open(&VALET_SHAPES[VALET_PLACEMENTS], &known->record, values);
    values[VALET_PLACEMENT_UUID].text = valet_uuid(bench, placement);
    values[VALET_PLACEMENT_PLAN_ID].number = plan_id(bench);
    values[VALET_PLACEMENT_NAME].text = slice_of(placement);
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = valet_uuid(bench, server);
    values[VALET_PLACEMENT_LOCATION].text = slice_of(host == NULL ? "nowhere" : host);
    values[VALET_PLACEMENT_RESERVED].number = RECORD_FALSE;
    values[VALET_PLACEMENT_CREATED_AT].number = 1;
    struct placing placing = {
        .bench = bench, .values = values, .id = known == NULL ? 0 : known->record.id, .host = host};
    if (host != NULL)
        placing.claim = valet_parse(
            bench,
            arena_printf(bench->arena, "%s p %s:VCPU=%lld", placement, host, (long long)vcpus).data,
            VALET_HOLD_TYPE);
    bench->author = &valet_rule;
    assert_int_equal(valet_write(bench, place, &placing), 0);
    bench->author = NULL;
}

void valet_bind(struct valet_bench *bench, const char *placement, const char *server)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    const struct valet_placement *known = valet_placement(bench, placement);
    record_open(&VALET_SHAPES[VALET_PLACEMENTS], &known->record, values);
    values[VALET_PLACEMENT_RESOURCE_ID].text = valet_uuid(bench, server);
    struct placing placing = {.bench = bench, .values = values, .id = known->record.id};
    bench->author = &valet_rule;
    assert_int_equal(valet_write(bench, place, &placing), 0);
    bench->author = NULL;
}

/* ---- claims ---- */

static const char *cut(struct valet_bench *bench, const char **rest, char at)
{
    const char *end = strchr(*rest, at);
    size_t len = end == NULL ? strlen(*rest) : (size_t)(end - *rest);
    const char *word = arena_printf(bench->arena, "%.*s", (int)len, *rest).data;
    *rest += end == NULL ? len : len + 1;
    return word;
}

struct claim valet_parse(struct valet_bench *bench, const char *text, const char *type)
{
    struct claim claim = {.user = SLICE_LIT("user"), .generation_rule = CLAIM_GENERATION_ANY};
    struct claim_provider *providers = arena_array(bench->arena, 8, sizeof(*providers));
    claim.consumer = valet_uuid(bench, cut(bench, &text, ' '));
    claim.project = slice_of(cut(bench, &text, ' '));
    if (type != NULL)
        claim.type = slice_of(type);
    while (*text != '\0' && *text != '-') {
        struct claim_amount *amount = arena_alloc(bench->arena, sizeof(*amount));
        const char *provider = cut(bench, &text, ':');
        amount->class_name = slice_of(cut(bench, &text, '='));
        amount->amount = strtoll(cut(bench, &text, ','), NULL, 10);
        providers[claim.provider_count++] =
            (struct claim_provider){valet_uuid(bench, provider), amount, 1};
    }
    claim.providers = providers;
    return claim;
}

struct claims {
    struct valet_bench *bench;
    const struct claim *claims;
    size_t count;
    enum claim_source source;
};

static bool write_claims(void *cls, const struct plan *plan, struct err *err)
{
    const struct claims *claims = cls;
    if (claims->source != CLAIM_BY_RESHAPER)
        return plan_allocations(claims->claims, claims->count, claims->source, plan, err);
    struct reshape reshape = {.claims = claims->claims, .claim_count = claims->count};
    return plan_reshaper(&reshape, plan, err);
}

static int write_all(struct valet_bench *bench, const char *const *texts, size_t count,
                     enum claim_source source, const char *type)
{
    struct claim *list = arena_array(bench->arena, count, sizeof(*list));
    for (size_t i = 0; i < count; i++)
        list[i] = valet_parse(bench, texts[i], type);
    struct claims claims = {bench, list, count, source};
    return valet_write(bench, write_claims, &claims);
}

int valet_put(struct valet_bench *bench, const char *claim)
{
    return write_all(bench, &claim, 1, CLAIM_BY_PUT, NULL);
}

int valet_put_typed(struct valet_bench *bench, const char *claim, const char *type)
{
    return write_all(bench, &claim, 1, CLAIM_BY_PUT, type);
}

int valet_post(struct valet_bench *bench, const char *const *claims, size_t count)
{
    return write_all(bench, claims, count, CLAIM_BY_POST, NULL);
}

int valet_reshape(struct valet_bench *bench, const char *const *claims, size_t count,
                  const char *type)
{
    return write_all(bench, claims, count, CLAIM_BY_RESHAPER, type);
}

static bool release(void *cls, const struct plan *plan, struct err *err)
{
    const struct words *words = cls;
    struct slice uuid = valet_uuid(words->bench, words->name);
    return plan_allocations_delete(uuid, uuid, plan, err);
}

int valet_release(struct valet_bench *bench, const char *consumer)
{
    struct words words = {bench, consumer, NULL};
    return valet_write(bench, release, &words);
}

/* ---- the state ---- */

const struct provider *valet_find(struct valet_bench *bench, const char *name)
{
    return version_provider_by_uuid(valet_version(bench), valet_uuid(bench, name));
}

const struct valet_placement *valet_placement(struct valet_bench *bench, const char *name)
{
    return version_valet_placement_by_uuid(valet_version(bench), valet_uuid(bench, name));
}

bool valet_is_in(struct valet_bench *bench, const char *host, const char *aggregate)
{
    const struct catalog_row *row =
        catalog_find(&valet_version(bench)->aggregates, valet_uuid(bench, aggregate));
    return row != NULL && name_set_has(valet_find(bench, host)->aggregates, row->number);
}

bool valet_has_claim(struct valet_bench *bench, const char *group, const char *provider)
{
    const struct valet_claim *claim;
    for (int64_t id = 0; (claim = version_next_valet_claim_of(
                              valet_version(bench), valet_uuid(bench, provider), id)) != NULL;
         id = claim->record.id)
        if (record_number(&claim->record, VALET_CLAIM_GROUP_ID) == group_id(bench, group))
            return true;
    return false;
}

int64_t valet_holds(struct valet_bench *bench, const char *consumer, const char *host)
{
    const struct version *version = valet_version(bench);
    const struct consumer *found = version_consumer(version, valet_uuid(bench, consumer));
    const struct catalog_row *row = catalog_find(&version->classes, SLICE_LIT("VCPU"));
    int64_t sum = 0;
    for (uint32_t i = 0; found != NULL && i < found->allocation_count; i++)
        if (found->allocation[i].class_no.v == row->number &&
            found->allocation[i].provider.v == valet_find(bench, host)->no.v)
            sum += found->allocation[i].used;
    return sum;
}

void valet_assert_location(struct valet_bench *bench, const char *placement, const char *host)
{
    struct slice shown =
        placement_location(valet_version(bench), valet_placement(bench, placement));
    if (!slice_equal(shown, slice_of(host)))
        fail_msg("%s is on %.*s", placement, SLICE_ARG(shown));
}

void valet_assert_refused(struct valet_bench *bench, const char *text)
{
    assert_int_equal(bench->err.status, 409);
    if (!slice_equal(bench->err.message, slice_of(text)))
        fail_msg("%.*s", SLICE_ARG(bench->err.message));
}
