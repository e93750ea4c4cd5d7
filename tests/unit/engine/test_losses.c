/* What is named after the database went back: each kind of entity that is gone, older, changed or
 * back again; in the log, in a file, in counters. Versions are compared by what clients know, so
 * equal clouds whose rows have other ids are equal. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "engine/loss_report.h"
#include "log/log.h"
#include "log/settings.h"
#include "model/node.h"
#include "model/node_allocation.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

enum { TEXT_BYTES = 16384 };

/* One thing of the cloud that is different. */
enum variant {
    AS_IT_IS,
    NO_CUSTOM_CLASS,
    NO_CUSTOM_TRAIT,
    NO_CHILD,
    OTHER_PARENT,
    OTHER_NAME,
    OLDER_HOST,
    NEWER_HOST,
    OTHER_TOTAL,
    OTHER_RATIO,
    NO_INVENTORY,
    OTHER_TRAITS,
    OTHER_AGGREGATES,
    NO_CONSUMER,
    OLDER_CONSUMER,
    NEWER_CONSUMER,
    OTHER_AMOUNT,
    OTHER_PROVIDER,
    ONE_ALLOCATION,
    OTHER_PROJECT,
    OTHER_TYPE,
    NO_NODE,
    OTHER_NODE,
    NO_NODE_ALLOCATION,
    NO_GROUP,
    NO_MEMBER,
    NO_CLAIM,
    NO_PLAN,
    NO_PLACEMENT,
    OTHER_PLACEMENT,
    VARIANT_COUNT
};

static const struct {
    const char *losses; /* from the whole cloud to the variant */
    const char *reverse;
} expected[VARIANT_COUNT] = {
    [AS_IT_IS] = {"", ""},
    [NO_CUSTOM_CLASS] = {"resource_class gone", "resource_class appeared"},
    [NO_CUSTOM_TRAIT] = {"trait gone", "trait appeared"},
    [NO_CHILD] = {"resource_provider gone", "resource_provider appeared"},
    [OTHER_PARENT] = {"resource_provider changed", "resource_provider changed"},
    [OTHER_NAME] = {"resource_provider changed", "resource_provider changed"},
    [OLDER_HOST] = {"resource_provider older", ""},
    [NEWER_HOST] = {"", "resource_provider older"},
    [OTHER_TOTAL] = {"resource_provider changed", "resource_provider changed"},
    [OTHER_RATIO] = {"resource_provider changed", "resource_provider changed"},
    [NO_INVENTORY] = {"resource_provider changed", "resource_provider changed"},
    [OTHER_TRAITS] = {"resource_provider changed", "resource_provider changed"},
    [OTHER_AGGREGATES] = {"resource_provider changed", "resource_provider changed"},
    [NO_CONSUMER] = {"consumer gone -2", "consumer appeared"},
    [OLDER_CONSUMER] = {"consumer older", ""},
    [NEWER_CONSUMER] = {"", "consumer older"},
    [OTHER_AMOUNT] = {"consumer changed -1", "consumer changed -1"},
    [OTHER_PROVIDER] = {"consumer changed -1", "consumer changed -1"},
    [ONE_ALLOCATION] = {"consumer changed -1", "consumer changed"},
    [OTHER_PROJECT] = {"consumer changed", "consumer changed"},
    [OTHER_TYPE] = {"consumer changed", "consumer changed"},
    [NO_NODE] = {"node gone", "node appeared"},
    [OTHER_NODE] = {"node changed", "node changed"},
    [NO_NODE_ALLOCATION] = {"node_allocation gone", "node_allocation appeared"},
    [NO_GROUP] = {"group gone", "group appeared"},
    [NO_MEMBER] = {"group_member gone", "group_member appeared"},
    [NO_CLAIM] = {"group_claim gone", "group_claim appeared"},
    [NO_PLAN] = {"plan gone", "plan appeared"},
    [NO_PLACEMENT] = {"placement gone", "placement appeared"},
    [OTHER_PLACEMENT] = {"placement changed", "placement changed"},
};

struct cloud {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    enum variant variant;
    int64_t shift; /* of all ids of upstream's tables */
};

