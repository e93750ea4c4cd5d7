/* Option files, as PyMySQL reads them. tests/databases/mariadb_urls.py compares them with it. */
#include "store/mariadb/session/option_file.h"
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

static struct arena *arena;
static struct mariadb_option_file options;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void read_text(const char *text, const char *group)
{
    struct slice reason = {0};
    if (!mariadb_option_text_read(slice_of(text), group, arena, &options, &reason))
        fail_msg("%s", reason.data);
}

static void expect_refusal(const char *text, const char *message)
{
    struct slice reason = {0};
    assert_false(mariadb_option_text_read(slice_of(text), "client", arena, &options, &reason));
    assert_string_equal(reason.data, message);
}

static void test_groups(void **state)
{
    (void)state;
    const char *text = "# a comment\n[mysqld]\nssl-ca=/server\nport=1\n\n[client]\nssl=1\n"
                       "SSL-CA = /a b.pem \n;port=2\nuser: u\npassword=\"p # q\"\nhost\n"
                       "[tripleo] # more\nssl-cert='/c'\nbind-address=10.0.0.1";
    read_text(text, "client");
    assert_string_equal(options.ssl_ca, "/a b.pem");
    assert_string_equal(options.user, "u");
    assert_string_equal(options.password, "p # q");
    assert_null(options.host);
    assert_null(options.port);
    assert_null(options.ssl_cert);
    read_text(text, "tripleo");
    assert_string_equal(options.ssl_cert, "/c");
    assert_string_equal(options.bind_address, "10.0.0.1");
    assert_null(options.ssl_ca);
    read_text(text, "missing");
    assert_null(options.ssl_ca);
    read_text("", "client");
    assert_null(options.ssl_ca);
}

/* The last line needs no end, and carriage returns are blanks. */
static void test_lines(void **state)
{
    (void)state;
    read_text("[client]\r\n  socket=/s\r\n  database=d\r\n!includedir /etc/my.cnf.d\r\nssl-key=/k",
              "client");
    assert_string_equal(options.socket, "/s");
    assert_string_equal(options.database, "d");
    assert_string_equal(options.ssl_key, "/k");
    read_text("[client]\nssl-capath=/p\nssl-cipher=a\nssl-cipher=b=c\n", "client");
    assert_string_equal(options.ssl_capath, "/p");
    assert_string_equal(options.ssl_cipher, "b=c");
    read_text("[client]\nunknown=1\n   continued\nport=3\n", "client");
    assert_string_equal(options.port, "3");
    read_text("[client]\nport=''\n", "client");
    assert_null(options.port);
}

static void test_defaults(void **state)
{
    (void)state;
    read_text("[client]\nuser=u\n[DEFAULT]\nuser=v\nhost=h\n", "client");
    assert_string_equal(options.user, "u");
    assert_string_equal(options.host, "h");
    /* no group, no defaults */
    read_text("[other]\n[DEFAULT]\nhost=h\n", "client");
    assert_null(options.host);
}

static void test_refused(void **state)
{
    (void)state;
    expect_refusal("ssl-ca=/a\n[client]\n", "line 1 is outside of a group");
    expect_refusal("\n!includedir x\n", "line 2 is outside of a group");
    expect_refusal("[client]\npassword=a\n  secret\n", "line 3 continues a value");
    struct slice reason = {0};
    assert_false(mariadb_option_text_read(SLICE_LIT("[client]\nuser=a\0b\n"), "client", arena,
                                          &options, &reason));
    assert_string_equal(reason.data, "line 2 contains U+0000");
}

static void test_files(void **state)
{
    (void)state;
    struct slice reason = {0};
    char path[] = "/tmp/berth-option-file-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "[client]\nssl-ca=/x", 18), 18);
    assert_true(mariadb_option_file_read(path, "client", arena, &options, &reason));
    assert_string_equal(options.ssl_ca, "/x");
    setenv("HOME", "/tmp", 1);
    const char *short_path = arena_printf(arena, "~%s", path + 4).data;
    assert_true(mariadb_option_file_read(short_path, "client", arena, &options, &reason));
    assert_int_equal(ftruncate(fd, 256 * 1024), 0);
    assert_false(mariadb_option_file_read(path, "client", arena, &options, &reason));
    assert_non_null(strstr(reason.data, "cannot be read: File too large"));
    close(fd);
    unlink(path);
    assert_false(mariadb_option_file_read("/nowhere", "client", arena, &options, &reason));
    assert_string_equal(reason.data,
                        "the option file /nowhere cannot be read: No such file or directory");
    assert_false(mariadb_option_file_read("/", "client", arena, &options, &reason));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_groups),  TEST(test_lines), TEST(test_defaults),
        TEST(test_refused), TEST(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
