/* Alternating reasons (two servers behind one address) must not fill the log, nor may one reason
 * hide a new one. Keystone's thread only. */
#include "keystone/outage.h"

#include <stdio.h>
#include <string.h>

#include "log/log.h"

static const char LOGGER[] = "berth.keystone";
static const uint64_t LOG_AGAIN_US = 1000000;

void keystone_outage_failed(struct keystone_outage *outage, const char *reason, uint64_t now_us)
{
    bool is_known = outage->is_logged && strcmp(reason, outage->reason) == 0;
    outage->is_unavailable = true;
    if (is_known || (outage->logged_us != 0 && now_us - outage->logged_us < LOG_AGAIN_US)) {
        outage->not_logged++;
        return;
    }
    outage->is_logged = true;
    outage->logged_us = now_us;
    snprintf(outage->reason, sizeof(outage->reason), "%s", reason);
    log_write(LOG_LEVEL_ERROR, LOGGER, LOG_NO_CONTEXT,
              "requests with tokens that are not cached are answered 503 from now on: %s", reason);
}

void keystone_outage_worked(struct keystone_outage *outage)
{
    outage->is_unavailable = false;
    if (!outage->is_logged)
        return;
    outage->is_logged = false;
    log_write(LOG_LEVEL_INFO, LOGGER, LOG_NO_CONTEXT,
              "Keystone answers again; failed queries that were not logged: %llu",
              (unsigned long long)outage->not_logged);
    outage->not_logged = 0;
}
