/* The clocks, and the UTC calendar in plain arithmetic: no time zone, no lock, no locale. Days are
 * counted in eras of 400 years that begin on 1 March, so that a leap day is the last day of its
 * year. Any thread. */
#include "base/clock.h"

#include <time.h>

enum {
    US_PER_SECOND = 1000000,
    SECONDS_PER_DAY = 86400,
    DAYS_PER_ERA = 146097,    /* 400 years */
    DAYS_BEFORE_1970 = 719468 /* since 1 March of year 0 */
};

struct civil {
    int year;
    unsigned month; /* 1 to 12 */
    unsigned day;
    unsigned weekday; /* 0: Sunday */
    unsigned hour;
    unsigned minute;
    unsigned second;
    unsigned us;
};

int64_t clock_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

static uint64_t now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * US_PER_SECOND + (uint64_t)now.tv_nsec / 1000;
}

uint64_t clock_monotonic_us(void)
{
    return now_us(CLOCK_MONOTONIC);
}

uint64_t clock_coarse_us(void)
{
    return now_us(CLOCK_MONOTONIC_COARSE);
}

uint64_t clock_boot_us(void)
{
    return now_us(CLOCK_BOOTTIME);
}

uint64_t clock_thread_us(void)
{
    return now_us(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_process_us(void)
{
    return now_us(CLOCK_PROCESS_CPUTIME_ID);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static struct civil to_civil(int64_t wall_us)
{
    struct civil out;
    int64_t seconds = floor_divide(wall_us, US_PER_SECOND);
    int64_t days = floor_divide(seconds, SECONDS_PER_DAY);
    unsigned rest = (unsigned)(seconds - days * SECONDS_PER_DAY);
    out.us = (unsigned)(wall_us - seconds * US_PER_SECOND);
    out.hour = rest / 3600;
    out.minute = rest / 60 % 60;
    out.second = rest % 60;
    out.weekday = (unsigned)(((days + 4) % 7 + 7) % 7); /* 1 January 1970 was a Thursday */

    days += DAYS_BEFORE_1970;
    int64_t era = floor_divide(days, DAYS_PER_ERA);
    unsigned day = (unsigned)(days - era * DAYS_PER_ERA);
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    unsigned day_of_year = day - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * day_of_year + 2) / 153; /* 0: March */
    out.day = day_of_year - (153 * month + 2) / 5 + 1;
    out.month = month < 10 ? month + 3 : month - 9;
    out.year = (int)(era * 400) + (int)year + (out.month <= 2);
    return out;
}

static int64_t days_of(int year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = floor_divide(year, 400);
    unsigned of_era = (unsigned)(year - (int)era * 400);
    unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           DAYS_BEFORE_1970;
}

/* Writes the last `width` digits of the value. */
static char *clock_put(char *at, unsigned value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return at + width;
}

static char *put_text(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}

static char *put_time(char *at, const struct civil *civil)
{
    at = clock_put(at, civil->hour, 2);
    *at++ = ':';
    at = clock_put(at, civil->minute, 2);
    *at++ = ':';
    return clock_put(at, civil->second, 2);
}

void clock_format_rfc1123(int64_t wall_us, char out[CLOCK_RFC1123_BYTES])
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct civil civil = to_civil(wall_us);
    char *at = put_text(out, days + (size_t)civil.weekday * 3, 3);
    at = put_text(at, ", ", 2);
    at = clock_put(at, civil.day, 2);
    *at++ = ' ';
    at = put_text(at, months + (size_t)(civil.month - 1) * 3, 3);
    *at++ = ' ';
    at = clock_put(at, (unsigned)civil.year, 4);
    *at++ = ' ';
    at = put_time(at, &civil);
    (void)put_text(at, " GMT", 5);
}

void clock_format_iso(int64_t wall_us, char out[CLOCK_ISO_BYTES])
{
    struct civil civil = to_civil(wall_us);
    char *at = clock_put(out, (unsigned)civil.year, 4);
    *at++ = '-';
    at = clock_put(at, civil.month, 2);
    *at++ = '-';
    at = clock_put(at, civil.day, 2);
    *at++ = ' ';
    at = put_time(at, &civil);
    *at++ = '.';
    at = clock_put(at, civil.us, 6);
    *at = '\0';
}

/* Reads `width` digits and, if `then` is not 0, that character after them. */
static bool clock_take(struct slice *text, size_t width, char then, unsigned *value)
{
    *value = 0;
    if (text->len < width + (then != '\0'))
        return false;
    for (size_t i = 0; i < width; i++) {
        char c = text->data[i];
        if (c < '0' || c > '9')
            return false;
        *value = *value * 10 + (unsigned)(c - '0');
    }
    if (then != '\0' && text->data[width] != then)
        return false;
    *text = slice_skip(*text, width + (then != '\0'));
    return true;
}

static bool take_fraction(struct slice *text, unsigned *us)
{
    *us = 0;
    if (text->len == 0)
        return true;
    if (text->data[0] != '.' || text->len > 7)
        return false;
    *text = slice_skip(*text, 1);
    size_t digits = text->len;
    if (digits == 0 || !clock_take(text, digits, '\0', us))
        return false;
    for (; digits < 6; digits++)
        *us *= 10;
    return true;
}

static bool is_day(unsigned year, unsigned month, unsigned day)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (unsigned)(leap && month == 2);
}

bool clock_parse_iso(struct slice text, int64_t *wall_us)
{
    unsigned year, month, day, hour, minute, second, us;
    char between = text.len > 10 && text.data[10] == 'T' ? 'T' : ' ';
    if (!clock_take(&text, 4, '-', &year) || !clock_take(&text, 2, '-', &month) ||
        !clock_take(&text, 2, between, &day) || !clock_take(&text, 2, ':', &hour) ||
        !clock_take(&text, 2, ':', &minute) || !clock_take(&text, 2, '\0', &second) ||
        !take_fraction(&text, &us))
        return false;
    if (!is_day(year, month, day) || hour > 23 || minute > 59 || second > 59)
        return false;
    int64_t seconds =
        days_of((int)year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    *wall_us = seconds * US_PER_SECOND + us;
    return true;
}
