/* The line of a request, which log shippers parse (operators.md, Logging). */
#include "api/api.h"
#include "api/services/access_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/fake_request.h"
#include "base/clock.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

static const struct api LOGGED = {.access_log = true};

static int begin(void)
{
    char path[] = "/tmp/berth-test-access-XXXXXX";
    int fd = mkostemp(path, O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    log_start(fd, false);
    return fd;
}

/* The log without time and process; the caller frees it. */
static char *end(int fd)
{
    log_stop();
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    close(fd);
    return text;
}

static void expect_line(const struct api_request *request, const char *expected)
{
    int fd = begin();
    access_log_write(request);
    char *text = end(fd);
    const char *level = strstr(text, " INFO ");
    assert_non_null(level);
    assert_string_equal(level, expected);
    free(text);
}

static void lines(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &LOGGED);
    struct api_request *request = &fake.request;
    request->origin.address = SLICE_LIT("192.0.2.7");
    request->path = SLICE_LIT("/traits");
    expect_line(request, " INFO placement.requestlog [None req-00000000-0000-4000-8000-000000000000"
                         " - - - - - -] 192.0.2.7 \"GET /traits\" status: 200 len: 0"
                         " microversion: 1.39\n");
    request->mount = SLICE_LIT("/placement");
    request->query = SLICE_LIT("name=in:A,%42");
    request->global_id = SLICE_LIT("req-11111111-0000-4000-8000-000000000000");
    request->identity.user_id = SLICE_LIT("u");
    request->identity.project_id = SLICE_LIT("p");
    request->identity.domain_id = SLICE_LIT("d");
    request->identity.system_scope = SLICE_LIT("all");
    request->identity.user_domain_id = SLICE_LIT("ud");
    request->identity.project_domain_id = SLICE_LIT("pd");
    request->status = 404;
    request->minor = 0;
    buf_append_lit(&fake.exchange.http.out, "1234567");
    expect_line(request, " INFO placement.requestlog [req-11111111-0000-4000-8000-000000000000"
                         " req-00000000-0000-4000-8000-000000000000 u p d all ud pd] 192.0.2.7"
                         " \"GET /placement/traits?name=in:A,%42\" status: 404 len: 7"
                         " microversion: 1.0\n");
    request->has_minor = false; /* 401, 406 */
    request->query = SLICE_LIT("");
    request->path = SLICE_LIT("/a\nb"); /* one request, one line */
    expect_line(request, " INFO placement.requestlog [req-11111111-0000-4000-8000-000000000000"
                         " req-00000000-0000-4000-8000-000000000000 u p d all ud pd] 192.0.2.7"
                         " \"GET /placement/a\\x0ab\" status: 404 len: 7 microversion: -\n");
    fake_request_close(&fake);
}

/* Before authentication: with noauth2 the identity that the headers claim, else none. */
static void begun_requests(void **state)
{
    (void)state;
    static char somebody; /* only examined, not queried */
    const struct api keystone = {.access_log = true, .keystone = (struct keystone *)&somebody};
    for (int noauth = 0; noauth < 2; noauth++) {
        struct fake_request fake;
        fake_request_open(&fake, noauth ? &LOGGED : &keystone);
        fake.request.origin.address = SLICE_LIT("192.0.2.7");
        fake.request.path = SLICE_LIT("/traits");
        fake.request.query = SLICE_LIT("name=x");
        fake_request_header(&fake, "X-User-Id", SLICE_LIT("u"));
        fake_request_header(&fake, "X-Tenant-Id", SLICE_LIT("p"));
        fake_request_header(&fake, "OpenStack-System-Scope", SLICE_LIT("all"));
        int fd = begin();
        access_log_begin(&fake.request); /* not at INFO */
        log_set_debug(true);
        access_log_begin(&fake.request);
        char *text = end(fd);
        const char *level = strstr(text, " DEBUG ");
        assert_non_null(level);
        const char *expected = noauth ? " DEBUG placement.requestlog [None "
                                        "req-00000000-0000-4000-8000-000000000000 u p - all - -] "
                                        "Starting request: 192.0.2.7 \"GET /traits?name=x\" "
                                        "access_log_begin src/api/services/access_log.c:"
                                      : " DEBUG placement.requestlog [None "
                                        "req-00000000-0000-4000-8000-000000000000 - - - - - -] "
                                        "Starting request: 192.0.2.7 \"GET /traits?name=x\" "
                                        "access_log_begin src/api/services/access_log.c:";
        assert_memory_equal(level, expected, strlen(expected));
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
        free(text);
        fake_request_close(&fake);
    }
}

static void head_requests(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &LOGGED);
    fake.exchange.http.method = SLICE_LIT("HEAD");
    fake.request.path = SLICE_LIT("/");
    fake.request.status = 405;
    buf_append_lit(&fake.exchange.http.out, "1234567");
    expect_line(&fake.request, " INFO placement.requestlog [None "
                               "req-00000000-0000-4000-8000-000000000000 - - - - - -] "
                               " \"HEAD /\" status: 405 len: 0 microversion: 1.39\n");
    fake_request_close(&fake);
}

static void slow_requests(void **state)
{
    (void)state;
    static const struct api SLOW = {.slow_request_us = 1000000};
    struct fake_request fake;
    fake_request_open(&fake, &SLOW);
    fake.request.path = SLICE_LIT("/traits");
    fake.exchange.http.started_us = clock_monotonic_us();
    int fd = begin();
    access_log_write(&fake.request);
    char *text = end(fd);
    assert_string_equal(text, ""); /* quick, and no access log */
    free(text);
    fake.exchange.http.started_us = clock_monotonic_us() - 1500000;
    fd = begin();
    access_log_write(&fake.request);
    text = end(fd);
    assert_non_null(strstr(text, " WARNING berth.slow [None req-00000000"));
    assert_non_null(strstr(text, "] took 15"));
    assert_non_null(strstr(text, " ms:  \"GET /traits\" status: 200"));
    assert_null(strstr(text, "placement.requestlog"));
    free(text);
    fake_request_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(begun_requests),
        cmocka_unit_test(head_requests),
        cmocka_unit_test(slow_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