static void apply(struct cloud *cloud, struct change change)
{
    apply_change(cloud->edit, &change);
}

static void add_name(struct cloud *cloud, enum change_kind kind, int64_t id, const char *name)
{
    apply(cloud, (struct change){.kind = kind, .catalog = {id + cloud->shift, slice_of(name)}});
}

static void add_provider(struct cloud *cloud, int64_t id, int64_t parent, const char *name,
                         int64_t generation)
{
    int64_t shift = cloud->shift;
    struct slice uuid = arena_printf(cloud->arena, "provider-%lld", (long long)id);
    apply(cloud, (struct change){.kind = CHANGE_PROVIDER_INSERT,
                                 .provider = {.id = id + shift,
                                              .parent_id = parent == 0 ? 0 : parent + shift,
                                              .root_id = (parent == 0 ? id : 1) + shift,
                                              .generation = generation,
                                              .uuid = uuid,
                                              .name = slice_of(name)}});
}

static void add_inventory(struct cloud *cloud, int64_t provider, int64_t class)
{
    bool is_host = provider == 1;
    apply(cloud, (struct change){
                     .kind = CHANGE_INVENTORY_INSERT,
                     .inventory = {.provider_id = provider + cloud->shift,
                                   .class_id = class + cloud->shift,
                                   .total = is_host && cloud->variant == OTHER_TOTAL ? 9 : 8,
                                   .min_unit = 1,
                                   .max_unit = 8,
                                   .step_size = 1,
                                   .allocation_ratio =
                                       is_host && cloud->variant == OTHER_RATIO ? 1.5 : 16.0}});
}

static void add_link(struct cloud *cloud, enum change_kind kind, int64_t provider, int64_t other)
{
    apply(cloud,
          (struct change){.kind = kind, .link = {provider + cloud->shift, other + cloud->shift}});
}

static void add_providers(struct cloud *cloud)
{
    enum variant variant = cloud->variant;
    int64_t generation = variant == OLDER_HOST ? 4 : variant == NEWER_HOST ? 6 : 5;
    add_provider(cloud, 1, 0, variant == OTHER_NAME ? "other" : "host", generation);
    if (variant != NO_CHILD)
        add_provider(cloud, 2, variant == OTHER_PARENT ? 0 : 1, "child", 0);
    add_provider(cloud, 3, 0, "second", 0);
    apply(cloud, (struct change){.kind = CHANGE_LOAD_PROVIDERS_END});
    if (variant != NO_INVENTORY)
        add_inventory(cloud, 1, 1);
    add_inventory(cloud, 3, 1);
    add_link(cloud, CHANGE_PROVIDER_TRAIT_INSERT, 1, 1);
    add_link(cloud, CHANGE_PROVIDER_TRAIT_INSERT, 1, variant == OTHER_TRAITS ? 3 : 2);
    if (variant != OTHER_AGGREGATES)
        add_link(cloud, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, 1);
}

static void add_allocation(struct cloud *cloud, int64_t id, int64_t provider, int64_t used)
{
    int64_t shift = cloud->shift;
    apply(cloud, (struct change){.kind = CHANGE_ALLOCATION_INSERT,
                                 .allocation = {.id = id + shift,
                                                .consumer_id = 1 + shift,
                                                .provider_id = provider + shift,
                                                .class_id = 1 + shift,
                                                .used = used,
                                                .consumer_uuid = SLICE_LIT("consumer-1")}});
}

static void add_consumer(struct cloud *cloud)
{
    enum variant variant = cloud->variant;
    int64_t shift = cloud->shift;
    if (variant == NO_CONSUMER)
        return;
    apply(cloud,
          (struct change){.kind = CHANGE_CONSUMER_INSERT,
                          .consumer = {.id = 1 + shift,
                                       .project_id = (variant == OTHER_PROJECT ? 2 : 1) + shift,
                                       .user_id = 1 + shift,
                                       .type_id = variant == OTHER_TYPE ? 0 : 1 + shift,
                                       .generation = variant == OLDER_CONSUMER   ? 1
                                                     : variant == NEWER_CONSUMER ? 3
                                                                                 : 2,
                                       .uuid = SLICE_LIT("consumer-1")}});
    add_allocation(cloud, 1, variant == OTHER_PROVIDER ? 2 : 1, variant == OTHER_AMOUNT ? 2 : 3);
    if (variant != ONE_ALLOCATION)
        add_allocation(cloud, 2, 3, 1);
}

