/* Certificates. A set of them (chain, key, authorities, priorities) never changes once it is
 * loaded. A reload makes a new set, and the old one exists as long as a connection that began with
 * it. The library does not know of sets: it initialises a session without certificates, and every
 * connection gets its set before its handshake.
 *
 * One thread loads, describes and checks for changes; any thread may take a set and give it
 * back. */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum { FILE_MOST_BYTES = 1 << 20, NAME_MOST_BYTES = 256, TLS_FILES = 3, DATE_BYTES = 16 };
enum { DAY_S = 24 * 60 * 60 };

struct tls_credentials {
    struct http_tls *tls;
    unsigned users; /* under tls->lock: the number of connections, plus one while it is current */
    gnutls_certificate_credentials_t certificates;
    gnutls_priority_t priorities;
    bool wants_client;
    char *cert_file; /* the source of the set: a reload that fails may name another file */
    char name[NAME_MOST_BYTES];
    time_t valid_from;
    time_t valid_until; /* of the server's own certificate */
    time_t expires;     /* the earliest in the chain, including that certificate */
    mode_t key_mode;
};

/* Identifies a file's content without reading it; all zero: no file. */
struct mark {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    struct timespec changed;
};

struct http_tls {
    pthread_mutex_t lock;
    struct tls_credentials *current;
    char *paths[TLS_FILES]; /* certificate, key, authorities or NULL */
    struct mark loaded[TLS_FILES];
    struct mark looked[TLS_FILES];
};

static const char *const options[TLS_FILES] = {"tls_cert_file", "tls_key_file", "tls_ca_file"};

static bool tls_refuse(struct err *err, const char *option, const char *path, const char *why)
{
    return err_set(err, 500, NULL, "[berth] %s: cannot use %s: %s", option, path, why);
}

static bool file_read(const char *option, const char *path, struct buf *out, struct stat *status,
                      struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 || fstat(fd, status) != 0 ? -1 : 1;
    while (got > 0 && out->len <= FILE_MOST_BYTES) {
        got = read(fd, buf_reserve(out, 4096), 4096);
        if (got > 0)
            out->len += (size_t)got;
    }
    int failure = errno;
    if (fd >= 0)
        close(fd);
    if (got < 0)
        return tls_refuse(err, option, path, strerror(failure));
    if (out->len > FILE_MOST_BYTES)
        return tls_refuse(err, option, path, "it is too large");
    return true;
}

static gnutls_datum_t datum_of(const struct buf *buf)
{
    return (gnutls_datum_t){(unsigned char *)buf->data, (unsigned)buf->len};
}

static bool load_pair(struct tls_credentials *credentials, const struct http_tls_files *files,
                      struct err *err)
{
    struct buf chain = {0};
    struct buf key = {0};
    struct stat status;
    bool ok = file_read(options[0], files->cert_file, &chain, &status, err) &&
              file_read(options[1], files->key_file, &key, &status, err);
    if (ok && (status.st_mode & S_IWOTH) != 0)
        ok = tls_refuse(err, options[1], files->key_file, "it is writable by everybody");
    if (ok) {
        gnutls_datum_t pair[] = {datum_of(&chain), datum_of(&key)};
        int failure = gnutls_certificate_set_x509_key_mem2(credentials->certificates, &pair[0],
                                                           &pair[1], GNUTLS_X509_FMT_PEM, NULL, 0);
        if (failure < 0)
            ok = err_set(err, 500, NULL,
                         "[berth] tls_cert_file, tls_key_file: cannot use %s with %s: %s",
                         files->cert_file, files->key_file, gnutls_strerror(failure));
        credentials->key_mode = status.st_mode;
    }
    if (key.len > 0)
        explicit_bzero(key.data, key.len);
    buf_free(&chain);
    buf_free(&key);
    return ok;
}

static bool load_authorities(struct tls_credentials *credentials, const char *path, struct err *err)
{
    struct buf text = {0};
    struct stat status;
    bool ok = file_read(options[2], path, &text, &status, err);
    if (ok) {
        gnutls_datum_t authorities = datum_of(&text);
        int found = gnutls_certificate_set_x509_trust_mem(credentials->certificates, &authorities,
                                                          GNUTLS_X509_FMT_PEM);
        if (found <= 0)
            ok = tls_refuse(err, options[2], path,
                            found == 0 ? "it has no certificate" : gnutls_strerror(found));
    }
    credentials->wants_client = true;
    buf_free(&text);
    return ok;
}

