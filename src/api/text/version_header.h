/* The OpenStack-API-Version header, which several services share. */
#ifndef BERTH_API_TEXT_VERSION_HEADER_H
#define BERTH_API_TEXT_VERSION_HEADER_H

#include "base/slice.h"

/* The last version that such a header ("SERVICE VERSION, …") contains for the service; data ==
 * NULL: it contains none. */
struct slice version_header_find(struct slice header, struct slice service);

#endif