static const struct record *make_record(struct cloud *cloud, enum entity entity,
                                        const char *identity)
{
    const struct record_shape *shape = losses_shape(entity);
    struct record_value values[RECORD_FIELDS_MAX];
    record_init(shape, values);
    for (unsigned i = 0; i < shape->stored; i++) {
        const struct record_field *field = &shape->fields[i];
        if (field->kind == RECORD_REFERENCE && (field->flags & RECORD_NEEDED) != 0)
            values[i].number = 1;
        else if (field->kind == RECORD_TEXT && values[i].text.data == NULL &&
                 ((field->flags & RECORD_NULLABLE) == 0 || i == 0))
            values[i].text = slice_of(identity);
    }
    if (entity == ENTITY_NODE && cloud->variant == OTHER_NODE)
        values[NODE_NAME].text = SLICE_LIT("renamed");
    if (entity == ENTITY_VALET + VALET_PLACEMENTS && cloud->variant == OTHER_PLACEMENT)
        values[VALET_PLACEMENT_LOCATION].text = SLICE_LIT("elsewhere");
    return record_pack(shape, 1, values, cloud->arena);
}

static void add_record(struct cloud *cloud, enum variant without, enum entity entity,
                       enum change_kind put, const char *identity)
{
    if (cloud->variant == without)
        return;
    const struct record *record = make_record(cloud, entity, identity);
    apply(cloud, (struct change){.kind = put, .row = {1, record}});
}

static void add_records(struct cloud *cloud)
{
    add_record(cloud, NO_NODE, ENTITY_NODE, CHANGE_NODE_PUT, "node-1");
    add_record(cloud, NO_NODE_ALLOCATION, ENTITY_NODE_ALLOCATION, CHANGE_NODE_ALLOCATION_PUT,
               "node-allocation-1");
    add_record(cloud, NO_GROUP, ENTITY_VALET + VALET_GROUPS, CHANGE_VALET_GROUP_PUT, "group-1");
    add_record(cloud, NO_MEMBER, ENTITY_VALET + VALET_MEMBERS, CHANGE_VALET_MEMBER_PUT, "member");
    add_record(cloud, NO_CLAIM, ENTITY_VALET + VALET_CLAIMS, CHANGE_VALET_CLAIM_PUT, "provider-3");
    add_record(cloud, NO_PLAN, ENTITY_VALET + VALET_PLANS, CHANGE_VALET_PLAN_PUT, "plan-1");
    add_record(cloud, NO_PLACEMENT, ENTITY_VALET + VALET_PLACEMENTS, CHANGE_VALET_PLACEMENT_PUT,
               "placement-1");
}

/* The members of the host's set of traits come in the order of their ids. */
static void add_names(struct cloud *cloud)
{
    bool is_shifted = cloud->shift != 0;
    add_name(cloud, CHANGE_CLASS_INSERT, 1, "VCPU");
    if (cloud->variant != NO_CUSTOM_CLASS)
        add_name(cloud, CHANGE_CLASS_INSERT, 2, "CUSTOM_CLASS");
    add_name(cloud, CHANGE_TRAIT_INSERT, 1, is_shifted ? "CUSTOM_B" : "CUSTOM_A");
    add_name(cloud, CHANGE_TRAIT_INSERT, 2, is_shifted ? "CUSTOM_A" : "CUSTOM_B");
    add_name(cloud, CHANGE_TRAIT_INSERT, 3, "CUSTOM_C");
    if (cloud->variant != NO_CUSTOM_TRAIT)
        add_name(cloud, CHANGE_TRAIT_INSERT, 4, "CUSTOM_D");
    add_name(cloud, CHANGE_AGGREGATE_INSERT, 1, "aggregate-1");
    add_name(cloud, CHANGE_PROJECT_INSERT, 1, "project");
    add_name(cloud, CHANGE_PROJECT_INSERT, 2, "other");
    add_name(cloud, CHANGE_USER_INSERT, 1, "user");
    add_name(cloud, CHANGE_CONSUMER_TYPE_INSERT, 1, "INSTANCE");
}

