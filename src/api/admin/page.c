/* A long page in the making: whether anybody still waits for it, and giving way to others. The slow
 * lane's threads. */
#include "api/admin/admin_internal.h"
#include "api/services/slow_lane.h"

bool admin_page_is_abandoned(const struct admin_page *page)
{
    return slow_lane_pass(page->lane, page->job) == SLOW_LATE || http_client_gone(page->client);
}
