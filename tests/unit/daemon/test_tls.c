/* How often the log reports that a certificate has expired. tests/running/tls.py tests a running
 * berthd, and has the other texts. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../http/certificates.h"
#include "base/clock.h"
#include "daemon/daemon.h"
#include "log/log.h"
#include "log/recent.h"
#include "log/settings.h"
#include "unit.h"

static const uint64_t DAY_US = UINT64_C(24) * 60 * 60 * 1000 * 1000;

static char directory[PATH_BYTES];

/* Errors logged so far; each must be about the certificate. */
static size_t errors_logged(void)
{
    struct log_recent_line lines[LOG_RECENT_LINES];
    size_t count = log_recent_read(lines);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(lines[i].logger, "berth");
        assert_non_null(strstr(lines[i].text, "/late.pem expired on 2"));
    }
    return count;
}

/* A tick of the loop at which the files are due to be checked. */
static void tick(struct daemon *daemon)
{
    daemon->tls_look_us = 0;
    tls_look_after(daemon);
}

static void assert_reminds_in_a_day(const struct daemon *daemon, uint64_t began_us)
{
    assert_in_range(daemon->tls_remind_us, began_us + DAY_US, clock_monotonic_us() + DAY_US);
}

static void once_a_day(void **state)
{
    (void)state;
    struct issued late = certificate_issue(directory, "late", ISSUED_FOR_SERVER, NULL, -60);
    assert_int_equal(chmod(late.key, 0600), 0);
    struct conf conf = {
        .tls_cert_file = late.cert, .tls_key_file = late.key, .tls_priorities = "NORMAL"};
    struct daemon daemon = {.conf = &conf, .err = {.arena = arena_create()}};
    uint64_t began_us = clock_monotonic_us();
    assert_true(tls_open(&daemon));
    assert_int_equal(errors_logged(), 1);
    assert_reminds_in_a_day(&daemon, began_us);
    for (unsigned i = 0; i < 5; i++)
        tick(&daemon);
    assert_int_equal(errors_logged(), 1);

    began_us = clock_monotonic_us();
    daemon.tls_remind_us = began_us; /* the day is over */
    for (unsigned i = 0; i < 5; i++)
        tick(&daemon);
    assert_int_equal(errors_logged(), 2);
    assert_reminds_in_a_day(&daemon, began_us);

    tls_reload(&daemon);
    assert_int_equal(errors_logged(), 3);
    tls_close(&daemon);
    tick(&daemon); /* nothing to check */
    arena_destroy(daemon.err.arena);
}

/* Files that change are read once they are at rest, and not looked at with every tick. */
static void changed_files_are_read(void **state)
{
    (void)state;
    struct issued late = certificate_issue(directory, "late", ISSUED_FOR_SERVER, NULL, -60);
    assert_int_equal(chmod(late.key, 0600), 0);
    struct conf conf = {
        .tls_cert_file = late.cert, .tls_key_file = late.key, .tls_priorities = "NORMAL"};
    struct daemon daemon = {.conf = &conf, .err = {.arena = arena_create()}};
    size_t before = errors_logged();
    assert_true(tls_open(&daemon));
    tick(&daemon);
    assert_int_equal(errors_logged(), before + 1);
    assert_true(daemon.tls_look_us > clock_monotonic_us());

    certificate_issue(directory, "late", ISSUED_FOR_SERVER, NULL, -120);
    assert_int_equal(chmod(late.key, 0600), 0);
    for (unsigned i = 0; i < 3; i++) {
        daemon.tls_look_us = clock_monotonic_us() + DAY_US;
        tls_look_after(&daemon);
    }
    assert_int_equal(errors_logged(), before + 1);
    tick(&daemon); /* it may still be written to */
    assert_int_equal(errors_logged(), before + 1);
    tick(&daemon);
    assert_int_equal(errors_logged(), before + 2);
    tick(&daemon);
    assert_int_equal(errors_logged(), before + 2);
    tls_close(&daemon);
    arena_destroy(daemon.err.arena);
}

/* The log's text since it began to go to this file. */
static char *logged(int fd)
{
    static char text[8192];
    log_start(open("/dev/null", O_WRONLY | O_CLOEXEC), false);
    ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);
    assert_true(bytes >= 0);
    text[bytes] = '\0';
    assert_int_equal(ftruncate(fd, 0), 0);
    log_start(fd, false);
    return text;
}

/* A key that everybody may read is warned of with each load, and files that cannot be used replace
 * nothing. */
static void what_is_logged(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-test-tls-XXXXXX";
    int fd = mkostemp(path, O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    log_start(fd, false);
    struct issued good = certificate_issue(directory, "good", ISSUED_FOR_SERVER, NULL, 100 * 86400);
    assert_int_equal(chmod(good.key, 0600), 0);
    struct conf conf = {
        .tls_cert_file = good.cert, .tls_key_file = good.key, .tls_priorities = "NORMAL"};
    struct daemon daemon = {.conf = &conf, .err = {.arena = arena_create()}};
    assert_true(tls_open(&daemon));
    char *text = logged(fd);
    assert_non_null(strstr(text, " INFO berth [-] TLS certificate: "));
    assert_null(strstr(text, "WARNING"));

    assert_int_equal(chmod(good.key, 0604), 0);
    tls_reload(&daemon);
    text = logged(fd);
    assert_non_null(strstr(text, " INFO berth [-] TLS certificate: "));
    assert_non_null(strstr(text, " WARNING berth [-] the key in "));
    assert_non_null(strstr(text, "/good.key is readable by everybody\n"));

    assert_int_equal(truncate(good.key, 10), 0);
    tls_reload(&daemon);
    text = logged(fd);
    assert_null(strstr(text, "TLS certificate: "));
    assert_non_null(strstr(text, " ERROR berth [-] the old TLS certificate stays in use: "));
    assert_non_null(strstr(text, "good.key"));
    assert_non_null(daemon.tls);
    tls_close(&daemon);
    arena_destroy(daemon.err.arena);
    log_start(open("/dev/null", O_WRONLY | O_CLOEXEC), false);
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    log_start(open("/dev/null", O_WRONLY | O_CLOEXEC), false);
    certificates_begin(directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    certificates_remove(directory);
    log_stop();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_a_day),
        cmocka_unit_test(changed_files_are_read),
        cmocka_unit_test(what_is_logged),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