static void open_cloud(struct cloud *cloud, enum variant variant, int64_t shift)
{
    *cloud = (struct cloud){
        .arena = arena_create(), .replica = replica_create(), .variant = variant, .shift = shift};
    cloud->edit = replica_edit_empty(cloud->replica);
    add_names(cloud);
    add_providers(cloud);
    add_consumer(cloud);
    add_records(cloud);
    apply_flush(cloud->edit);
}

static void close_cloud(struct cloud *cloud)
{
    replica_abandon(cloud->replica, cloud->edit);
    replica_destroy(cloud->replica);
    arena_destroy(cloud->arena);
}

/* ---- which ---- */

static void note(void *cls, const struct loss *loss)
{
    struct buf *found = cls;
    buf_printf(found, "%s%s %s", found->len == 0 ? "" : "; ", losses_kind_name(loss->entity),
               losses_state_name(loss->state));
    if (loss->allocations > 0)
        buf_printf(found, " -%u", loss->allocations);
}

static void expect_losses(const struct cloud *before, const struct cloud *after, const char *losses)
{
    struct buf found = {0};
    losses_find(before->edit->version, after->edit->version, note, &found);
    buf_append_char(&found, '\0');
    assert_string_equal(found.data, losses);
    buf_free(&found);
}

static void each_difference_is_named(void **state)
{
    (void)state;
    for (int variant = 0; variant < VARIANT_COUNT; variant++) {
        struct cloud whole, other, shifted;
        open_cloud(&whole, AS_IT_IS, 0);
        open_cloud(&other, (enum variant)variant, 0);
        open_cloud(&shifted, (enum variant)variant, 700);
        expect_losses(&whole, &other, expected[variant].losses);
        expect_losses(&other, &whole, expected[variant].reverse);
        expect_losses(&other, &other, "");
        if (variant != OTHER_TRAITS) /* the shifted ids are those of other traits */
            expect_losses(&whole, &shifted, expected[variant].losses);
        close_cloud(&whole);
        close_cloud(&other);
        close_cloud(&shifted);
    }
}

/* An id that others have used again is another entity. */
static void ids_are_no_identity(void **state)
{
    (void)state;
    struct cloud whole, other;
    open_cloud(&whole, AS_IT_IS, 0);
    open_cloud(&other, NO_NODE, 0);
    add_record(&other, VARIANT_COUNT, ENTITY_NODE, CHANGE_NODE_PUT, "node-2");
    expect_losses(&whole, &other, "node gone; node appeared");
    close_cloud(&whole);
    close_cloud(&other);
}

/* ---- where ---- */

struct scene {
    char directory[64];
    char path[512];
    int log;
    unsigned beats;
};

static void open_place(struct scene *place)
{
    char path[] = "/tmp/berth-test-losses-log-XXXXXX";
    *place = (struct scene){.directory = "/tmp/berth-test-losses-XXXXXX", .log = mkstemp(path)};
    assert_true(place->log >= 0);
    assert_int_equal(unlink(path), 0);
    assert_non_null(mkdtemp(place->directory));
    log_start(place->log, false);
}

static void close_place(struct scene *place)
{
    log_stop();
    close(place->log);
    if (place->path[0] != '\0')
        assert_int_equal(unlink(place->path), 0);
    assert_int_equal(rmdir(place->directory), 0);
}

static void read_log(const struct scene *place, char text[TEXT_BYTES])
{
    ssize_t len = pread(place->log, text, TEXT_BYTES - 1, 0);
    assert_true(len >= 0);
    text[len] = '\0';
}

/* The one file in the directory. */
static void read_file(struct scene *place, char text[TEXT_BYTES])
{
    DIR *directory = opendir(place->directory);
    struct dirent *entry;
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.') {
            assert_string_equal(place->path, "");
            snprintf(place->path, sizeof(place->path), "%s/%s", place->directory, entry->d_name);
        }
    closedir(directory);
    int fd = open(place->path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t len = read(fd, text, TEXT_BYTES - 1);
    assert_true(len >= 0);
    text[len] = '\0';
    close(fd);
}

