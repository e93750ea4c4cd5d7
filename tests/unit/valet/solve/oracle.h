/* The rules of the Valet spec (6.3, 6.4, 7.2, 8, 9.1) over plain numbers, as they are written
 * there, with every combination tried. Independent of the code under test. */
#ifndef BERTH_TESTS_UNIT_SOLVE_ORACLE_H
#define BERTH_TESTS_UNIT_SOLVE_ORACLE_H

#include "plan.h"

enum { ORACLE_SERVERS_MAX = 10 };

enum oracle_verdict { ORACLE_NONE, ORACLE_FOUND, ORACLE_TOO_LARGE };

/* Whether any combination is valid. */
enum oracle_verdict oracle_solve(const struct cloud *cloud, const struct plan *plan);

/* Fails the test if the result violates a rule, or claims too much or too little. */
void oracle_check_found(const struct cloud *cloud, const struct plan *plan);

/* The first filter of 9.5 that excludes the host for the server alone: an index of the words below;
 * -1: none. */
int oracle_why(const struct cloud *cloud, const struct plan *plan, uint32_t server, int host);
extern const char *const ORACLE_WORDS[];

bool oracle_is_host(const struct cloud *cloud, int provider);

#endif
