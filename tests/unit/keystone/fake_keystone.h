/* A Keystone on loopback for tests of the engine: a thread for each connection, one request per
 * connection, answers chosen by the test. */
#ifndef BERTH_TESTS_UNIT_KEYSTONE_FAKE_KEYSTONE_H
#define BERTH_TESTS_UNIT_KEYSTONE_FAKE_KEYSTONE_H

#include <pthread.h>
#include <stdbool.h>

enum { FAKE_TEXT_BYTES = 512 };

struct fake_query {
    char method[16];
    char target[FAKE_TEXT_BYTES];
    char own[FAKE_TEXT_BYTES];     /* X-Auth-Token, or "" */
    char subject[FAKE_TEXT_BYTES]; /* X-Subject-Token, or "" */
    char request_id[FAKE_TEXT_BYTES];
};

struct fake_keystone {
    int fd;
    int port;
    char url[64];
    pthread_t acceptor;
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t changed;
    bool stopping;
    bool held;     /* these requests wait until it is false */
    unsigned open; /* connections */
    unsigned logins;
    unsigned queries;       /* requests about tokens and projects */
    unsigned projects_open; /* about projects, now, and the maximum at once */
    unsigned projects_most;
    unsigned own_valid; /* the service's tokens before this one are invalid */
    int login_status;   /* 201 */
    int token_status;   /* 0: by the token's first letter: g good, e expired, s service, x none */
    struct fake_query last;
};

/* Starts it with nothing held and everything working. */
void fake_keystone_start(struct fake_keystone *fake);

/* Stops it; held requests are answered. */
void fake_keystone_stop(struct fake_keystone *fake);

void fake_keystone_hold(struct fake_keystone *fake, bool held);

/* Waits until that many requests about tokens have come; false: not within some seconds. */
bool fake_keystone_await_queries(struct fake_keystone *fake, unsigned queries);

unsigned fake_keystone_query_count(struct fake_keystone *fake);
unsigned fake_keystone_logins(struct fake_keystone *fake);

#endif