static void beat(void *cls)
{
    ((struct scene *)cls)->beats++;
}

static const struct store_going_back event = {
    .had = 12, .has = 7, .database = SLICE_LIT("postgresql://placement@pg/placement")};

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("%s\nis not in\n%s", part, text);
}

#define HOST_BEFORE                                                                                \
    "{\"name\": \"host\", \"parent_provider_uuid\": null, \"generation\": 5, \"inventories\": "    \
    "{\"VCPU\": {\"total\": 8, \"reserved\": 0, \"min_unit\": 1, \"max_unit\": 8, \"step_size\": " \
    "1, \"allocation_ratio\": 16.0}}, \"traits\": [\"CUSTOM_A\", \"CUSTOM_B\"], \"aggregates\": "  \
    "[\"aggregate-1\"]}"
#define CONSUMER_BEFORE                                                                            \
    "{\"kind\": \"consumer\", \"state\": \"gone\", \"uuid\": \"consumer-1\", \"had\": "            \
    "{\"generation\": 2, \"project_id\": \"project\", \"user_id\": \"user\", \"consumer_type\": "  \
    "\"INSTANCE\", \"allocations\": [{\"resource_provider\": \"provider-1\", \"name\": \"host\", " \
    "\"resource_class\": \"VCPU\", \"used\": 3}, {\"resource_provider\": \"provider-3\", "         \
    "\"name\": \"second\", \"resource_class\": \"VCPU\", \"used\": 1}]}, \"has\": null}\n"

static void all_is_in_the_file(void **state)
{
    (void)state;
    struct cloud whole, empty;
    struct scene place;
    char text[TEXT_BYTES];
    open_place(&place);
    struct loss_report report = {
        .options = {.directory = place.directory, .host = SLICE_LIT("controller-1")}};
    open_cloud(&whole, AS_IT_IS, 0);
    empty = (struct cloud){.arena = arena_create(), .replica = replica_create()};
    empty.edit = replica_edit_empty(empty.replica);
    apply_flush(empty.edit);
    loss_report_write(&report, &event, whole.edit->version, empty.edit->version, beat, &place);
    read_file(&place, text);
    expect_text(text, "{\"event\": \"database went back\", \"time\": \"20");
    expect_text(text, "\"host\": \"controller-1\", \"pid\": ");
    expect_text(text, "\"database\": \"postgresql://placement@pg/placement\", \"had_batch\": 12, "
                      "\"has_batch\": 7}\n");
    expect_text(text, "{\"kind\": \"trait\", \"state\": \"gone\", \"name\": \"CUSTOM_D\"}\n");
    expect_text(text, "\"uuid\": \"provider-1\", \"had\": " HOST_BEFORE ", \"has\": null}\n");
    expect_text(text, "{\"name\": \"child\", \"parent_provider_uuid\": \"provider-1\", ");
    expect_text(text, CONSUMER_BEFORE);
    expect_text(text, "{\"kind\": \"node\", \"state\": \"gone\", \"uuid\": \"node-1\", \"name\": "
                      "null}\n");
    expect_text(text, "{\"kind\": \"group_member\", \"state\": \"gone\", \"group_uuid\": "
                      "\"group-1\", \"project_id\": \"member\"}\n");
    expect_text(text, "\"uuid\": \"placement-1\", \"plan_uuid\": \"plan-1\", ");
    expect_text(text, "{\"end\": true, \"losses\": 17}\n");
    assert_int_equal(counter_read(&report.counters.events), 1);
    assert_int_equal(counter_read(&report.counters.allocations), 2);
    assert_int_equal(counter_read(&report.counters.unwritten), 0);
    assert_int_equal(counter_read(&report.counters.lost[ENTITY_PROVIDER]), 3);
    assert_int_equal(counter_read(&report.counters.lost[ENTITY_CONSUMER]), 1);
    read_log(&place, text);
    expect_text(text,
                "gone: consumer consumer-1 of project project: it had generation 2 and held 3 "
                "VCPU of host (provider-1), 1 VCPU of second (provider-3)\n");
    expect_text(text, "no longer has 2 allocations, and these differ: resource_class: 2 gone; "
                      "trait: 4 gone; resource_provider: 3 gone; consumer: 1 gone; node: 1 gone");
    expect_text(text, place.path);
    close_cloud(&whole);
    close_cloud(&empty);
    close_place(&place);
}