static bool load_priorities(struct tls_credentials *credentials, const char *text, struct err *err)
{
    const char *at = NULL;
    int failure = gnutls_priority_init(&credentials->priorities, text, &at);
    if (failure == GNUTLS_E_SUCCESS)
        return true;
    credentials->priorities = NULL;
    return err_set(err, 500, NULL, "[berth] tls_priorities: '%s' is invalid: %s",
                   at == NULL ? text : at, gnutls_strerror(failure));
}

static void read_chain(struct tls_credentials *credentials)
{
    gnutls_x509_crt_t *chain = NULL;
    unsigned count = 0;
    if (gnutls_certificate_get_x509_crt(credentials->certificates, 0, &chain, &count) != 0)
        return;
    size_t room = sizeof(credentials->name);
    if (count > 0) {
        if (gnutls_x509_crt_get_dn(chain[0], credentials->name, &room) != 0)
            snprintf(credentials->name, sizeof(credentials->name), "a certificate");
        credentials->valid_from = gnutls_x509_crt_get_activation_time(chain[0]);
        credentials->valid_until = gnutls_x509_crt_get_expiration_time(chain[0]);
        credentials->expires = credentials->valid_until;
    }
    for (unsigned i = 0; i < count; i++) {
        time_t end = gnutls_x509_crt_get_expiration_time(chain[i]);
        if (end < credentials->expires)
            credentials->expires = end;
        gnutls_x509_crt_deinit(chain[i]);
    }
    gnutls_free(chain);
}

static void credentials_destroy(struct tls_credentials *credentials)
{
    gnutls_certificate_free_credentials(credentials->certificates);
    if (credentials->priorities != NULL)
        gnutls_priority_deinit(credentials->priorities);
    free(credentials->cert_file);
    free(credentials);
}

static struct tls_credentials *credentials_load(struct http_tls *tls,
                                                const struct http_tls_files *files, struct err *err)
{
    struct tls_credentials *credentials = calloc(1, sizeof(*credentials));
    check(credentials != NULL);
    credentials->cert_file = strdup(files->cert_file);
    check(credentials->cert_file != NULL);
    credentials->tls = tls;
    credentials->users = 1;
    check(gnutls_certificate_allocate_credentials(&credentials->certificates) == 0);
    if (load_pair(credentials, files, err) &&
        (files->ca_file == NULL || load_authorities(credentials, files->ca_file, err)) &&
        load_priorities(credentials, files->priorities, err)) {
        read_chain(credentials);
        return credentials;
    }
    credentials_destroy(credentials);
    return NULL;
}

static void marks_read(char *const *paths, struct mark *marks)
{
    for (unsigned i = 0; i < TLS_FILES; i++) {
        struct stat status;
        memset(&marks[i], 0, sizeof(marks[i]));
        if (paths[i] == NULL || stat(paths[i], &status) != 0)
            continue;
        marks[i].device = status.st_dev;
        marks[i].inode = status.st_ino;
        marks[i].size = status.st_size;
        marks[i].modified = status.st_mtim;
        marks[i].changed = status.st_ctim;
    }
}

static void paths_keep(struct http_tls *tls, const struct http_tls_files *files)
{
    const char *const given[TLS_FILES] = {files->cert_file, files->key_file, files->ca_file};
    for (unsigned i = 0; i < TLS_FILES; i++) {
        char *kept = given[i] == NULL ? NULL : strdup(given[i]);
        check(given[i] == NULL || kept != NULL);
        free(tls->paths[i]);
        tls->paths[i] = kept;
    }
}

bool http_tls_load(struct http_tls *tls, const struct http_tls_files *files, struct err *err)
{
    paths_keep(tls, files);
    marks_read(tls->paths, tls->loaded); /* before loading, so that a change during it is
                                          * detected */
    memcpy(tls->looked, tls->loaded, sizeof(tls->looked));
    struct tls_credentials *fresh = credentials_load(tls, files, err);
    if (fresh == NULL)
        return false;
    pthread_mutex_lock(&tls->lock);
    struct tls_credentials *old = tls->current;
    tls->current = fresh;
    pthread_mutex_unlock(&tls->lock);
    if (old != NULL)
        tls_give_back(old);
    return true;
}

struct http_tls *http_tls_create(const struct http_tls_files *files, struct err *err)
{
    struct http_tls *tls = calloc(1, sizeof(*tls));
    check(tls != NULL);
    pthread_mutex_init(&tls->lock, NULL);
    if (http_tls_load(tls, files, err))
        return tls;
    http_tls_destroy(tls);
    return NULL;
}

