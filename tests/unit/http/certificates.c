/* Certificates for tests; on the test's thread. */
#include "certificates.h"

#include <dirent.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

enum { FILE_BYTES = 16384 };

void certificates_begin(char directory[PATH_BYTES])
{
    snprintf(directory, PATH_BYTES, "/tmp/berth-tls-XXXXXX");
    assert_non_null(mkdtemp(directory));
}

void certificates_remove(const char *directory)
{
    DIR *list = opendir(directory);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list))
        unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
    assert_int_equal(rmdir(directory), 0);
}

void file_write(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

char *file_read(const char *path)
{
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char *text = calloc(1, FILE_BYTES);
    assert_true(fread(text, 1, FILE_BYTES - 1, file) > 0);
    fclose(file);
    return text;
}

void file_copy(const char *from, const char *to)
{
    char *text = file_read(from);
    file_write(to, text, strlen(text));
    free(text);
}

static gnutls_datum_t datum_read(const char *path)
{
    char *text = file_read(path);
    return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

static void sign(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const struct issued *authority)
{
    if (authority == NULL) {
        assert_int_equal(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0), 0);
        return;
    }
    gnutls_x509_crt_t issuer;
    gnutls_x509_privkey_t issuer_key;
    gnutls_datum_t text = datum_read(authority->cert);
    gnutls_datum_t key_text = datum_read(authority->key);
    assert_int_equal(gnutls_x509_crt_init(&issuer), 0);
    assert_int_equal(gnutls_x509_privkey_init(&issuer_key), 0);
    assert_int_equal(gnutls_x509_crt_import(issuer, &text, GNUTLS_X509_FMT_PEM), 0);
    assert_int_equal(gnutls_x509_privkey_import(issuer_key, &key_text, GNUTLS_X509_FMT_PEM), 0);
    assert_int_equal(gnutls_x509_crt_sign2(crt, issuer, issuer_key, GNUTLS_DIG_SHA256, 0), 0);
    gnutls_x509_crt_deinit(issuer);
    gnutls_x509_privkey_deinit(issuer_key);
    free(text.data);
    free(key_text.data);
}

static void set_purpose(gnutls_x509_crt_t crt, enum issued_for purpose)
{
    const char *oid =
        purpose == ISSUED_FOR_CLIENT ? GNUTLS_KP_TLS_WWW_CLIENT : GNUTLS_KP_TLS_WWW_SERVER;
    if (purpose == ISSUED_AS_AUTHORITY)
        assert_int_equal(gnutls_x509_crt_set_ca_status(crt, 1), 0);
    else
        assert_int_equal(gnutls_x509_crt_set_key_purpose_oid(crt, oid, 0), 0);
}

static struct issued issue(const char *directory, const char *name, const char *subject,
                           enum issued_for purpose, const struct issued *authority, int from_s,
                           int seconds)
{
    static unsigned char serial = 0;
    struct issued issued;
    gnutls_x509_crt_t crt;
    gnutls_x509_privkey_t key;
    gnutls_datum_t text;
    time_t now = time(NULL);
    assert_in_range(snprintf(issued.cert, sizeof(issued.cert), "%s/%s.pem", directory, name), 1,
                    PATH_BYTES - 1);
    assert_in_range(snprintf(issued.key, sizeof(issued.key), "%s/%s.key", directory, name), 1,
                    PATH_BYTES - 1);
    serial++;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&crt), 0);
    assert_int_equal(gnutls_x509_crt_set_version(crt, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(crt, &serial, 1), 0);
    assert_int_equal(gnutls_x509_crt_set_dn(crt, subject, NULL), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(crt, now + from_s), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(crt, now + from_s + seconds), 0);
    assert_int_equal(gnutls_x509_crt_set_key(crt, key), 0);
    set_purpose(crt, purpose);
    sign(crt, key, authority);
    assert_int_equal(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &text), 0);
    file_write(issued.cert, text.data, text.size);
    gnutls_free(text.data);
    assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text), 0);
    file_write(issued.key, text.data, text.size);
    gnutls_free(text.data);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    return issued;
}

struct issued certificate_issue(const char *directory, const char *name, enum issued_for purpose,
                                const struct issued *authority, int seconds)
{
    char subject[PATH_BYTES + 3];
    snprintf(subject, sizeof(subject), "CN=%s", name);
    return seconds < 0 ? issue(directory, name, subject, purpose, authority, 2 * seconds, -seconds)
                       : issue(directory, name, subject, purpose, authority, 0, seconds);
}

struct issued certificate_issue_named(const char *directory, const char *name, const char *subject,
                                      int from_s, int seconds)
{
    return issue(directory, name, subject, ISSUED_FOR_SERVER, NULL, from_s, seconds);
}
