/* A reload without listeners and database: which configuration is in force, and what the API gets
 * of it. tests/conf/reload.py tests a running berthd. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/services/slow_lane.h"
#include "conf/load.h"
#include "daemon/daemon.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

static char path[] = "/tmp/berth-reload-XXXXXX";
static struct conf_inputs inputs = {.sources = {{path, false}}, .sources_n = 1};
static struct daemon daemon_;

static void put(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = sqlite://\n%s",
            text);
    fclose(out);
}

static void takes_and_keeps(void **state)
{
    (void)state;
    put("[berth]\naccess_log = no\nmax_connections = 7\n");
    daemon_.conf = conf_load(&inputs, &daemon_.err);
    assert_non_null(daemon_.conf);
    assert_true(policies_open(&daemon_));
    assert_true(api_settings_fill(&daemon_));
    assert_ptr_equal(conf_in_force(&daemon_), daemon_.conf);
    assert_false(daemon_.api.access_log);

    put("[berth]\nmax_connections = 8\n[placement]\nmax_allocation_candidates = 3\n"
        "randomize_allocation_candidates = true\n[DEFAULT]\ndebug = true\n");
    daemon_reload(&daemon_);
    const struct conf *first = conf_in_force(&daemon_);
    assert_ptr_not_equal(first, daemon_.conf);
    assert_true(daemon_.api.access_log);
    assert_true(daemon_.placement.randomize_candidates);
    assert_int_equal(daemon_.placement.max_candidates, 3);
    assert_int_equal(daemon_.conf->max_connections, 7);
    assert_true(log_is_enabled(LOG_LEVEL_DEBUG, "x"));

    put("[berth]\naccess_log = perhaps\n");
    daemon_reload(&daemon_);
    assert_ptr_equal(conf_in_force(&daemon_), first);
    assert_int_equal(daemon_.placement.max_candidates, 3);

    assert_int_equal(unlink(path), 0);
    daemon_reload(&daemon_);
    assert_ptr_equal(conf_in_force(&daemon_), first);

    put("");
    daemon_reload(&daemon_);
    assert_int_equal(daemon_.placement.max_candidates, -1);
    assert_false(log_is_enabled(LOG_LEVEL_DEBUG, "x"));
    assert_false(err_is_set(&daemon_.err));
}

/* Adding or removing the only file would make it another service, which a reload cannot do. */
static void embedded_or_not(void **state)
{
    (void)state;
    const struct conf *before = conf_in_force(&daemon_);
    daemon_.conf->embedded = true;
    daemon_reload(&daemon_);
    assert_ptr_equal(conf_in_force(&daemon_), before);
    daemon_.conf->embedded = false;
}

/* Both messages, also if the configuration is refused: the service manager waits for the second. */
static void the_service_manager_is_notified(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "[berth]\naccess_log = perhaps\n"};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char message[256];
    snprintf(address.sun_path, sizeof(address.sun_path), "%s-notify", path);
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(manager, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
    for (size_t i = 0; i < 2; i++) {
        put(texts[i]);
        daemon_reload(&daemon_);
        ssize_t len = recv(manager, message, sizeof(message) - 1, 0);
        assert_in_range(len, 1, sizeof(message) - 1);
        assert_int_equal(strncmp(message, "RELOADING=1\n", 12), 0);
        len = recv(manager, message, sizeof(message) - 1, 0);
        assert_in_range(len, 1, sizeof(message) - 1);
        message[len] = '\0';
        assert_string_equal(message, "READY=1");
        assert_int_equal(recv(manager, message, sizeof(message), 0), -1);
    }
    unsetenv("NOTIFY_SOCKET");
    close(manager);
    unlink(address.sun_path);
}

static int setup(void **state)
{
    (void)state;
    daemon_ = (struct daemon){.arena = arena_create(), .inputs = &inputs};
    daemon_.err.arena = daemon_.arena;
    return mkstemp(path) < 0;
}

static int teardown(void **state)
{
    (void)state;
    slow_lane_stop(daemon_.api.slow_lane);
    policies_close(&daemon_);
    conf_destroy(daemon_.reloaded);
    conf_destroy(daemon_.conf);
    arena_destroy(daemon_.arena);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_and_keeps),
        cmocka_unit_test(embedded_or_not),
        cmocka_unit_test(the_service_manager_is_notified),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