void http_tls_destroy(struct http_tls *tls)
{
    if (tls == NULL)
        return;
    if (tls->current != NULL) {
        check(tls->current->users == 1);
        tls_give_back(tls->current);
    }
    for (unsigned i = 0; i < TLS_FILES; i++)
        free(tls->paths[i]);
    pthread_mutex_destroy(&tls->lock);
    free(tls);
}

bool http_tls_have_changed(struct http_tls *tls)
{
    struct mark now[TLS_FILES];
    marks_read(tls->paths, now);
    bool at_rest = memcmp(now, tls->looked, sizeof(now)) == 0;
    memcpy(tls->looked, now, sizeof(now));
    return at_rest && memcmp(now, tls->loaded, sizeof(now)) != 0;
}

static void date_write(time_t when, char out[DATE_BYTES])
{
    struct tm utc = {0};
    gmtime_r(&when, &utc);
    /* a certificate's years have four digits */
    check(strftime(out, DATE_BYTES, "%Y-%m-%d", &utc) > 0);
}

struct slice http_tls_describe(const struct http_tls *tls, struct arena *arena)
{
    const struct tls_credentials *credentials = tls->current;
    char date[DATE_BYTES];
    date_write(credentials->valid_until, date);
    return arena_printf(arena, "%s, valid until %s%s", credentials->name, date,
                        credentials->wants_client ? ", for clients with a certificate" : "");
}

struct slice http_tls_warning(const struct http_tls *tls, struct arena *arena)
{
    const struct tls_credentials *credentials = tls->current;
    time_t now = (time_t)(clock_wall_us() / 1000000);
    if (now < credentials->valid_from)
        return arena_printf(arena, "the certificate in %s is not valid yet", tls->paths[0]);
    if ((credentials->key_mode & S_IROTH) != 0)
        return arena_printf(arena, "the key in %s is readable by everybody", tls->paths[1]);
    return SLICE_LIT("");
}

int64_t http_tls_expires_s(struct http_tls *tls)
{
    pthread_mutex_lock(&tls->lock);
    int64_t expires = tls->current->expires;
    pthread_mutex_unlock(&tls->lock);
    return expires;
}

enum http_tls_expiry http_tls_check_expiry(const struct http_tls *tls, int64_t now_s,
                                           struct arena *arena, struct slice *text)
{
    const struct tls_credentials *credentials = tls->current;
    const char *path = credentials->cert_file;
    const char *which = credentials->expires == credentials->valid_until
                            ? "the certificate"
                            : "a certificate of the chain";
    int64_t left_s = credentials->expires - now_s;
    char date[DATE_BYTES];
    date_write(credentials->expires, date);
    *text = SLICE_LIT("");
    if (left_s > HTTP_TLS_WARNING_DAYS * DAY_S)
        return HTTP_TLS_GOOD;
    if (left_s < 0) {
        *text = arena_printf(arena, "%s in %s expired on %s", which, path, date);
        return HTTP_TLS_EXPIRED;
    }
    long days = (long)(left_s / DAY_S);
    if (days == 0)
        *text = arena_printf(arena, "%s in %s expires within a day, on %s", which, path, date);
    else
        *text = arena_printf(arena, "%s in %s expires in %ld day%s, on %s", which, path, days,
                             days == 1 ? "" : "s", date);
    return HTTP_TLS_EXPIRES_SOON;
}

struct tls_credentials *tls_take(struct http_tls *tls)
{
    pthread_mutex_lock(&tls->lock);
    struct tls_credentials *credentials = tls->current;
    credentials->users++;
    pthread_mutex_unlock(&tls->lock);
    return credentials;
}

void tls_give_back(struct tls_credentials *credentials)
{
    struct http_tls *tls = credentials->tls;
    pthread_mutex_lock(&tls->lock);
    bool last = --credentials->users == 0;
    pthread_mutex_unlock(&tls->lock);
    if (last)
        credentials_destroy(credentials);
}

void tls_prepare(const struct tls_credentials *credentials, gnutls_session_t session)
{
    static gnutls_typed_vdata_st purpose = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID,
        .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
    };
    check(gnutls_priority_set(session, credentials->priorities) == 0);
    check(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials->certificates) == 0);
    if (credentials->wants_client) {
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
        gnutls_session_set_verify_cert2(session, &purpose, 1, 0);
    } else {
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_IGNORE);
    }
}
