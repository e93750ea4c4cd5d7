/* TLS: what is served and to whom, certificates that change, handshakes that hang. */
#include <gnutls/gnutls.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "base/arena.h"
#include "certificates.h"
#include "fake_clock.h"
#include "harness.h"
#include "http/http_internal.h"
#include "wakeups.h"

#define DEFAULT_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
static const char REQUEST[] = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

static char directory[PATH_BYTES];
static struct issued authority;
static struct issued first;
static struct harness harness;
static struct http_tls *tls;
static struct arena *arena;

/* The files in use: those of a test may change. */
static char cert_file[PATH_BYTES + 16];
static char key_file[PATH_BYTES + 16];

static struct http_tls_files files(const char *ca_file, const char *priorities)
{
    return (struct http_tls_files){cert_file, key_file, ca_file, priorities};
}

static void serve(const char *ca_file, const struct http_limits *limits)
{
    struct err err = {.arena = arena};
    struct http_tls_files given = files(ca_file, DEFAULT_PRIORITIES);
    tls = http_tls_create(&given, &err);
    assert_non_null(tls);
    harness_start_at(&harness, &(struct http_address){.host = "127.0.0.1", .tls = tls}, limits);
}

static void end(void)
{
    harness_stop(&harness);
    http_tls_destroy(tls);
    tls = NULL;
}

struct client {
    int fd;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
};

