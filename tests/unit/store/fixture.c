/* See fixture.h. */
#include "fixture.h"

#include <ftw.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/node.h"
#include "model/node_allocation.h"

static bool is_postgres(void)
{
    return getenv("BERTH_TEST_POSTGRES") != NULL;
}

bool fixture_is_mariadb(void)
{
    return getenv("BERTH_TEST_MARIADB_ADMIN") != NULL;
}

bool fixture_is_mysql(void)
{
    const char *product = getenv("BERTH_TEST_MARIADB_PRODUCT");
    return product != NULL && strcmp(product, "mysql") == 0;
}

bool fixture_is_server(void)
{
    return is_postgres() || fixture_is_mariadb();
}

bool fixture_is_cluster(void)
{
    return getenv("BERTH_TEST_MARIADB_2_ADMIN") != NULL;
}

bool fixture_has_wide_texts(void)
{
    const char *charset = getenv("BERTH_TEST_CHARSET");
    return !fixture_is_mariadb() || (charset != NULL && strcmp(charset, "utf8mb4") == 0);
}

enum { NAME_BYTES = 32 };

/* Of a database of the test's own. */
static void make_name(char name[static NAME_BYTES])
{
    static unsigned created;
    snprintf(name, NAME_BYTES, "t%d_%u", (int)getpid(), created++);
}

/* For root, over the unix socket of the server of with_mariadb.py. */
#define MARIADB "mariadb -uroot -S \"${BERTH_TEST_MARIADB_ADMIN#*unix_socket=}\""

static void create_on_mariadb(struct fixture *fixture)
{
    const char *socket = strchr(getenv("BERTH_TEST_MARIADB_ADMIN"), '?');
    const char *charset = fixture_has_wide_texts() ? "utf8mb4" : "utf8mb3";
    char name[NAME_BYTES];
    make_name(name);
    snprintf(fixture->url, sizeof(fixture->url), "mysql+pymysql://root:@/%s%s", name, socket);
    fixture_shell(fixture, arena_printf(fixture->arena,
                                        MARIADB " -e 'CREATE DATABASE %s CHARACTER SET %s"
                                                " COLLATE %s_general_ci'%c",
                                        name, charset, charset, '\0')
                               .data);
}

/* On the server of with_postgres.py. */
static void create_on_postgres(struct fixture *fixture)
{
    const char *server = getenv("BERTH_TEST_POSTGRES");
    const char *end = strrchr(server, '/');
    char name[NAME_BYTES];
    make_name(name);
    snprintf(fixture->url, sizeof(fixture->url), "%.*s/%s", (int)(end - server), server, name);
    fixture_shell(fixture,
                  arena_printf(fixture->arena,
                               "psql -qd \"$(echo \"$BERTH_TEST_POSTGRES_ADMIN\" | sed "
                               "s/+psycopg2//)\" -c 'CREATE DATABASE %s OWNER '\"$PGUSER\"%c",
                               name, '\0')
                      .data);
}

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/berth-store-XXXXXX");
    if (mkdtemp(fixture->dir) == NULL)
        return -1;
    snprintf(fixture->path, sizeof(fixture->path), "%s/db", fixture->dir);
    snprintf(fixture->url, sizeof(fixture->url), "sqlite:///%s", fixture->path);
    fixture->busy_timeout_ms = 10000;
    fixture->arena = arena_create();
    fixture->err.arena = fixture->arena;
    if (is_postgres())
        create_on_postgres(fixture);
    if (fixture_is_mariadb())
        create_on_mariadb(fixture);
    *state = fixture;
    return 0;
}

