/* Certificates made for tests, in files of a directory of their own. */
#ifndef BERTH_TESTS_HTTP_CERTIFICATES_H
#define BERTH_TESTS_HTTP_CERTIFICATES_H

#include "http/http.h"

enum { PATH_BYTES = 64 };

struct issued {
    char cert[PATH_BYTES];
    char key[PATH_BYTES];
};

/* Makes the directory; certificates_remove() removes it with all that is in it. */
void certificates_begin(char directory[PATH_BYTES]);
void certificates_remove(const char *directory);

enum issued_for { ISSUED_FOR_SERVER, ISSUED_FOR_CLIENT, ISSUED_AS_AUTHORITY };

/* DIRECTORY/NAME.pem and DIRECTORY/NAME.key, by `authority`, or by itself where that is NULL; valid
 * from now on for so many seconds (a negative number: it is over). */
struct issued certificate_issue(const char *directory, const char *name, enum issued_for purpose,
                                const struct issued *authority, int seconds);

/* The same with any distinguished name ("CN=x,O=y"), by itself, for a server, valid from so many
 * seconds from now on for so many more. */
struct issued certificate_issue_named(const char *directory, const char *name, const char *subject,
                                      int from_s, int seconds);

void file_write(const char *path, const void *data, size_t len);
/* The whole of a small file, ended by a NUL byte; the caller frees it. */
char *file_read(const char *path);
void file_copy(const char *from, const char *to);

#endif
