/* Parts that the answers of all pages share. Any thread. */
#include "api/admin/admin_internal.h"

void admin_answer(struct http_exchange *http, int status, const char *content_type)
{
    http->status = status;
    http_add_header(http, "Content-Type", slice_of(content_type));
    http_add_header(http, "Cache-Control", SLICE_LIT("no-store"));
}
