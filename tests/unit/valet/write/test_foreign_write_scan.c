/* What a foreign writer, such as the Python service, has written to the file: holds beside their
 * servers and claims that are over are removed with the next write, violations are logged (Valet
 * spec, 9.4). */
#include <stdio.h>
#include <unistd.h>

#include "log/program.h"
#include "unit.h"
#include "valet/write/valet_bench.h"

static struct valet_bench bench;

static int set_up(void **state)
{
    (void)state;
    valet_open(&bench);
    for (const char *name = "h1h2h3"; *name != '\0'; name += 2)
        valet_host(&bench, arena_printf(bench.arena, "%.2s", name).data);
    valet_group(&bench, "g");
    valet_member(&bench, "g", "f");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    valet_close(&bench);
    return 0;
}

static void put(const char *claim)
{
    assert_int_equal(valet_put(&bench, claim), 0);
}

/* The effect of the Python service's statements. */
static void strange_consumer(const char *name, const char *project, const char *host, int vcpus)
{
    const char *uuid = valet_uuid(&bench, name).data;
    const char *provider = valet_uuid(&bench, host).data;
    valet_shell(&bench,
                arena_printf(bench.arena,
                             "INSERT OR IGNORE INTO projects (external_id, created_at) VALUES "
                             "('%s', '2026-01-01 00:00:00');"
                             "INSERT OR IGNORE INTO users (external_id, created_at) VALUES "
                             "('user', '2026-01-01 00:00:00');"
                             "INSERT OR IGNORE INTO consumers (uuid, project_id, user_id, "
                             "generation) SELECT '%s', p.id, u.id, 1 FROM projects p, users u "
                             "WHERE p.external_id = '%s' AND u.external_id = 'user';"
                             "INSERT INTO allocations (resource_provider_id, consumer_id, "
                             "resource_class_id, used) SELECT id, '%s', 0, %d FROM "
                             "resource_providers WHERE uuid = '%s'",
                             project, uuid, project, uuid, vcpus, provider)
                    .data);
}

static void strange_release(const char *name)
{
    const char *uuid = valet_uuid(&bench, name).data;
    valet_shell(&bench, arena_printf(bench.arena,
                                     "DELETE FROM allocations WHERE consumer_id = '%s';"
                                     "DELETE FROM consumers WHERE uuid = '%s'",
                                     uuid, uuid)
                            .data);
}

