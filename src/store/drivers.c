/* The databases that this build knows. */
#include "store/driver.h"

const struct store_driver *const store_drivers[] = {&sqlite_driver, NULL};