/* 0, or the handshake's failure. */
static int client_begin(struct client *client, const char *priorities, const struct issued *own)
{
    client->fd = client_connect(&harness);
    assert_int_equal(gnutls_init(&client->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
    assert_int_equal(gnutls_certificate_allocate_credentials(&client->credentials), 0);
    if (own != NULL)
        assert_int_equal(gnutls_certificate_set_x509_key_file(client->credentials, own->cert,
                                                              own->key, GNUTLS_X509_FMT_PEM),
                         0);
    assert_int_equal(gnutls_priority_set_direct(client->session, priorities, NULL), 0);
    assert_int_equal(
        gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->credentials), 0);
    gnutls_transport_set_int(client->session, client->fd);
    int result;
    do
        result = gnutls_handshake(client->session);
    while (result < 0 && gnutls_error_is_fatal(result) == 0);
    return result;
}

/* A connection with the first bytes of a handshake. */
static int begin_half(void)
{
    int fd = client_connect(&harness);
    client_send_bytes(fd, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    return fd;
}

static void client_end(struct client *client)
{
    gnutls_deinit(client->session);
    gnutls_certificate_free_credentials(client->credentials);
    close(client->fd);
}

/* The status of one answer, 0 if there was none; its body is thrown away. */
static int client_ask_once(struct client *client)
{
    char text[4096] = "";
    size_t len = 0;
    if (gnutls_record_send(client->session, REQUEST, sizeof(REQUEST) - 1) < 0)
        return 0;
    while (strstr(text, "GET /x ") == NULL) {
        ssize_t got = gnutls_record_recv(client->session, text + len, sizeof(text) - 1 - len);
        if (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED)
            continue;
        if (got <= 0)
            return 0;
        len += (size_t)got;
    }
    int status = 0;
    assert_int_equal(sscanf(text, "HTTP/1.1 %d ", &status), 1);
    return status;
}

static int ask(const char *priorities, const struct issued *own)
{
    struct client client;
    int status = client_begin(&client, priorities, own) == 0 ? client_ask_once(&client) : 0;
    client_end(&client);
    return status;
}

/* Whose certificate a new connection is shown. */
static void assert_shown(const struct issued *issued)
{
    struct client client;
    assert_int_equal(client_begin(&client, "NORMAL", NULL), 0);
    unsigned count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(client.session, &count);
    assert_true(count > 0);
    gnutls_datum_t text;
    assert_int_equal(gnutls_pem_base64_encode2("CERTIFICATE", &chain[0], &text), 0);
    char *wanted = file_read(issued->cert);
    assert_memory_equal(text.data, wanted, text.size);
    free(wanted);
    gnutls_free(text.data);
    assert_int_equal(client_ask_once(&client), 200);
    client_end(&client);
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    certificates_begin(directory);
    authority = certificate_issue(directory, "authority", ISSUED_AS_AUTHORITY, NULL, 3600);
    first = certificate_issue(directory, "first", ISSUED_FOR_SERVER, &authority, 3600);
    snprintf(cert_file, sizeof(cert_file), "%s/in-use.pem", directory);
    snprintf(key_file, sizeof(key_file), "%s/in-use.key", directory);
    file_copy(first.cert, cert_file);
    file_copy(first.key, key_file);
    return chmod(key_file, 0600);
}

static int tear_down(void **state)
{
    (void)state;
    certificates_remove(directory);
    arena_destroy(arena);
    return 0;
}

static void versions(void **state)
{
    (void)state;
    serve(NULL, &harness_limits);
    assert_int_equal(ask("NORMAL:-VERS-ALL:+VERS-TLS1.3", NULL), 200);
    assert_int_equal(ask("NORMAL:-VERS-ALL:+VERS-TLS1.2", NULL), 200);
    assert_int_equal(ask("NORMAL:-VERS-ALL:+VERS-TLS1.1", NULL), 0);
    assert_int_equal(ask("NORMAL:-VERS-ALL:+VERS-TLS1.0", NULL), 0);
    assert_true(
        slice_starts_with(http_tls_describe(tls, arena), SLICE_LIT("CN=first, valid until 2")));
    assert_int_equal(http_tls_warning(tls, arena).len, 0);
    end();
}

static void many_on_one_connection(void **state)
{
    (void)state;
    serve(NULL, &harness_limits);
    struct client client;
    assert_int_equal(client_begin(&client, "NORMAL", NULL), 0);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(client_ask_once(&client), 200);
    client_end(&client);
    end();
}

/* More than a socket takes at once, to a client that is slow to read. */
static void large_answers(void **state)
{
    (void)state;
    static const char request[] = "GET /larger HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    enum { CHUNK = 65536 };
    char *chunk = malloc(CHUNK);
    size_t len = 0;
    size_t bodies = 0;
    serve(NULL, &harness_limits);
    struct client client;
    assert_int_equal(client_begin(&client, "NORMAL", NULL), 0);
    assert_int_equal(gnutls_record_send(client.session, request, sizeof(request) - 1),
                     sizeof(request) - 1);
    for (ssize_t got = 1; got > 0 || got == GNUTLS_E_AGAIN;) {
        got = gnutls_record_recv(client.session, chunk, CHUNK);
        len += got > 0 ? (size_t)got : 0;
        for (ssize_t i = 0; i < got; i++)
            bodies += chunk[i] == 'x';
        if (len < HTTP_LARGE_BYTES)
            await_pause(); /* a slow reader */
    }
    assert_true(bodies >= 8 * HTTP_LARGE_BYTES && len < bodies + 1024);
    free(chunk);
    client_end(&client);
    end();
}

static void clients_with_certificates(void **state)
{
    (void)state;
    struct issued good = certificate_issue(directory, "good", ISSUED_FOR_CLIENT, &authority, 60);
    struct issued late = certificate_issue(directory, "late", ISSUED_FOR_CLIENT, &authority, -60);
    struct issued other = certificate_issue(directory, "other", ISSUED_FOR_SERVER, &authority, 60);
    struct issued stray = certificate_issue(directory, "stray", ISSUED_FOR_CLIENT, NULL, 60);
    const char *const versions[] = {"NORMAL:-VERS-ALL:+VERS-TLS1.2",
                                    "NORMAL:-VERS-ALL:+VERS-TLS1.3"};
    serve(authority.cert, &harness_limits);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(ask(versions[i], &good), 200);
        assert_int_equal(ask(versions[i], NULL), 0);
        assert_int_equal(ask(versions[i], &late), 0);
        assert_int_equal(ask(versions[i], &other), 0);
        assert_int_equal(ask(versions[i], &stray), 0);
    }
    assert_int_equal(atomic_load(&harness.requests), 2);
    end();
}

static void reload(void **state)
{
    (void)state;
    struct err err = {.arena = arena};
    struct issued second =
        certificate_issue(directory, "second", ISSUED_FOR_SERVER, &authority, 60);
    struct http_tls_files given = files(NULL, DEFAULT_PRIORITIES);
    serve(NULL, &harness_limits);
    struct client open;
    assert_int_equal(client_begin(&open, "NORMAL", NULL), 0);
    assert_shown(&first);
    assert_false(http_tls_have_changed(tls));

    /* a certificate without its key: the old pair stays, which is logged once */
    file_copy(second.cert, cert_file);
    assert_false(http_tls_have_changed(tls)); /* perhaps the key follows */
    assert_true(http_tls_have_changed(tls));
    assert_false(http_tls_load(tls, &given, &err));
    assert_true(slice_starts_with(err.message, SLICE_LIT("[berth] tls_cert_file, tls_key_file: ")));
    assert_shown(&first);
    assert_false(http_tls_have_changed(tls));

    file_copy(second.key, key_file);
    assert_false(http_tls_have_changed(tls));
    assert_true(http_tls_have_changed(tls));
    assert_true(http_tls_load(tls, &given, &err));
    assert_shown(&second);
    assert_int_equal(client_ask_once(&open), 200); /* goes on with what it began with */
    client_end(&open);

    unlink(cert_file);
    err = (struct err){.arena = arena};
    assert_false(http_tls_load(tls, &given, &err));
    assert_shown(&second);
    end();
    file_copy(first.cert, cert_file);
    file_copy(first.key, key_file);
}

static void refused(const struct http_tls_files *given, const char *wanted)
{
    struct err err = {.arena = arena};
    assert_null(http_tls_create(given, &err));
    if (strstr(err.message.data, wanted) == NULL || strchr(err.message.data, '\n') != NULL)
        fail_msg("'%s' is not in '%s'", wanted, err.message.data);
}

static void bad_files(void **state)
{
    (void)state;
    struct http_tls_files given = files(NULL, "NORMAL:+NOTHING");
    refused(&given, "tls_priorities: '+NOTHING' is invalid");
    given = files("/no/such/file", DEFAULT_PRIORITIES);
    refused(&given, "tls_ca_file: cannot use /no/such/file: No such file or directory");
    given = files(key_file, DEFAULT_PRIORITIES);
    refused(&given, "tls_ca_file: cannot use ");
    char bad[PATH_BYTES + 16];
    snprintf(bad, sizeof(bad), "%s/bad.pem", directory);
    static const char BROKEN[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    given = files(bad, DEFAULT_PRIORITIES);
    file_write(bad, BROKEN, strlen(BROKEN));
    refused(&given, "/bad.pem: ASN1 parser: ");
    file_write(bad, "no certificate", 14);
    refused(&given, "/bad.pem: it has no certificate");
    enum { LARGE_BYTES = (1 << 20) + 1 };
    char *large = calloc(1, LARGE_BYTES);
    file_write(bad, large, LARGE_BYTES);
    free(large);
    refused(&given, "/bad.pem: it is too large");
    given = files(NULL, DEFAULT_PRIORITIES);
    given.cert_file = directory;
    refused(&given, "tls_cert_file: cannot use ");
    given = files(NULL, DEFAULT_PRIORITIES);
    given.key_file = authority.key;
    refused(&given, " with ");
    given.key_file = cert_file;
    refused(&given, " with ");
    given = files(NULL, DEFAULT_PRIORITIES);
    assert_int_equal(chmod(key_file, 0602), 0);
    refused(&given, "it is writable by everybody");
    assert_int_equal(chmod(key_file, 0600), 0);
}

static void warnings(void **state)
{
    (void)state;
    struct err err = {.arena = arena};
    struct issued late = certificate_issue(directory, "late", ISSUED_FOR_SERVER, &authority, -60);
    struct http_tls_files given = {late.cert, late.key, NULL, DEFAULT_PRIORITIES};
    struct http_tls *loaded = http_tls_create(&given, &err);
    assert_non_null(loaded);
    struct slice text;
    assert_int_equal(http_tls_check_expiry(loaded, time(NULL), arena, &text), HTTP_TLS_EXPIRED);
    assert_non_null(strstr(text.data, "the certificate in /"));
    assert_non_null(strstr(text.data, "/late.pem expired on 2"));
    http_tls_destroy(loaded);
    assert_int_equal(chmod(first.key, 0644), 0);
    given = (struct http_tls_files){first.cert, first.key, NULL, DEFAULT_PRIORITIES};
    loaded = http_tls_create(&given, &err);
    assert_non_null(strstr(http_tls_warning(loaded, arena).data, "is readable by everybody"));
    http_tls_destroy(loaded);
    assert_int_equal(chmod(first.key, 0600), 0);
    struct issued early = certificate_issue_named(directory, "early", "CN=early", 3600, 3600);
    given = (struct http_tls_files){early.cert, early.key, NULL, DEFAULT_PRIORITIES};
    loaded = http_tls_create(&given, &err);
    assert_non_null(strstr(http_tls_warning(loaded, arena).data, "/early.pem is not valid yet"));
    http_tls_destroy(loaded);
}

/* A subject that is too long to be shown. */
static void long_subject(void **state)
{
    (void)state;
    struct err err = {.arena = arena};
    static const char PART[] = "0123456789012345678901234567890123456789012345678901234567890";
    struct slice subject =
        arena_printf(arena, "CN=%s,OU=%s,OU=%s,O=%s,L=%s", PART, PART, PART, PART, PART);
    struct issued issued = certificate_issue_named(directory, "named", subject.data, 0, 3600);
    struct http_tls_files given = {issued.cert, issued.key, NULL, DEFAULT_PRIORITIES};
    struct http_tls *loaded = http_tls_create(&given, &err);
    assert_non_null(loaded);
    struct slice text = http_tls_describe(loaded, arena);
    assert_true(slice_starts_with(text, SLICE_LIT("a certificate, valid until 2")));
    http_tls_destroy(loaded);
}

static void assert_checked(struct http_tls *loaded, int64_t left_s, enum http_tls_expiry wanted,
                           const char *words)
{
    struct slice text;
    int64_t now_s = http_tls_expires_s(loaded) - left_s;
    assert_int_equal(http_tls_check_expiry(loaded, now_s, arena, &text), wanted);
    assert_int_equal(text.len == 0, words == NULL);
    if (words != NULL && strstr(text.data, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, text.data);
}

/* At chosen times, for a certificate of a hundred days. */
static void expiry(void **state)
{
    (void)state;
    enum { DAY_S = 24 * 60 * 60, VALID_S = 100 * DAY_S };
    struct err err = {.arena = arena};
    time_t before = time(NULL);
    struct issued issued =
        certificate_issue(directory, "long", ISSUED_FOR_SERVER, &authority, VALID_S);
    struct http_tls_files given = {issued.cert, issued.key, NULL, DEFAULT_PRIORITIES};
    struct http_tls *loaded = http_tls_create(&given, &err);
    assert_non_null(loaded);
    assert_in_range(http_tls_expires_s(loaded), before + VALID_S, time(NULL) + VALID_S);
    assert_checked(loaded, VALID_S, HTTP_TLS_GOOD, NULL);
    assert_checked(loaded, 14 * DAY_S + 1, HTTP_TLS_GOOD, NULL);
    assert_checked(loaded, 14 * DAY_S, HTTP_TLS_EXPIRES_SOON, " expires in 14 days, on 2");
    assert_checked(loaded, 2 * DAY_S - 1, HTTP_TLS_EXPIRES_SOON, " expires in 1 day, on 2");
    assert_checked(loaded, DAY_S - 1, HTTP_TLS_EXPIRES_SOON,
                   "/long.pem expires within a day, on 2");
    assert_checked(loaded, 0, HTTP_TLS_EXPIRES_SOON, "the certificate in /");
    assert_checked(loaded, -1, HTTP_TLS_EXPIRED, "/long.pem expired on 2");
    assert_checked(loaded, -VALID_S, HTTP_TLS_EXPIRED, "/long.pem expired on 2");
    http_tls_destroy(loaded);
}

/* An authority in the same file may expire before the certificate that it issued; and files that
 * cannot be used change nothing. */
static void expiry_of_a_chain(void **state)
{
    (void)state;
    enum { AUTHORITY_S = 3600, LEAF_S = 7200 };
    struct err err = {.arena = arena};
    struct issued issued =
        certificate_issue(directory, "outlives", ISSUED_FOR_SERVER, &authority, LEAF_S);
    char chain[PATH_BYTES + 16];
    char *leaf = file_read(issued.cert);
    char *above = file_read(authority.cert);
    struct slice both = arena_printf(arena, "%s%s", leaf, above);
    snprintf(chain, sizeof(chain), "%s/chain.pem", directory);
    file_write(chain, both.data, both.len);
    free(leaf);
    free(above);
    struct http_tls_files given = {chain, issued.key, NULL, DEFAULT_PRIORITIES};
    struct http_tls *loaded = http_tls_create(&given, &err);
    assert_non_null(loaded);
    int64_t expires_s = http_tls_expires_s(loaded);
    assert_in_range(expires_s, 1, time(NULL) + AUTHORITY_S);
    assert_checked(loaded, 60, HTTP_TLS_EXPIRES_SOON, "a certificate of the chain in /");

    given.cert_file = "/no/such/file";
    assert_false(http_tls_load(loaded, &given, &err));
    assert_int_equal(http_tls_expires_s(loaded), expires_s);
    assert_checked(loaded, 60, HTTP_TLS_EXPIRES_SOON, "/chain.pem expires within a day");

    given = (struct http_tls_files){issued.cert, issued.key, NULL, DEFAULT_PRIORITIES};
    assert_true(http_tls_load(loaded, &given, &err));
    assert_in_range(http_tls_expires_s(loaded), expires_s + 1, time(NULL) + LEAF_S);
    assert_checked(loaded, 60, HTTP_TLS_EXPIRES_SOON, "the certificate in /");
    http_tls_destroy(loaded);
}

static bool is_closed_later(int fd)
{
    fake_clock_advance_ms(100);
    return client_closed_within(fd, 1);
}

/* A handshake is bounded by the header deadline; what comes after it is not. */
static void deadlines(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 300;
    serve(NULL, &limits);
    struct client good;
    assert_int_equal(client_begin(&good, "NORMAL", NULL), 0);
    assert_int_equal(client_ask_once(&good), 200);
    fake_clock_stop();
    int silent = client_connect(&harness);
    int half = begin_half();
    int garbage = client_connect(&harness);
    client_send(garbage, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(client_is_closed(garbage));
    harness_wait_connections(&harness, 3);
    fake_clock_advance_ms(290);
    assert_false(client_closed_within(silent, 1) || client_closed_within(half, 1));
    AWAIT(is_closed_later(silent));
    AWAIT(is_closed_later(half));
    fake_clock_advance_ms(600);
    fake_clock_run();
    assert_int_equal(client_ask_once(&good), 200);
    client_end(&good);
    close(silent);
    close(half);
    close(garbage);
    end();
}

/* Where no deadline is wanted, a client that does not go on is one that idles. */
static void without_deadline(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 0;
    limits.idle_timeout_s = 1;
    serve(NULL, &limits);
    fake_clock_stop();
    int silent = client_connect(&harness);
    int half = begin_half();
    harness_wait_connections(&harness, 2);
    fake_clock_advance_ms(990);
    assert_false(client_closed_within(silent, 1) || client_closed_within(half, 1));
    AWAIT(is_closed_later(silent));
    AWAIT(is_closed_later(half));
    fake_clock_run();
    close(silent);
    close(half);
    end();
}

static void idle_ones_are_closed(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.idle_timeout_s = 1;
    serve(NULL, &limits);
    struct client client;
    assert_int_equal(client_begin(&client, "NORMAL", NULL), 0);
    assert_int_equal(client_ask_once(&client), 200);
    uint64_t start_ms = now_ms(); /* the library has a clock of its own */
    assert_true(client_is_closed(client.fd));
    assert_true(now_ms() - start_ms >= 900);
    client_end(&client);
    end();
}

/* The library would keep a processor busy for each: see handshake.c. */
static void waiting_costs_nothing(void **state)
{
    (void)state;
    enum { WAITING = 100 };
    int fds[WAITING];
    serve(NULL, &harness_limits);
    struct client begun; /* a record, of which some is missing */
    assert_int_equal(client_begin(&begun, "NORMAL", NULL), 0);
    client_send_bytes(begun.fd, "\x17\x03\x03\x01", 4);
    for (unsigned i = 0; i < WAITING; i++)
        fds[i] = begin_half();
    AWAIT(http_server_load(harness.server).accepted == 1 + WAITING);
    assert_true(wakeups_become_rare());
    assert_int_equal(ask("NORMAL", NULL), 200);
    client_end(&begun);
    for (unsigned i = 0; i < WAITING; i += 2)
        close(fds[i]); /* the others are open when the server stops */
    end();
    for (unsigned i = 1; i < WAITING; i += 2)
        close(fds[i]);
}

static unsigned count_closed(const int *fds, unsigned count)
{
    unsigned closed = 0;
    for (unsigned i = 0; i < count; i++)
        closed += client_closed_within(fds[i], 1);
    return closed;
}

/* Those who never finish their handshakes keep nobody out. */
static void the_longest_waiting_make_room(void **state)
{
    (void)state;
    enum { WAITING = 20 };
    int fds[WAITING];
    struct http_limits limits = harness_limits;
    limits.connections_max = 8;
    serve(NULL, &limits);
    for (unsigned i = 0; i < WAITING; i++)
        fds[i] = begin_half();
    /* until all are in: the last ones must not push the good one out */
    AWAIT(http_server_load(harness.server).accepted == WAITING);
    harness_wait_connections(&harness, limits.connections_max);
    assert_int_equal(ask("NORMAL", NULL), 200);
    AWAIT(count_closed(fds, WAITING) >= WAITING - limits.connections_max + 1);
    assert_int_equal(count_closed(fds, WAITING), WAITING - limits.connections_max + 1);
    for (unsigned i = 0; i < WAITING; i++)
        close(fds[i]);
    end();
}

/* What a client has sent, and the end of its connection, are then read together. */
static void one_that_is_shut_before_it_is_read_ends(void **state)
{
    (void)state;
    enum { WAITING = 30, DELAY_MS = 100 };
    static const char busy[] = "GET /busy HTTP/1.1\r\nHost: x\r\n\r\n";
    int fds[WAITING];
    struct http_limits limits = harness_limits;
    limits.connections_max = 8;
    limits.idle_timeout_s = 10 * AWAIT_SECONDS;
    limits.header_deadline_ms = limits.idle_timeout_s * 1000;
    serve(NULL, &limits);
    struct client client; /* its worker takes no other connection meanwhile */
    assert_int_equal(client_begin(&client, "NORMAL", NULL), 0);
    assert_int_equal(gnutls_record_send(client.session, busy, sizeof(busy) - 1), sizeof(busy) - 1);
    harness_wait_busy(&harness);
    for (unsigned i = 0; i < WAITING; i++)
        fds[i] = begin_half();
    AWAIT(atomic_load(&harness.server->connections_handed) == 1 + WAITING);
    wakeups_delay_ms(DELAY_MS);
    harness_release(&harness);
    AWAIT(http_server_load(harness.server).accepted == 1 + WAITING);
    harness_wait_connections(&harness, limits.connections_max);
    wakeups_delay_ms(0);
    client_end(&client);
    for (unsigned i = 0; i < WAITING; i++)
        close(fds[i]);
    end();
}

static bool is_given_up_later(struct client *client)
{
    fake_clock_advance_ms(29);
    return gnutls_record_send(client->session, "G", 1) != 1;
}

/* As over plain HTTP: headers that drip, and a client that goes while its answer is awaited. */
static void requests_are_watched(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 300;
    serve(NULL, &limits);
    fake_clock_stop();
    struct client slow;
    assert_int_equal(client_begin(&slow, "NORMAL", NULL), 0);
    for (unsigned ms = 0; ms < 290; ms += 29) {
        assert_int_equal(gnutls_record_send(slow.session, "G", 1), 1);
        fake_clock_advance_ms(29);
    }
    assert_false(client_closed_within(slow.fd, 1));
    AWAIT(is_given_up_later(&slow));
    fake_clock_run();
    client_end(&slow);

    static const char hold[] = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";
    struct client gone;
    assert_int_equal(client_begin(&gone, "NORMAL", NULL), 0);
    assert_int_equal(gnutls_record_send(gone.session, hold, sizeof(hold) - 1), sizeof(hold) - 1);
    harness_wait_held(&harness, 1);
    assert_false(http_client_gone(harness.held[0]));
    assert_true(harness.held[0]->tls);
    gnutls_bye(gone.session, GNUTLS_SHUT_WR);
    client_end(&gone);
    AWAIT(http_client_gone(harness.held[0]));
    harness_resume(&harness);
    end();
}

static void renegotiation_is_refused(void **state)
{
    (void)state;
    serve(NULL, &harness_limits);
    struct client client;
    assert_int_equal(client_begin(&client, "NORMAL:-VERS-ALL:+VERS-TLS1.2", NULL), 0);
    assert_int_equal(client_ask_once(&client), 200);
    int result;
    do
        result = gnutls_handshake(client.session);
    while (result < 0 && gnutls_error_is_fatal(result) == 0);
    assert_int_not_equal(result, 0);
    client_end(&client);
    assert_int_equal(ask("NORMAL", NULL), 200);
    end();
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* a client writes to connections that are closed meanwhile */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(many_on_one_connection),
        cmocka_unit_test(large_answers),
        cmocka_unit_test(clients_with_certificates),
        cmocka_unit_test(reload),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(warnings),
        cmocka_unit_test(long_subject),
        cmocka_unit_test(expiry),
        cmocka_unit_test(expiry_of_a_chain),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(without_deadline),
        cmocka_unit_test(idle_ones_are_closed),
        cmocka_unit_test(waiting_costs_nothing),
        cmocka_unit_test(the_longest_waiting_make_room),
        cmocka_unit_test(one_that_is_shut_before_it_is_read_ends),
        cmocka_unit_test(requests_are_watched),
        cmocka_unit_test(renegotiation_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
