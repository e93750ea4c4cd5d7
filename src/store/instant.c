/* Days from civil dates and back (proleptic Gregorian calendar, eras of 400 years). A row may
 * contain any text: an invalid timestamp counts as none. Pure; any thread. */
#include "store/instant.h"

enum { DAY_S = 86400 };

static const int64_t second_us = 1000000;

static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static int64_t digits(const char *text, size_t count)
{
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static int64_t parse_fraction(struct slice text)
{
    if (text.len == 0)
        return 0;
    if (text.data[0] != '.' || text.len < 2 || text.len > 7)
        return -1;
    int64_t value = digits(text.data + 1, text.len - 1);
    for (size_t i = text.len; i < 7 && value >= 0; i++)
        value *= 10;
    return value;
}

int64_t instant_parse(struct slice text)
{
    if (text.len < 19)
        return 0;
    const char *t = text.data;
    if (t[4] != '-' || t[7] != '-' || (t[10] != ' ' && t[10] != 'T') || t[13] != ':' ||
        t[16] != ':')
        return 0;
    int64_t year = digits(t, 4);
    int64_t month = digits(t + 5, 2);
    int64_t day = digits(t + 8, 2);
    int64_t hour = digits(t + 11, 2);
    int64_t minute = digits(t + 14, 2);
    int64_t second = digits(t + 17, 2);
    int64_t fraction = parse_fraction(slice_skip(text, 19));
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59 || second < 0 || second > 60 || fraction < 0)
        return 0;
    int64_t days = days_from_civil(year, month, day);
    return (days * DAY_S + hour * 3600 + minute * 60 + second) * second_us + fraction;
}

static void instant_put(char *at, int64_t value, size_t width)
{
    for (size_t i = width; i > 0; i--) {
        at[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
}

void instant_format(int64_t us, char text[static INSTANT_LEN])
{
    const int64_t first_us = -62167219200 * second_us;
    const int64_t last_us = 253402300799 * second_us + 999999;
    us = us < first_us ? first_us : us > last_us ? last_us : us;
    int64_t since_first = us - first_us;
    int64_t days = since_first / (DAY_S * second_us) - 719528;
    int64_t in_day_us = since_first % (DAY_S * second_us);
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t day_of_era = z - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    int64_t year = year_of_era + era * 400 + (month <= 2);
    int64_t seconds = in_day_us / second_us;
    memcpy(text, "0000-00-00 00:00:00.000000", INSTANT_LEN);
    instant_put(text, year, 4);
    instant_put(text + 5, month, 2);
    instant_put(text + 8, day, 2);
    instant_put(text + 11, seconds / 3600, 2);
    instant_put(text + 14, seconds / 60 % 60, 2);
    instant_put(text + 17, seconds % 60, 2);
    instant_put(text + 20, in_day_us % second_us, 6);
}