static int remove_entry(const char *path, const struct stat *file, int kind, struct FTW *walk)
{
    (void)file;
    (void)kind;
    (void)walk;
    return remove(path);
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    nftw(fixture->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

const char *fixture_file(const struct fixture *fixture, const char *name)
{
    return arena_printf(fixture->arena, "%s/%s%c", fixture->dir, name, '\0').data;
}

void fixture_shell(const struct fixture *fixture, const char *script)
{
    char command[1024];
    check(snprintf(command, sizeof(command), "cd %s && %s", fixture->dir, script) <
          (int)sizeof(command));
    assert_int_equal(system(command), 0);
}

struct store *fixture_try(struct fixture *fixture, const char *url, bool sync, bool create)
{
    struct store_options options = {.connection = slice_of(url),
                                    .busy_timeout_ms = fixture->busy_timeout_ms,
                                    .sync_schema = sync,
                                    .create_missing_file = create,
                                    .synchronous_off = true,
                                    .completes_consumers = fixture->completes_consumers,
                                    .owner = fixture->owner,
                                    .steps = &fixture->steps};
    fixture->err = (struct err){.arena = fixture->arena};
    return store_open(&options, &fixture->err);
}

/* The name of the test's database on MariaDB. */
static struct slice name_on_mariadb(const struct fixture *fixture)
{
    struct slice name = slice_of(strrchr(fixture->url, '@') + 2);
    return slice_cut(&name, '?');
}

/* Tests give rows the first ids, which the sequences then must not give out. */
static void leave_ids_free_on_mariadb(struct fixture *fixture)
{
    const struct slice name = name_on_mariadb(fixture);
    const struct slice script = arena_printf(
        fixture->arena,
        MARIADB " -N -e \"SELECT CONCAT('ALTER TABLE ', table_name, ' AUTO_INCREMENT=1001;') FROM"
                " information_schema.tables WHERE table_schema='%.*s' AND auto_increment <= 1000\""
                " | " MARIADB " %.*s%c",
        SLICE_ARG(name), SLICE_ARG(name), '\0');
    fixture_shell(fixture, script.data);
}

static void leave_ids_free(struct fixture *fixture)
{
    const char *name = strrchr(fixture->url, '/') + 1;
    const struct slice script = arena_printf(
        fixture->arena,
        "psql -qd %s -c \"SELECT setval(seqrelid::regclass, 1000) FROM pg_sequence"
        " WHERE coalesce(pg_sequence_last_value(seqrelid::regclass), 0) < 1000\" >/dev/null%c",
        name, '\0');
    fixture_shell(fixture, script.data);
}

struct store *fixture_open(struct fixture *fixture)
{
    struct store *store = fixture_try(fixture, fixture->url, true, true);
    if (store == NULL)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_non_null(store);
    if (is_postgres())
        leave_ids_free(fixture);
    if (fixture_is_mariadb())
        leave_ids_free_on_mariadb(fixture);
    return store;
}

/* The node waits until it has what the first one has created. */
struct store *fixture_open_elsewhere(struct fixture *fixture)
{
    if (!fixture_is_cluster())
        return fixture_open(fixture);
    const char *other = getenv("BERTH_TEST_MARIADB_2_ADMIN");
    fixture_shell(fixture, "mariadb -uroot -S \"${BERTH_TEST_MARIADB_2_ADMIN#*unix_socket=}\""
                           " -e 'SET wsrep_sync_wait=15; SELECT 1' >/dev/null");
    const char *url = arena_printf(fixture->arena, "mysql+pymysql://root:@/%.*s%s%c",
                                   SLICE_ARG(name_on_mariadb(fixture)), strchr(other, '?'), '\0')
                          .data;
    struct store *store = fixture_try(fixture, url, true, false);
    if (store == NULL)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_non_null(store);
    return store;
}

static const char *const kind_name[CHANGE_KIND_COUNT] = {
    [CHANGE_CLASS_INSERT] = "class",
    [CHANGE_CLASS_RENAME] = "class_rename",
    [CHANGE_CLASS_DELETE] = "class_delete",
    [CHANGE_TRAIT_INSERT] = "trait",
    [CHANGE_TRAIT_DELETE] = "trait_delete",
    [CHANGE_AGGREGATE_INSERT] = "aggregate",
    [CHANGE_PROJECT_INSERT] = "project",
    [CHANGE_USER_INSERT] = "user",
    [CHANGE_CONSUMER_TYPE_INSERT] = "type",
    [CHANGE_PROVIDER_INSERT] = "provider",
    [CHANGE_PROVIDER_UPDATE] = "provider_update",
    [CHANGE_PROVIDER_GENERATION] = "generation",
    [CHANGE_PROVIDER_DELETE] = "provider_delete",
    [CHANGE_INVENTORY_INSERT] = "inventory",
    [CHANGE_PROVIDER_TRAIT_INSERT] = "has_trait",
    [CHANGE_PROVIDER_AGGREGATE_INSERT] = "in_aggregate",
    [CHANGE_CONSUMER_INSERT] = "consumer",
    [CHANGE_ALLOCATION_INSERT] = "allocation",
    [CHANGE_NODE_PUT] = "node",
    [CHANGE_NODE_DELETE] = "node_delete",
    [CHANGE_NODE_ALLOCATION_PUT] = "node_allocation",
    [CHANGE_NODE_ALLOCATION_DELETE] = "node_allocation_delete",
    [CHANGE_VALET_GROUP_PUT] = "valet_group",
    [CHANGE_VALET_GROUP_DELETE] = "valet_group_delete",
    [CHANGE_VALET_MEMBER_PUT] = "valet_member",
    [CHANGE_VALET_MEMBER_DELETE] = "valet_member_delete",
    [CHANGE_VALET_CLAIM_PUT] = "valet_claim",
    [CHANGE_VALET_CLAIM_DELETE] = "valet_claim_delete",
    [CHANGE_VALET_PLAN_PUT] = "valet_plan",
    [CHANGE_VALET_PLAN_DELETE] = "valet_plan_delete",
    [CHANGE_VALET_PLACEMENT_PUT] = "valet_placement",
    [CHANGE_VALET_PLACEMENT_DELETE] = "valet_placement_delete",
    [CHANGE_LOAD_PROVIDERS_END] = "end",
    [CHANGE_FOLLOW_PROVIDER_RESET] = "provider_reset",
    [CHANGE_FOLLOW_CONSUMER_RESET] = "consumer_reset",
    [CHANGE_MERGE_CATALOG_PUT] = "catalog_put",
    [CHANGE_MERGE_CATALOG_DELETE] = "catalog_delete",
};

/* The id, and each field that differs from a new row's. */
static void dump_row(struct buf *out, const struct record_shape *shape,
                     const struct change_row *row)
{
    struct record_value values[RECORD_FIELDS_MAX];
    struct record_value initial[RECORD_FIELDS_MAX];
    buf_printf(out, "%ld", row->id);
    if (row->record == NULL)
        return;
    assert_int_equal(row->id, row->record->id);
    record_open(shape, row->record, values);
    record_init(shape, initial);
    for (unsigned i = 0; i < shape->stored; i++) {
        bool is_same = values[i].number == initial[i].number &&
                       (values[i].text.data == NULL) == (initial[i].text.data == NULL) &&
                       slice_equal(values[i].text, initial[i].text);
        if (is_same)
            continue;
        buf_printf(out, " %s=", shape->fields[i].name);
        if (values[i].text.data != NULL)
            buf_append_slice(out, values[i].text);
        else
            buf_printf(out, "%ld", values[i].number);
    }
}

static void dump_fields(struct buf *out, const struct change *change)
{
    const struct change_provider *p = &change->provider;
    const struct change_inventory *i = &change->inventory;
    const struct change_consumer *c = &change->consumer;
    const struct change_allocation *a = &change->allocation;
    switch (change->kind) {
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
        buf_printf(out, "%ld %.*s %.*s parent=%ld root=%ld gen=%ld", p->id, SLICE_ARG(p->uuid),
                   SLICE_ARG(p->name), p->parent_id, p->root_id, p->generation);
        return;
    case CHANGE_PROVIDER_DELETE:
    case CHANGE_FOLLOW_PROVIDER_RESET:
        buf_printf(out, "%ld", p->id);
        return;
    case CHANGE_PROVIDER_GENERATION:
        buf_printf(out, "%ld %ld %ld", change->generation.provider_id, change->generation.expected,
                   change->generation.next);
        return;
    case CHANGE_INVENTORY_INSERT:
        buf_printf(out, "%ld %ld %d %d %d %d %d %g", i->provider_id, i->class_id, i->total,
                   i->reserved, i->min_unit, i->max_unit, i->step_size, i->allocation_ratio);
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
        buf_printf(out, "%ld %ld", change->link.provider_id, change->link.other_id);
        return;
    case CHANGE_CONSUMER_INSERT:
        buf_printf(out, "%ld %.*s %ld %ld type=%ld gen=%ld", c->id, SLICE_ARG(c->uuid),
                   c->project_id, c->user_id, c->type_id, c->generation);
        return;
    case CHANGE_FOLLOW_CONSUMER_RESET:
        buf_printf(out, "%ld %.*s", c->id, SLICE_ARG(c->uuid));
        return;
    case CHANGE_ALLOCATION_INSERT:
        buf_printf(out, "%ld %ld %.*s %ld %ld %ld", a->id, a->consumer_id,
                   SLICE_ARG(a->consumer_uuid), a->provider_id, a->class_id, a->used);
        return;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_DELETE:
        dump_row(out, &NODE_SHAPE, &change->row);
        return;
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_NODE_ALLOCATION_DELETE:
        dump_row(out, &NODE_ALLOCATION_SHAPE, &change->row);
        return;
    case CHANGE_VALET_CASES:
        dump_row(out, &VALET_SHAPES[change_valet_table(change->kind)], &change->row);
        return;
    case CHANGE_LOAD_PROVIDERS_END:
        return;
    default:
        buf_printf(out, "%ld %.*s", change->catalog.id, SLICE_ARG(change->catalog.name));
    }
}

void dump_change(void *cls, const struct change *change)
{
    struct buf *out = cls;
    /* The standard names would hide the rest. */
    if ((change->kind == CHANGE_CLASS_INSERT || change->kind == CHANGE_TRAIT_INSERT) &&
        !slice_starts_with(change->catalog.name, SLICE_LIT("CUSTOM_")))
        return;
    assert_non_null(kind_name[change->kind]);
    buf_printf(out, "%s(", kind_name[change->kind]);
    dump_fields(out, change);
    buf_printf(out, ") %ld %ld\n", change->created_at_us, change->updated_at_us);
}

static void ignore_change(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

enum store_lock lock_store(struct store *store, struct err *err)
{
    enum store_lock locked;
    while ((locked = store_lock(store, err)) == STORE_LOCK_HELD)
        ;
    return locked;
}

enum store_news lock_and_read(struct store *store, struct err *err)
{
    if (lock_store(store, err) == STORE_LOCK_FAILED)
        return STORE_NEWS_FAILED;
    enum store_news news = store_begin_read(store, err);
    if (news == STORE_NEWS_FAILED)
        store_unlock(store);
    return news;
}

static struct known_entity find_seeded(void *cls, enum entity entity, int64_t id)
{
    (void)cls;
    return (struct known_entity){.is_known = entity == ENTITY_PROVIDER && id <= 2};
}

static void pass_nobody(void *cls, int64_t provider_id, consumer_take *take, void *take_cls)
{
    (void)cls;
    (void)provider_id;
    (void)take;
    (void)take_cls;
}

static const struct memory_view knows_seeded = {find_seeded, pass_nobody, NULL};

static enum store_news take(struct fixture *fixture, struct store *store, enum store_news news,
                            struct buf *out)
{
    store_sink *sink = out == NULL ? ignore_change : dump_change;
    if (news == STORE_NEWS_RELOAD || news == STORE_NEWS_WENT_BACK)
        assert_int_equal(store_load(store, sink, out, &fixture->err), STORE_OK);
    if (news == STORE_NEWS_FOLLOW)
        assert_int_equal(store_follow(store, &knows_seeded, sink, out, &fixture->err), STORE_OK);
    return news;
}

enum store_news lock_into(struct fixture *fixture, struct store *store, struct buf *out)
{
    fixture->err = (struct err){.arena = fixture->arena};
    return take(fixture, store, lock_and_read(store, &fixture->err), out);
}

enum store_news read_into(struct fixture *fixture, struct store *store, struct buf *out)
{
    fixture->err = (struct err){.arena = fixture->arena};
    return take(fixture, store, store_begin_read(store, &fixture->err), out);
}

bool end_news(struct store *store, struct store_stamp *stamp)
{
    bool holds = store_end_read(store, stamp);
    store_unlock(store);
    return holds;
}

enum store_result commit_list(struct store *store, const struct change_list *list,
                              struct store_stamp *stamp, bool *foreign, struct err *err)
{
    const struct store_batch batch = {.changes = list->items, .ends = &list->count, .requests = 1};
    return decide_batch(store, &batch, stamp, foreign, err);
}

enum store_result decide_batch(struct store *store, const struct store_batch *batch,
                               struct store_stamp *stamp, bool *foreign, struct err *err)
{
    enum store_result result = store_commit(store, batch, stamp, foreign, err);
    while (result == STORE_PENDING)
        result = store_await(store, UINT64_MAX, stamp, foreign, err);
    return result;
}

struct question {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_answered;
    struct store_head head;
};

static void take_answer(void *cls, const struct store_head *head)
{
    struct question *question = cls;
    pthread_mutex_lock(&question->lock);
    question->head = *head;
    question->is_answered = true;
    pthread_cond_signal(&question->wake); /* under the lock: it ends with the test's wait */
    pthread_mutex_unlock(&question->lock);
}

struct store_stamp ask_newest(struct store *store)
{
    struct question question = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                .wake = PTHREAD_COND_INITIALIZER};
    store_query_head(store, take_answer, &question);
    pthread_mutex_lock(&question.lock);
    while (!question.is_answered)
        pthread_cond_wait(&question.wake, &question.lock);
    pthread_mutex_unlock(&question.lock);
    assert_true(question.head.is_known);
    return question.head.stamp;
}

bool is_newest(struct store *store, const struct store_stamp *stamp)
{
    enum store_currency currency = store_currency(store, stamp);
    if (currency != STORE_MUST_ASK)
        return currency == STORE_IS_CURRENT;
    const struct store_stamp newest = ask_newest(store);
    return memcmp(&newest, stamp, sizeof(newest)) == 0;
}

void expect_news(struct fixture *fixture, struct store *store, enum store_news news)
{
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, store, NULL), news);
    assert_true(end_news(store, &stamp));
}

