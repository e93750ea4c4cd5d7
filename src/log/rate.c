/* oslo.log's rate limit: one counter for all loggers, which is reset by the first line after the
 * interval's end. Any thread. */
#include "log/internal.h"

void log_rate_init(struct log_rate *rate, const struct log_rate_settings *settings, uint64_t now_us)
{
    *rate = (struct log_rate){.settings = *settings};
    pthread_mutex_init(&rate->lock, NULL);
    rate->end_us = now_us + (uint64_t)settings->interval_s * 1000000;
}

enum log_rate_verdict log_rate_ask(struct log_rate *rate, int level, uint64_t now_us)
{
    const struct log_rate_settings *settings = &rate->settings;
    if (settings->burst == 0 || settings->interval_s == 0 || level >= settings->except_level)
        return LOG_RATE_PASS;
    pthread_mutex_lock(&rate->lock);
    if (now_us >= rate->end_us) {
        rate->count = 0;
        rate->end_us = now_us + (uint64_t)settings->interval_s * 1000000;
    }
    if (rate->count <= settings->burst)
        rate->count++;
    else
        rate->count = settings->burst + 2;
    unsigned count = rate->count;
    pthread_mutex_unlock(&rate->lock);
    if (count <= settings->burst)
        return LOG_RATE_PASS;
    return count == settings->burst + 1 ? LOG_RATE_DROP_AND_TELL : LOG_RATE_DROP;
}
