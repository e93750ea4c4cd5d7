/* A long page that is being written: checks whether its client is still connected, and gives way to
 * other work. On the slow lane's threads. */
#include "api/admin/admin_internal.h"
#include "api/services/slow_lane.h"

bool admin_page_is_abandoned(const struct admin_page *page)
{
    return slow_lane_pass(page->lane, page->job) == SLOW_LATE || http_client_gone(page->client);
}