void dump_store(struct fixture *fixture, struct store *store, struct buf *out)
{
    struct store_stamp stamp;
    assert_int_not_equal(lock_into(fixture, store, NULL), STORE_NEWS_FAILED);
    assert_int_equal(store_load(store, dump_change, out, &fixture->err), STORE_OK);
    assert_true(end_news(store, &stamp));
}

enum store_result take_news_and_commit(struct fixture *fixture, struct store *store,
                                       const struct change_list *list, struct store_stamp *stamp,
                                       bool *foreign)
{
    if (lock_into(fixture, store, NULL) == STORE_NEWS_FAILED)
        return STORE_FAILED;
    store_end_read(store, stamp);
    return commit_list(store, list, stamp, foreign, &fixture->err);
}

void expect_unlocked(struct fixture *fixture, struct store *store)
{
    assert_int_equal(lock_store(store, &fixture->err), STORE_LOCKED);
    store_unlock(store);
}

const struct store_refusal *refuse_changes(struct fixture *fixture, struct store *store,
                                           const struct change_list *list)
{
    struct store_stamp stamp;
    bool foreign;
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_true(store_end_read(store, &stamp));
    assert_int_equal(commit_list(store, list, &stamp, &foreign, &fixture->err), STORE_REFUSED);
    assert_int_equal(fixture->err.status, 503);
    assert_int_equal(store_why_refused(store)->request, 0);
    expect_unlocked(fixture, store);
    return store_why_refused(store);
}

