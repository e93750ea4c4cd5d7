/* The TLS library's list of errors. */
#ifndef BERTH_STORE_MARIADB_SESSION_TLS_ERRORS_H
#define BERTH_STORE_MARIADB_SESSION_TLS_ERRORS_H

/* To be called before each use of a TLS connection. Any thread. */
void mariadb_tls_errors_clear(void);

#endif