static void holds_beside_their_servers_go(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    valet_place(&bench, "pl2", "s2", "h1", 4);
    valet_place(&bench, "pl3", "s3", "h2", 4);
    strange_consumer("s1", "p", "h1", 4);
    strange_consumer("s3", "p", "h3", 4); /* its first, elsewhere */
    put("c1 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    assert_int_equal(valet_holds(&bench, "pl2", "h1"), 4);
    assert_int_equal(valet_holds(&bench, "pl3", "h2"), 0);
    valet_assert_location(&bench, "pl3", "h3");
}

static void a_hold_elsewhere_stays(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", NULL, 0);
    put("s1 p h1:VCPU=1");
    valet_place(&bench, "pl1", "s1", "h2", 4);
    strange_consumer("c9", "x", "h3", 1);
    put("c1 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 4);
    strange_release("s1");
    strange_consumer("s1", "p", "h3", 1); /* moved to a third */
    put("c1 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 0);
}

static void a_restart_keeps_them(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", NULL, 0);
    put("s1 p h1:VCPU=1");
    valet_place(&bench, "pl1", "s1", "h2", 4);
    valet_place(&bench, "pl2", "s2", "h1", 2);
    strange_consumer("s2", "p", "h1", 2);
    valet_open_again(&bench);
    put("c1 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 4);
    assert_int_equal(valet_holds(&bench, "pl2", "h1"), 0);
}

static void claims_of_emptied_hosts_end(void **state)
{
    (void)state;
    put("c1 f h1:VCPU=1");
    put("c2 f h2:VCPU=1");
    valet_claim_host(&bench, "g", "h1");
    valet_claim_host(&bench, "g", "h2");
    strange_release("c1");
    put("c3 x h3:VCPU=1");
    assert_false(valet_is_in(&bench, "h1", "g"));
    assert_false(valet_has_claim(&bench, "g", "h1"));
    assert_true(valet_is_in(&bench, "h2", "g"));
    assert_true(valet_has_claim(&bench, "g", "h2"));
}

static void a_claim_without_its_aggregate_ends(void **state)
{
    (void)state;
    put("c1 f h1:VCPU=1");
    valet_claim_host(&bench, "g", "h1");
    valet_shell(&bench, "DELETE FROM resource_provider_aggregates");
    put("c3 x h3:VCPU=1");
    assert_false(valet_has_claim(&bench, "g", "h1"));
    put("c4 x h1:VCPU=1");
}

/* The number of log lines about it. */
static unsigned logged(FILE *log, const char *text)
{
    char line[512];
    unsigned count = 0;
    log_stop();
    rewind(log);
    while (fgets(line, sizeof(line), log) != NULL)
        count += strstr(line, text) != NULL;
    fclose(log);
    log_start(STDERR_FILENO, false);
    log_stop();
    return count;
}

static void breaches_are_logged_once(void **state)
{
    (void)state;
    put("old x h1:VCPU=2");
    valet_aggregates(&bench, "h1", "g");
    FILE *log = tmpfile();
    log_start(fileno(log), false);
    strange_consumer("c9", "x", "h1", 1);
    put("c1 f h1:VCPU=1");
    put("c2 f h1:VCPU=1");
    strange_consumer("c8", "y", "h2", 1); /* nobody's host */
    strange_consumer("c7", "f", "h1", 1); /* a member */
    strange_release("old");
    put("c3 f h1:VCPU=1");
    assert_int_equal(logged(log,
                            "has given project x more of resource provider 'h1', which is held "
                            "by exclusivity group 'g'."),
                     1);
}

static void nothing_is_logged_of_others(void **state)
{
    (void)state;
    put("old x h1:VCPU=2");
    valet_aggregates(&bench, "h1", "g");
    FILE *log = tmpfile();
    log_start(fileno(log), false);
    strange_release("old");
    strange_consumer("move", "x", "h1", 2); /* handed over */
    strange_consumer("c8", "y", "h2", 1);
    strange_consumer("c7", "f", "h1", 1);
    put("c3 f h1:VCPU=1");
    valet_open_again(&bench);
    put("c3 f h1:VCPU=1");
    assert_int_equal(logged(log, "exclusivity group"), 0);
}

static void a_server_that_uses_shared_storage_has_not_moved(void **state)
{
    (void)state;
    valet_host(&bench, "sh");
    valet_traits(&bench, "sh", "MISC_SHARES_VIA_AGGREGATE");
    valet_place(&bench, "pl1", "s1", NULL, 0);
    put("s1 p h1:VCPU=1");
    valet_place(&bench, "pl1", "s1", "h2", 4);
    strange_consumer("s1", "p", "sh", 1);
    put("c1 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 4);
}

/* What a read has found is done with the next write; meanwhile another process has done it, and
 * made the hold again. */
static void remake_hold(const char *host)
{
    struct valet_bench other;
    valet_place(&bench, "pl1", "s1", "h2", 4);
    valet_join(&other, &bench);
    strange_consumer("s1", "p", "h3", 4);
    valet_read(&bench);
    assert_int_equal(valet_put(&other, "c1 x h3:VCPU=1"), 0);
    assert_int_equal(valet_holds(&other, "pl1", "h2"), 0);
    valet_place(&other, "pl1", "s1", host, 4);
    put("c2 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", host), 4);
    valet_part(&other);
}

static void a_hold_that_was_made_anew_elsewhere_stays(void **state)
{
    (void)state;
    remake_hold("h1");
}

static void a_hold_that_was_made_anew_there_stays(void **state)
{
    (void)state;
    remake_hold("h2");
}

/* The other process has done something else: it is still to be done. */
static void what_nobody_else_has_done_is_done(void **state)
{
    (void)state;
    struct valet_bench other;
    valet_place(&bench, "pl1", "s1", "h2", 4);
    strange_consumer("s1", "p", "h3", 4);
    valet_read(&bench);
    valet_join(&other, &bench); /* and does not know that the server came first */
    assert_int_equal(valet_put(&other, "c1 x h1:VCPU=1"), 0);
    assert_int_equal(valet_holds(&other, "pl1", "h2"), 4);
    put("c2 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 0);
    valet_part(&other);
}

/* Two loads; what the first one found was done between them. */
static void a_hold_that_was_made_anew_before_a_second_non_member_stays(void **state)
{
    (void)state;
    struct valet_bench other;
    valet_place(&bench, "pl1", "s1", "h2", 4);
    valet_join(&other, &bench);
    strange_consumer("s1", "p", "h3", 4);
    valet_read(&bench);
    assert_int_equal(valet_put(&other, "c1 x h3:VCPU=1"), 0);
    valet_place(&other, "pl1", "s1", "h1", 4);
    strange_consumer("c9", "x", "h3", 1);
    put("c2 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    valet_part(&other);
}

static void a_breach_of_two_groups_is_logged_once(void **state)
{
    (void)state;
    valet_group(&bench, "k");
    valet_member(&bench, "k", "f");
    valet_aggregates(&bench, "h1", "g k");
    put("c1 f h1:VCPU=1");
    FILE *log = tmpfile();
    log_start(fileno(log), false);
    strange_consumer("c9", "x", "h1", 1);
    put("c1 f h1:VCPU=1");
    assert_int_equal(logged(log, "has given project x more of resource provider 'h1'"), 1);
}

/* Its row and its generation are unchanged. */
static void a_hold_that_a_foreign_write_moved_stays(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h2", 4);
    const char *uuid = valet_uuid(&bench, "pl1").data;
    valet_shell(&bench, arena_printf(bench.arena,
                                     "UPDATE allocations SET resource_provider_id = (SELECT id "
                                     "FROM resource_providers WHERE uuid = '%s') WHERE "
                                     "consumer_id = '%s'",
                                     valet_uuid(&bench, "h1").data, uuid)
                            .data);
    strange_consumer("s1", "p", "h3", 4);
    put("c1 x h3:VCPU=1");
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    valet_assert_location(&bench, "pl1", "h1");
}

static void claims_of_a_group_that_is_gone_end(void **state)
{
    (void)state;
    valet_group(&bench, "k");
    valet_member(&bench, "k", "f");
    valet_rack(&bench, "r1", "one");
    valet_aggregates(&bench, "h1", "one");
    put("c1 f h1:VCPU=1");
    put("c2 f h2:VCPU=1");
    valet_claim_rack(&bench, "g", "r1");
    valet_claim_host(&bench, "k", "h2");
    valet_shell(&bench, "DELETE FROM berth_valet_groups WHERE name = 'g'");
    put("c3 x h1:VCPU=1");
    put("c3 x h3:VCPU=1");
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 1);
    assert_true(valet_has_claim(&bench, "k", "h2"));
    assert_true(valet_is_in(&bench, "h1", "g")); /* an aggregate like any other */
}

/* One host of the rack is deleted, and the other one emptied. */
static void a_claimed_rack_with_a_deleted_host_ends(void **state)
{
    (void)state;
    valet_rack(&bench, "r1", "one");
    valet_aggregates(&bench, "h1", "one");
    valet_aggregates(&bench, "h2", "one");
    put("c1 f h1:VCPU=1");
    valet_claim_rack(&bench, "g", "r1");
    strange_release("c1");
    valet_shell(&bench,
                arena_printf(bench.arena,
                             "DELETE FROM resource_provider_aggregates WHERE "
                             "resource_provider_id = %d;"
                             "DELETE FROM inventories WHERE resource_provider_id = %d;"
                             "DELETE FROM resource_providers WHERE id = %d",
                             (int)valet_find(&bench, "h2")->id, (int)valet_find(&bench, "h2")->id,
                             (int)valet_find(&bench, "h2")->id)
                    .data);
    put("c3 x h3:VCPU=1");
    assert_null(valet_find(&bench, "h2"));
    assert_false(valet_is_in(&bench, "h1", "g"));
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 0);
}

/* Two groups have the rack: the claim of the one that lost a host ends, the other stays. */
static void a_rack_without_one_of_its_aggregates_ends(void **state)
{
    (void)state;
    valet_group(&bench, "k");
    valet_member(&bench, "k", "f");
    valet_rack(&bench, "r1", "one");
    valet_aggregates(&bench, "h1", "one");
    valet_aggregates(&bench, "h2", "one");
    put("c1 f h1:VCPU=1");
    valet_claim_rack(&bench, "g", "r1");
    valet_claim_rack(&bench, "k", "r1");
    valet_shell(&bench,
                arena_printf(bench.arena,
                             "DELETE FROM resource_provider_aggregates WHERE "
                             "resource_provider_id = %d AND aggregate_id = (SELECT id FROM "
                             "placement_aggregates WHERE uuid = '%s')",
                             (int)valet_find(&bench, "h2")->id, valet_uuid(&bench, "k").data)
                    .data);
    put("c3 x h3:VCPU=1");
    assert_false(valet_is_in(&bench, "h1", "k") || valet_is_in(&bench, "h2", "k"));
    assert_true(valet_is_in(&bench, "h1", "g") && valet_is_in(&bench, "h2", "g"));
    assert_false(valet_has_claim(&bench, "k", "r1"));
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 3);
}

/* The row has it as soon as the server has come. */
static void the_last_location_is_known_after_a_foreign_release(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    put("s1 p h2:VCPU=4");
    strange_release("s1");
    valet_read(&bench);
    valet_assert_location(&bench, "pl1", "h2");
    put("c1 x h3:VCPU=1");
    valet_assert_location(&bench, "pl1", "h2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(holds_beside_their_servers_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hold_elsewhere_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_restart_keeps_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims_of_emptied_hosts_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_claim_without_its_aggregate_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(breaches_are_logged_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_logged_of_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_uses_shared_storage_has_not_moved, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_hold_that_was_made_anew_elsewhere_stays, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_hold_that_was_made_anew_there_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_nobody_else_has_done_is_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hold_that_was_made_anew_before_a_second_non_member_stays,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_breach_of_two_groups_is_logged_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hold_that_a_foreign_write_moved_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims_of_a_group_that_is_gone_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_claimed_rack_with_a_deleted_host_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rack_without_one_of_its_aggregates_ends, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_last_location_is_known_after_a_foreign_release, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