struct store_stamp commit_changes(struct fixture *fixture, struct store *store,
                                  const struct change_list *list)
{
    struct store_stamp stamp = {0};
    bool foreign = true;
    enum store_result result = take_news_and_commit(fixture, store, list, &stamp, &foreign);
    if (result != STORE_OK)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_int_equal(result, STORE_OK);
    assert_false(foreign);
    assert_true(is_newest(store, &stamp));
    return stamp;
}

struct change_list changes_of(struct fixture *fixture)
{
    return (struct change_list){.arena = fixture->arena};
}

static const int64_t then_us = 1790000000123456; /* 2026-09-21 14:13:20.123456 */

struct change *add(struct change_list *list, enum change_kind kind)
{
    struct change *change = change_append(list, kind);
    change->created_at_us = then_us;
    return change;
}

void add_catalog(struct change_list *list, enum change_kind kind, int64_t id, const char *name)
{
    struct change *change = add(list, kind);
    change->catalog.id = id;
    change->catalog.name = slice_of(name);
}

void add_rename(struct change_list *list, int64_t id, const char *before, const char *name)
{
    struct change *change = add(list, CHANGE_CLASS_RENAME);
    change->updated_at_us = then_us + 1;
    change->renamed =
        (struct change_renamed){.row = {id, slice_of(name)}, .before = slice_of(before)};
}

