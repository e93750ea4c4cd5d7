/* Notifications to the service manager, whose socket the test opens. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "await.h"
#include "daemon/notify.h"
#include "fake_clock.h"
#include "unit.h"

enum { S = 1000 * 1000 };

static int manager = -1;

static int set_up(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "berth-notify-%d",
                       (int)getpid());
    char variable[128];
    snprintf(variable, sizeof(variable), "@%s", address.sun_path + 1);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(manager, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)),
                     0);
    assert_int_equal(setenv("NOTIFY_SOCKET", variable, 1), 0);
    assert_int_equal(setenv("WATCHDOG_USEC", "20000000", 1), 0);
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    return setenv("WATCHDOG_PID", pid, 1);
}

static int tear_down(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return close(manager);
}

/* The next message, or "". */
static const char *notified(void)
{
    static char text[1024];
    ssize_t len = recv(manager, text, sizeof(text) - 1, 0);
    text[len < 0 ? 0 : len] = '\0';
    return text;
}

static void words(void **state)
{
    (void)state;
    notify_ready();
    assert_string_equal(notified(), "READY=1");
    notify_reloading();
    assert_int_equal(strncmp(notified(), "RELOADING=1\nMONOTONIC_USEC=", 27), 0);
    notify_stopping();
    assert_string_equal(notified(), "STOPPING=1");
    notify_status("%d of %s", 3, "them");
    assert_string_equal(notified(), "STATUS=3 of them");
}

static void nobody_listens(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    notify_ready();
    notify_status("nothing");
    assert_string_equal(notified(), "");
}

/* One notification every 10 s, half of the permitted 20. */
static void watchdog(void **state)
{
    (void)state;
    struct watch watch;
    uint64_t steps = 7;
    watch_begin(&watch, 100 * S);
    assert_int_equal(watch.period_us, 10 * S);
    watch_look(&watch, 100 * S, steps++, 0);
    assert_string_equal(notified(), "WATCHDOG=1");
    watch_look(&watch, 109 * S, steps++, 0);
    assert_string_equal(notified(), "");
    watch_look(&watch, 110 * S, steps, 0);
    assert_string_equal(notified(), "WATCHDOG=1");
    /* the writer is stuck */
    watch_look(&watch, 119 * S, steps, 0);
    watch_look(&watch, 120 * S, steps, 0);
    watch_look(&watch, 150 * S, steps, 0);
    assert_string_equal(notified(), "");
    watch_look(&watch, 151 * S, ++steps, 0);
    assert_string_equal(notified(), "WATCHDOG=1");
    /* a worker is stuck */
    watch_look(&watch, 161 * S, ++steps, 10 * S);
    watch_look(&watch, 162 * S, ++steps, 11 * S);
    assert_string_equal(notified(), "");
    watch_look(&watch, 163 * S, ++steps, 9 * S);
    assert_string_equal(notified(), "WATCHDOG=1");
}

static void no_watchdog(void **state)
{
    (void)state;
    struct watch watch;
    unsetenv("WATCHDOG_USEC");
    watch_begin(&watch, 100 * S);
    assert_int_equal(watch.period_us, 0);
    watch_look(&watch, 200 * S, 1, 0);
    assert_string_equal(notified(), "");
    setenv("WATCHDOG_USEC", "20000000", 1);
    setenv("WATCHDOG_PID", "1", 1); /* meant for another process */
    watch_begin(&watch, 100 * S);
    watch_look(&watch, 200 * S, 1, 0);
    assert_string_equal(notified(), "");
}

/* More time is requested only as long as there is progress. */
static void start(void **state)
{
    (void)state;
    _Atomic uint64_t steps = 0;
    struct starting starting;
    fake_clock_stop();
    notify_starting(&starting, &steps);
    AWAIT(fake_clock_is_awaited_in_ms(1000, 1000));
    fake_clock_advance_ms(1000);
    assert_string_equal(notified(), "");
    atomic_store(&steps, 1);
    fake_clock_advance_ms(1000);
    assert_int_equal(strncmp(notified(), "EXTEND_TIMEOUT_USEC=", 20), 0);
    fake_clock_advance_ms(1000);
    assert_string_equal(notified(), "");
    notify_started(&starting);
    notify_starting(&starting, &steps); /* stops at once, without waiting for its next check */
    notify_started(&starting);
    fake_clock_run();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_listens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(watchdog, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_watchdog, set_up, tear_down),
        cmocka_unit_test_setup_teardown(start, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
