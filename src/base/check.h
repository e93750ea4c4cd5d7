/* Programmer errors end the process, in every build. A failure of a database, a peer or a client is
 * never a programmer error. */
#ifndef BERTH_BASE_CHECK_H
#define BERTH_BASE_CHECK_H

#define BERTH_MUST_CHECK        __attribute__((warn_unused_result))
#define BERTH_PRINTF(at, first) __attribute__((format(printf, at, first)))

_Noreturn void check_failed(const char *condition, const char *file, int line);

#define check(condition)                                                                           \
    (__builtin_expect(!!(condition), 1) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))

#endif
