/* The foreign keys of the fake server: which transactions wait for each other, and what is refused,
 * as by PostgreSQL (13.3.2, "Row-Level Locks": FOR KEY SHARE) and by clusters that certify commits.
 */
#include "fake_postgres/process.h"
#include "fake_postgres/statements.h"
#include "unit.h"

/* ---- in place of the parts that need a simulation ---- */

struct server server;

uint64_t process_now_us(void)
{
    return 0;
}

void fake_server_terminate(struct session *session)
{
    (void)session;
    fail();
}

static void on_commit(void *cls, const struct session *session, const struct state *before,
                      const struct state *after)
{
    (void)cls;
    (void)session;
    (void)before;
    (void)after;
}

/* ---- statements ---- */

enum { PARENT = 1, CHILD = 2, TRAIT = 5, PARAMETERS = 5 };

struct array {
    char bytes[64];
    size_t len;
};

static void put_number(struct array *array, int64_t number, unsigned bytes)
{
    while (bytes-- > 0)
        array->bytes[array->len++] = (char)((uint64_t)number >> 8 * bytes);
}

/* Of one element. */
static struct array array_begin(enum pg_type type, size_t len)
{
    struct array array = {.len = 0};
    const int64_t header[] = {1, 0, (int64_t)type, 1, 1, (int64_t)len};
    for (size_t i = 0; i < sizeof(header) / sizeof(header[0]); i++)
        put_number(&array, header[i], 4);
    return array;
}

static struct array array_int(int64_t number)
{
    struct array array = array_begin(PG_INT8, 8);
    put_number(&array, number, 8);
    return array;
}

static struct array array_text(char letter)
{
    struct array array = array_begin(PG_TEXT, 1);
    put_number(&array, letter, 1);
    return array;
}

static struct session *session(int at, int node)
{
    struct session *session = &server.sessions[at];
    session->node = node;
    if (!session->is_used)
        transaction_begin(session, true, false);
    session->is_used = true;
    server.session_count = at < server.session_count ? server.session_count : at + 1;
    return session;
}

/* Returns the error's SQLSTATE, "done" or "waits". */
static const char *execute(struct session *session, const char *sql, const struct array *arrays,
                           unsigned count)
{
    static char state[16];
    static union {
        struct message message;
        char bytes[sizeof(struct message) + PARAMETERS * sizeof(struct parameter)];
    } room;
    room.message = (struct message){.kind = MESSAGE_EXECUTE, .sql = sql, .count = count};
    for (unsigned i = 0; i < count; i++)
        room.message.parameters[i] = (struct parameter){.bytes = {arrays[i].bytes, arrays[i].len}};
    struct call call = {session, sql, &room.message, NULL};
    enum outcome outcome = statement_execute(&call);
    snprintf(state, sizeof(state), "%s",
             outcome == OUTCOME_DONE      ? "done"
             : outcome == OUTCOME_BLOCKED ? "waits"
                                          : call.result->sqlstate);
    result_free(call.result);
    return state;
}

static const char *insert_child(struct session *session, int64_t id, int64_t parent)
{
    const struct array arrays[] = {array_int(id), array_text((char)('a' + id)),
                                   array_text((char)('A' + id)), array_int(parent),
                                   array_int(parent)};
    return execute(session,
                   "INSERT INTO resource_providers (id, uuid, name, parent_provider_id, "
                   "root_provider_id) SELECT * FROM unnest($1, $2, $3, $4, $5)",
                   arrays, 5);
}

static const char *delete_provider(struct session *session, int64_t id)
{
    const struct array array = array_int(id);
    return execute(session, "DELETE FROM resource_providers WHERE id = ANY ($1::bigint[])", &array,
                   1);
}

static const char *raise_provider(struct session *session, int64_t id)
{
    const struct array arrays[] = {array_int(id), array_int(7)};
    return execute(session,
                   "WITH w AS (UPDATE resource_providers t SET generation = v.generation FROM "
                   "unnest($1, $2) AS v(id, generation) WHERE t.id = v.id RETURNING v.row)",
                   arrays, 2);
}

static const char *insert_trait(struct session *session, int64_t provider, int64_t trait)
{
    const struct array arrays[] = {array_int(provider), array_int(trait)};
    return execute(session,
                   "INSERT INTO resource_provider_traits (resource_provider_id, trait_id) SELECT * "
                   "FROM unnest($1, $2)",
                   arrays, 2);
}

static const char *delete_trait(struct session *session, int64_t id)
{
    const struct array array = array_int(id);
    return execute(session, "DELETE FROM traits WHERE id = ANY ($1::bigint[])", &array, 1);
}

static const char *commit(struct session *session)
{
    return execute(session, "COMMIT", NULL, 0);
}

/* ---- another program ---- */

static struct row_write provider_row(int64_t id, int64_t parent)
{
    static const char names[] = "abcdefgh";
    struct row_write write = {.table = TABLE_PROVIDERS, .row.birth = (uint64_t)id};
    write.row.image.kind = CHANGE_PROVIDER_INSERT;
    write.row.image.provider = (struct change_provider){.id = id,
                                                        .parent_id = parent,
                                                        .root_id = parent == 0 ? id : parent,
                                                        .uuid = {names + id, 1},
                                                        .name = {names + id, 1}};
    return write;
}

static bool other_deletes(int64_t id)
{
    struct row_write write = provider_row(id, 0);
    write.is_delete = true;
    return fake_server_write(&write, 1);
}

