/* The rules of the Valet spec (6.3, 6.4, 7.2, 8, 9.1) over plain numbers, as they are written
 * there, and every combination tried. Knows nothing of the code under test. */
#ifndef BERTH_TESTS_UNIT_SOLVE_ORACLE_H
#define BERTH_TESTS_UNIT_SOLVE_ORACLE_H

#include "plan.h"

enum { ORACLE_SERVERS_MAX = 10 };

enum oracle_verdict { ORACLE_NONE, ORACLE_FOUND, ORACLE_TOO_LARGE };

/* Whether any combination holds. */
enum oracle_verdict oracle_solve(const struct cloud *cloud, const struct plan *plan);

/* Fails the test if the found outcome breaks a rule, or claims too much or too little. */
void oracle_check_found(const struct cloud *cloud, const struct plan *plan);

/* The first filter of 9.5 that keeps the server, alone, from the host: an index of the words below;
 * -1: none. */
int oracle_why(const struct cloud *cloud, const struct plan *plan, uint32_t server, int host);
extern const char *const ORACLE_WORDS[];

bool oracle_is_host(const struct cloud *cloud, int provider);

#endif
