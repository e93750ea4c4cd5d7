/* See instance_row.h. */
#include "store/server/instance_row.h"

#include <stdio.h>
#include <unistd.h>

bool instance_row_init(struct instance_row *row)
{
    unsigned char b[16];
    *row = (struct instance_row){.pid = (int32_t)getpid()};
    if (getentropy(b, sizeof(b)) != 0)
        return false;
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 4122: version 4 */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(row->name, sizeof(row->name),
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    if (gethostname(row->host, sizeof(row->host) - 1) != 0)
        row->host[0] = '\0';
    return true;
}