static void changes_are_in_the_file(void **state)
{
    (void)state;
    static const struct {
        enum variant from, to;
        const char *line;
    } cases[] = {
        {AS_IT_IS, OLDER_HOST, "\"state\": \"older\", \"uuid\": \"provider-1\", \"had\": "},
        {AS_IT_IS, OTHER_NODE, "\"differing_fields\": [\"name\"]}\n"},
        {AS_IT_IS, OTHER_PLACEMENT, "\"differing_fields\": [\"location\"]}\n"},
        {NO_CONSUMER, AS_IT_IS,
         "\"state\": \"appeared\", \"uuid\": \"consumer-1\", \"had\": null, \"has\": {"},
        {NO_CUSTOM_CLASS, AS_IT_IS, "\"state\": \"appeared\", \"name\": \"CUSTOM_CLASS\"}\n"},
        {NO_PLAN, AS_IT_IS, "\"state\": \"appeared\", \"uuid\": \"plan-1\", "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cloud before, after;
        struct scene place;
        char text[TEXT_BYTES];
        open_place(&place);
        struct loss_report report = {.options = {.directory = place.directory}};
        open_cloud(&before, cases[i].from, 0);
        open_cloud(&after, cases[i].to, 0);
        loss_report_write(&report, &event, before.edit->version, after.edit->version, beat, &place);
        read_file(&place, text);
        expect_text(text, cases[i].line);
        expect_text(text, "{\"end\": true, \"losses\": 1}\n");
        close_cloud(&before);
        close_cloud(&after);
        close_place(&place);
    }
}

static void no_file_is_reported(void **state)
{
    (void)state;
    struct cloud whole, other;
    struct scene place;
    char text[TEXT_BYTES];
    open_place(&place);
    struct loss_report report = {.options = {.directory = "/nonexistent/berth"}};
    open_cloud(&whole, AS_IT_IS, 0);
    open_cloud(&other, NO_CONSUMER, 0);
    loss_report_write(&report, &event, whole.edit->version, other.edit->version, beat, &place);
    read_log(&place, text);
    expect_text(text, "the file /nonexistent/berth/lost-");
    expect_text(text, "cannot be written: No such file or directory\n");
    expect_text(text, "gone: consumer consumer-1 ");
    assert_int_equal(counter_read(&report.counters.unwritten), 1);
    assert_int_equal(counter_read(&report.counters.lost[ENTITY_CONSUMER]), 1);
    close_cloud(&whole);
    close_cloud(&other);
    close_place(&place);
}

/* Many losses: the log has the first ones, the file all, and the writer shows that it is alive. */
static void the_log_is_bounded(void **state)
{
    (void)state;
    struct cloud before, after;
    struct scene place;
    char text[TEXT_BYTES];
    enum { MORE = 700 };
    open_place(&place);
    struct loss_report report = {.options = {.directory = "/nonexistent/berth"}};
    open_cloud(&before, AS_IT_IS, 0);
    open_cloud(&after, AS_IT_IS, 0);
    for (int i = 0; i < MORE; i++)
        add_name(&before, CHANGE_TRAIT_INSERT, 100 + i,
                 arena_printf(before.arena, "CUSTOM_MORE_%d", i).data);
    loss_report_write(&report, &event, before.edit->version, after.edit->version, beat, &place);
    read_log(&place, text);
    expect_text(text, "these differ: trait: 700 gone\n");
    unsigned lines = 0;
    for (const char *at = text; (at = strstr(at, "gone: trait")) != NULL; at++)
        lines++;
    assert_int_equal(lines, 20);
    assert_true(place.beats >= 2);
    close_cloud(&before);
    close_cloud(&after);
    close_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_difference_is_named), cmocka_unit_test(ids_are_no_identity),
        cmocka_unit_test(all_is_in_the_file),       cmocka_unit_test(changes_are_in_the_file),
        cmocka_unit_test(no_file_is_reported),      cmocka_unit_test(the_log_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
