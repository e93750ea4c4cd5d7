/* The newest errors: which are kept, in which order, and how they are cut. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log/log.h"
#include "log/recent.h"
#include "log/settings.h"
#include "unit.h"

static void kept(void **state)
{
    (void)state;
    struct log_recent_line lines[LOG_RECENT_LINES];
    log_start(open("/dev/null", O_WRONLY | O_CLOEXEC), false);
    assert_int_equal(log_recent_read(lines), 0);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT, "a warning");
    log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT, "an error\nof two lines");
    log_write(LOG_LEVEL_CRITICAL, "berth.log", LOG_NO_CONTEXT, "worse");
    assert_int_equal(log_recent_read(lines), 2);
    assert_string_equal(lines[0].text, "an error\\x0aof two lines");
    assert_string_equal(lines[0].logger, "berth");
    assert_true(lines[0].wall_us > 0);
    assert_string_equal(lines[1].text, "worse");
    for (int i = 0; i < 3 * LOG_RECENT_LINES; i++)
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT, "number %d", i);
    assert_int_equal(log_recent_read(lines), LOG_RECENT_LINES);
    for (int i = 0; i < LOG_RECENT_LINES; i++) {
        char want[32];
        snprintf(want, sizeof(want), "number %d", 2 * LOG_RECENT_LINES + i);
        assert_string_equal(lines[i].text, want);
    }
}

static void cut(void **state)
{
    (void)state;
    struct log_recent_line lines[LOG_RECENT_LINES];
    char text[2 * LOG_RECENT_TEXT_BYTES + 1];
    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "ü", 2);
    text[sizeof(text) - 1] = '\0';
    log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT, "%s", text);
    size_t count = log_recent_read(lines);
    const char *kept_text = lines[count - 1].text;
    assert_int_equal(strlen(kept_text), (LOG_RECENT_TEXT_BYTES - 1) / 2 * 2);
    assert_memory_equal(kept_text, text, strlen(kept_text));
    log_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept),
        cmocka_unit_test(cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
