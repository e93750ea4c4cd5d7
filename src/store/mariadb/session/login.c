/* What SQLAlchemy and PyMySQL make of the parameters, as far as that is safe.
 *
 * TLS, observed: SQLAlchemy collects ssl_ca, ssl_capath, ssl_cert, ssl_key, ssl_cipher and
 * ssl_check_hostname in a dictionary, and PyMySQL then verifies certificate and host if there is a
 * CA, and nothing if there is none. With ssl_verify_cert or ssl_verify_identity, PyMySQL drops that
 * dictionary: it uses the CAs of the system instead of ssl_ca, loses the client's certificate, and
 * never verifies the host. Here all parameters of the URL count:
 *
 *   - with a CA, the certificate is verified, unless ssl_verify_cert=false;
 *   - with ssl_verify_cert=true, the certificate is verified, without a CA by those of the system;
 *   - the host is verified with ssl_verify_identity or ssl_check_hostname, and with a CA alone;
 *   - otherwise any parameter of TLS but ssl_disabled means encryption without verification.
 *
 * A key without a certificate has no effect. So nothing is verified less than there. TLS is never
 * given up because the server has none. With mysqlclient's ssl_mode, that decides alone. A unix
 * socket has no host to verify. Any thread. */
#include "store/mariadb/session/login.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/mariadb/session/option_file.h"

static bool is_switched_on(const char *value)
{
    return value != NULL && value[0] == '1';
}

static bool is_switched_off(const char *value)
{
    return value != NULL && value[0] == '0';
}

static const char *either(const char *url, const char *file)
{
    return url != NULL ? url : file;
}

static enum mariadb_tls tls_of_mode(const char *mode, bool has_ca)
{
    if (strcmp(mode, "DISABLED") == 0)
        return MARIADB_TLS_OFF;
    if (strcmp(mode, "VERIFY_CA") == 0)
        return MARIADB_TLS_CHAIN;
    if (strcmp(mode, "VERIFY_IDENTITY") == 0)
        return MARIADB_TLS_HOST;
    if (strcmp(mode, "REQUIRED") == 0)
        return MARIADB_TLS_ENCRYPTED;
    return has_ca ? MARIADB_TLS_CHAIN : MARIADB_TLS_OFF; /* PREFERRED */
}

static enum mariadb_tls tls_of(const struct mariadb_url *url, const struct mariadb_login *login)
{
    bool has_ca = login->ssl_ca != NULL || login->ssl_capath != NULL;
    bool is_wanted = has_ca || login->ssl_cert != NULL || login->ssl_key != NULL ||
                     login->ssl_cipher != NULL || url->ssl_check_hostname != NULL ||
                     url->ssl_verify_cert != NULL || url->ssl_verify_identity != NULL;
    if (url->ssl_mode != NULL)
        return tls_of_mode(url->ssl_mode, has_ca);
    if (is_switched_on(url->ssl_disabled) || !is_wanted)
        return MARIADB_TLS_OFF;
    bool by_ca = has_ca && url->ssl_verify_cert == NULL;
    bool verifies_host = is_switched_on(url->ssl_verify_identity) ||
                         is_switched_on(url->ssl_check_hostname) ||
                         (by_ca && !is_switched_off(url->ssl_verify_identity) &&
                          !is_switched_off(url->ssl_check_hostname));
    bool verifies_chain = verifies_host || by_ca || is_switched_on(url->ssl_verify_cert);
    return verifies_host ? MARIADB_TLS_HOST
                         : (verifies_chain ? MARIADB_TLS_CHAIN : MARIADB_TLS_ENCRYPTED);
}

/* Where distributions have the CAs of the system, as one file; OpenSSL's and GnuTLS's own defaults
 * are not used by libmariadb without also verifying the host. */