void add_provider(struct change_list *list, int64_t id, int64_t parent, int64_t root,
                  const char *uuid, const char *name)
{
    add(list, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
        .id = id,
        .parent_id = parent,
        .root_id = root,
        .generation = 0,
        .uuid = slice_of(uuid),
        .name = slice_of(name),
    };
}

void add_generation(struct change_list *list, int64_t id, int64_t expected, int64_t next)
{
    struct change *change = add(list, CHANGE_PROVIDER_GENERATION);
    change->updated_at_us = then_us + 2;
    change->generation = (struct change_generation){id, expected, next};
}

void add_inventory(struct change_list *list, enum change_kind kind, int64_t provider, int64_t class,
                   int total)
{
    struct change *change = add(list, kind);
    change->updated_at_us = kind == CHANGE_INVENTORY_UPDATE ? then_us + 3 : 0;
    change->inventory = (struct change_inventory){provider, class, total, 1, 2, 3, 4, 1.5};
}

void add_link(struct change_list *list, enum change_kind kind, int64_t provider, int64_t other)
{
    add(list, kind)->link = (struct change_link){provider, other};
}

void add_consumer(struct change_list *list, enum change_kind kind, int64_t id, const char *uuid,
                  int64_t generation)
{
    struct change *change = add(list, kind);
    change->updated_at_us = kind == CHANGE_CONSUMER_UPDATE ? then_us + 4 : 0;
    change->consumer = (struct change_consumer){.id = id,
                                                .project_id = 1,
                                                .user_id = 1,
                                                .type_id = 1,
                                                .generation = generation,
                                                .expected_generation = generation - 1,
                                                .uuid = slice_of(uuid)};
}

