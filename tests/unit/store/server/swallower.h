/* A proxy in front of a server, which at some moment forwards nothing more, as a network that is
 * down: connections stay open, and new ones are accepted. */
#ifndef BERTH_TESTS_UNIT_STORE_SERVER_SWALLOWER_H
#define BERTH_TESTS_UNIT_STORE_SERVER_SWALLOWER_H

#include <stdbool.h>

struct swallower;

/* For a server on a port of 127.0.0.1, or on a unix socket (NULL: on the port). The caller owns it;
 * one test thread uses it. */
struct swallower *swallower_start(int server_port, const char *socket_path);
void swallower_stop(struct swallower *swallower);

/* Of 127.0.0.1. */
int swallower_port(const struct swallower *swallower);

/* Forwards nothing from the moment on in which a client has sent that text, which is not copied. */
void swallower_arm(struct swallower *swallower, const char *text);
/* Closes all connections, and forwards nothing of new ones. */
void swallower_cut(struct swallower *swallower);
/* Whether something was swallowed. */
bool swallower_has_swallowed(const struct swallower *swallower);

#endif