static const char *system_ca(void)
{
    static const char *const files[] = {
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (access(files[i], R_OK) == 0)
            return files[i];
    return NULL;
}

static bool set_tls(const struct mariadb_url *url, struct mariadb_login *login,
                    struct slice *reason)
{
    login->tls = tls_of(url, login);
    if (login->ssl_cert == NULL)
        login->ssl_key = NULL;
    if (login->tls == MARIADB_TLS_HOST && login->unix_socket != NULL)
        login->tls = MARIADB_TLS_CHAIN;
    if (login->tls == MARIADB_TLS_OFF)
        login->ssl_ca = login->ssl_capath = login->ssl_cert = login->ssl_key = login->ssl_cipher =
            NULL;
    if (login->tls <= MARIADB_TLS_ENCRYPTED) {
        login->ssl_ca = login->ssl_capath = NULL; /* libmariadb would verify with them */
        return true;
    }
    if (login->ssl_ca == NULL && login->ssl_capath == NULL)
        login->ssl_ca = system_ca();
    *reason = SLICE_LIT("the system has no list of certificate authorities: write ssl_ca=FILE");
    return login->ssl_ca != NULL || login->ssl_capath != NULL;
}

/* Of a file: 0 counts as not set. */
static bool read_port(const char *text, unsigned *port)
{
    char *end;
    unsigned long number = text == NULL ? 0 : strtoul(text, &end, 10);
    if (text != NULL && (text[0] < '0' || text[0] > '9' || *end != '\0' || number > 65535))
        return false;
    *port = number == 0 ? MARIADB_DEFAULT_PORT : (unsigned)number;
    return true;
}

static bool is_host(const char *host)
{
    return host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             ".-_:%")] == '\0';
}

static bool check_login(const struct mariadb_url *url, const struct mariadb_option_file *file,
                        struct mariadb_login *login, struct slice *reason)
{
    enum { SOCKET_BYTES_MOST = 107 };
    *reason = SLICE_LIT("the port of the option file is not a number from 1 to 65535");
    if (url->port == 0 && !read_port(file->port, &login->port))
        return false;
    *reason = SLICE_LIT("the host of the option file is not the name or address of one host");
    if (login->host != NULL && !is_host(login->host))
        return false;
    *reason = SLICE_LIT("the socket of the option file has too long a path");
    return login->unix_socket == NULL || strlen(login->unix_socket) <= SOCKET_BYTES_MOST;
}

bool mariadb_login_read(const struct mariadb_url *url, struct arena *arena,
                        struct mariadb_login *login, struct slice *reason)
{
    struct mariadb_option_file file = {0};
    const char *path = url->option_file;
    if (path == NULL && url->option_group != NULL)
        path = "/etc/my.cnf";
    const char *group = url->option_group == NULL ? "client" : url->option_group;
    if (path != NULL && !mariadb_option_file_read(path, group, arena, &file, reason))
        return false;
    *login = (struct mariadb_login){
        .user = either(url->user, file.user),
        .password = either(url->password, file.password),
        .host = either(url->host, file.host),
        .port = url->port,
        .database = either(url->database, file.database),
        .unix_socket = either(url->unix_socket, file.socket),
        .bind_address = either(url->bind_address, file.bind_address),
        .program_name = url->program_name,
        .init_command = url->init_command,
        .ssl_ca = either(url->ssl_ca, file.ssl_ca),
        .ssl_capath = either(url->ssl_capath, file.ssl_capath),
        .ssl_cert = either(url->ssl_cert, file.ssl_cert),
        .ssl_key = either(url->ssl_key, file.ssl_key),
        .ssl_cipher = either(url->ssl_cipher, file.ssl_cipher),
    };
    if (!check_login(url, &file, login, reason))
        return false;
    if (login->unix_socket != NULL)
        login->host = NULL;
    else if (login->host == NULL)
        login->host = "localhost";
    return set_tls(url, login, reason);
}

bool mariadb_login_check_files(const struct mariadb_login *login, struct arena *arena,
                               struct slice *reason)
{
    const struct {
        const char *name, *path;
    } files[] = {
        {"ssl_ca", login->ssl_ca},
        {"ssl_capath", login->ssl_capath},
        {"ssl_cert", login->ssl_cert},
        {"ssl_key", login->ssl_key},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i].path == NULL || access(files[i].path, R_OK) == 0)
            continue;
        *reason = arena_printf(arena, "the %s %s cannot be read: %s", files[i].name, files[i].path,
                               strerror(errno));
        return false;
    }
    return true;
}