void add_allocation(struct change_list *list, int64_t id, int64_t consumer, const char *uuid,
                    int64_t provider, int64_t class, int64_t used)
{
    add(list, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){id, consumer, provider, class, used, slice_of(uuid)};
}

struct store *open_seeded(struct fixture *fixture, struct store_stamp *stamp)
{
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, 1, "project");
    add_catalog(&list, CHANGE_USER_INSERT, 1, "user");
    add_catalog(&list, CHANGE_CONSUMER_TYPE_INSERT, 1, "INSTANCE");
    add_catalog(&list, CHANGE_CLASS_INSERT, 10000, "CUSTOM_GOLD");
    add_provider(&list, 1, 0, 1, UUID_A, "a");
    add_provider(&list, 2, 0, 2, UUID_B, "b");
    add_inventory(&list, CHANGE_INVENTORY_INSERT, 1, 0, 8);
    add_inventory(&list, CHANGE_INVENTORY_INSERT, 2, 0, 8);
    add_consumer(&list, CHANGE_CONSUMER_INSERT, 1, UUID_C, 1);
    add_allocation(&list, 1, 1, UUID_C, 1, 0, 3);
    struct store_stamp committed = commit_changes(fixture, store, &list);
    if (stamp != NULL)
        *stamp = committed;
    return store;
}

void add_allocations_of(struct change_list *list, int64_t consumer, const char *uuid)
{
    add(list, CHANGE_ALLOCATIONS_OF_DELETE)->allocation =
        (struct change_allocation){.consumer_id = consumer, .consumer_uuid = slice_of(uuid)};
}

void foreign_rows(const char *path, const char *sql, struct buf *out)
{
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    sqlite3_busy_timeout(handle, 5000);
    while (sql != NULL && *sql != '\0') {
        sqlite3_stmt *statement;
        int rc = sqlite3_prepare_v2(handle, sql, -1, &statement, &sql);
        while (statement != NULL && rc != SQLITE_DONE &&
               (rc = sqlite3_step(statement)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(statement); i++)
                buf_printf(out, "%s%s", i == 0 ? "" : "|",
                           sqlite3_column_type(statement, i) == SQLITE_NULL
                               ? "NULL"
                               : (const char *)sqlite3_column_text(statement, i));
            buf_append_char(out, '\n');
        }
        if (rc != SQLITE_OK && rc != SQLITE_DONE)
            print_error("%s\n", sqlite3_errmsg(handle));
        assert_true(rc == SQLITE_OK || rc == SQLITE_DONE);
        sqlite3_finalize(statement);
    }
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

long long foreign(const char *path, const char *sql)
{
    struct buf out = {0};
    foreign_rows(path, sql, &out);
    buf_append_char(&out, '\0');
    long long value = atoll(out.data);
    buf_free(&out);
    return value;
}
