/* OpenSSL has a list of errors for each thread, and takes an operation that only has to wait for
 * one that has failed if the list is not empty (SSL_get_error(3)). libmariadb does not empty it, so
 * that after one TLS connection has ended with an error, every other one of the same thread would
 * seem to end, too.
 *
 * libmariadb may be built with OpenSSL or with GnuTLS, which has no such list. The function is
 * therefore looked for among those that libmariadb has brought along, instead of being linked to.
 * Any thread. */
#include "store/mariadb/session/tls_errors.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static void (*clear_errors)(void); /* NULL: there is none */

static void find_function(void)
{
    void *found = dlsym(RTLD_DEFAULT, "ERR_clear_error");
    memcpy(&clear_errors, &found, sizeof(clear_errors));
}

void mariadb_tls_errors_clear(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_function);
    if (clear_errors != NULL)
        clear_errors();
}