static bool other_inserts(int64_t id, int64_t parent)
{
    const struct row_write write = provider_row(id, parent);
    return fake_server_write(&write, 1);
}

/* ---- tests ---- */

/* A provider and a trait. */
static int begin(void **state)
{
    (void)state;
    memset(&server, 0, sizeof(server));
    states_begin(&server.states);
    server.node_count = 2;
    server.hooks.on_commit = on_commit;
    const struct row_write writes[] = {
        provider_row(PARENT, 0),
        {.table = TABLE_TRAITS,
         .row = {.birth = 100,
                 .image = {.kind = CHANGE_TRAIT_INSERT,
                           .catalog = {.id = TRAIT, .name = SLICE_LIT("CUSTOM_X")}}}}};
    server.states.clock = 1000;
    assert_true(fake_server_write(writes, 2));
    server.applied[1] = server.applied[0];
    return 0;
}

static int end(void **state)
{
    (void)state;
    statements_forget();
    states_end(&server.states);
    return 0;
}

static void deletion_waits_for_a_reference(void **state)
{
    (void)state;
    struct session *a = session(0, 0);
    struct session *b = session(1, 0);
    assert_string_equal(insert_child(a, CHILD, PARENT), "done");
    assert_string_equal(delete_provider(b, PARENT), "waits");
    assert_string_equal(commit(a), "done");
    assert_string_equal(delete_provider(b, PARENT), "23503");
}

static void reference_waits_for_a_deletion(void **state)
{
    (void)state;
    struct session *a = session(0, 0);
    struct session *b = session(1, 0);
    assert_string_equal(delete_provider(a, PARENT), "done");
    assert_string_equal(insert_child(b, CHILD, PARENT), "waits");
    assert_string_equal(commit(a), "done");
    assert_string_equal(insert_child(b, CHILD, PARENT), "23503");
}

static void only_deletions_conflict_with_references(void **state)
{
    (void)state;
    struct session *a = session(0, 0);
    struct session *b = session(1, 0);
    struct session *c = session(2, 0);
    assert_string_equal(raise_provider(a, PARENT), "done");
    assert_string_equal(insert_child(b, CHILD, PARENT), "done");
    assert_string_equal(insert_child(c, CHILD + 1, PARENT), "done");
    assert_string_equal(commit(a), "done");
    assert_string_equal(commit(b), "done");
    assert_string_equal(raise_provider(a, CHILD), "done");
    assert_string_equal(commit(c), "done");
}

static void traits_are_referred_to(void **state)
{
    (void)state;
    struct session *a = session(0, 0);
    struct session *b = session(1, 0);
    struct session *c = session(2, 0);
    assert_string_equal(insert_trait(a, PARENT, TRAIT), "done");
    assert_string_equal(delete_trait(b, TRAIT), "waits");
    assert_string_equal(delete_provider(c, PARENT), "waits");
    assert_string_equal(commit(a), "done");
    assert_string_equal(delete_trait(b, TRAIT), "23503");
    assert_string_equal(delete_provider(c, PARENT), "23503");
}

static void another_program_does_not_delete_beside_a_reference(void **state)
{
    (void)state;
    struct session *a = session(0, 0);
    assert_string_equal(insert_child(a, CHILD, PARENT), "done");
    assert_false(other_deletes(PARENT));
    assert_string_equal(commit(a), "done");
}

static void another_program_does_not_refer_beside_a_deletion(void **state)
{
    (void)state;
    struct session *a = session(0, 0);
    assert_string_equal(delete_provider(a, PARENT), "done");
    assert_false(other_inserts(CHILD, PARENT));
    assert_string_equal(commit(a), "done");
}

/* On another node of a cluster nothing waits, and the later commit is refused. */
static void reference_is_certified(void **state)
{
    (void)state;
    struct session *a = session(0, 1);
    assert_string_equal(insert_child(a, CHILD, PARENT), "done");
    assert_true(other_deletes(PARENT));
    assert_string_equal(commit(a), "40P01");
}

static void deletion_is_certified(void **state)
{
    (void)state;
    struct session *a = session(0, 1);
    assert_string_equal(delete_provider(a, PARENT), "done");
    assert_true(other_inserts(CHILD, PARENT));
    assert_string_equal(commit(a), "40P01");
}

/* A transaction of berth, too, leaves its references for those of the other nodes. */
static void references_of_commits_are_certified(void **state)
{
    (void)state;
    struct session *a = session(0, 0);
    struct session *b = session(1, 1);
    assert_string_equal(insert_child(a, CHILD, PARENT), "done");
    assert_string_equal(delete_provider(b, PARENT), "done");
    assert_string_equal(commit(a), "done");
    assert_string_equal(commit(b), "40P01");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deletion_waits_for_a_reference, begin, end),
        cmocka_unit_test_setup_teardown(reference_waits_for_a_deletion, begin, end),
        cmocka_unit_test_setup_teardown(only_deletions_conflict_with_references, begin, end),
        cmocka_unit_test_setup_teardown(traits_are_referred_to, begin, end),
        cmocka_unit_test_setup_teardown(another_program_does_not_delete_beside_a_reference, begin,
                                        end),
        cmocka_unit_test_setup_teardown(another_program_does_not_refer_beside_a_deletion, begin,
                                        end),
        cmocka_unit_test_setup_teardown(reference_is_certified, begin, end),
        cmocka_unit_test_setup_teardown(deletion_is_certified, begin, end),
        cmocka_unit_test_setup_teardown(references_of_commits_are_certified, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
