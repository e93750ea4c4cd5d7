/* cmocka with the headers it wants before it. */
#ifndef BERTH_TESTS_UNIT_H
#define BERTH_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
