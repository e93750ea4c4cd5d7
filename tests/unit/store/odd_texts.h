/* Texts that a database may distort, or take for one another. */
#ifndef BERTH_TESTS_UNIT_STORE_ODD_TEXTS_H
#define BERTH_TESTS_UNIT_STORE_ODD_TEXTS_H

#define EMOJI     "\xf0\x9f\x98\x80"
#define TEN(text) text text text text text text text text text text

/* All different for memory, whatever a collation makes of them. */
static const char *const ODD_TEXTS[] = {
    "host",
    "Host",
    "HOST",
    "host ",
    " host",
    "host\t",
    "h\xc3\xb6st",
    "ho\xcc\x88st",
    "hoest",
    "\xef\xac\x80",
    "ff",
    "\xc3\x9f",
    "ss",
    "I",
    "\xc4\xb0",
    "\xc4\xb1",
    "z",
    "\xc2\xaa",
    "1",
    "\xc2\xb9",
    "01",
    "1.0",
    "-",
    "\xc2\xad",
    "\xe2\x80\x8d",
    "\x01",
    "\x7f",
    "\xef\xbf\xbf",
    "\xef\xbf\xbd",
    "\xf4\x8f\xbf\xbf",
    EMOJI,
    "'",
    "\"",
    "\\",
    "\\0",
    "%s",
    "%00",
    "$1",
    "{}",
    "{a,b}",
    "NULL",
    "a, b",
    "a)=(b",
    TEN(TEN(EMOJI)) TEN(TEN(EMOJI)),
    TEN(TEN("\xc3\xa9")) TEN(TEN("e")),
};
enum { ODD_TEXTS_COUNT = sizeof(ODD_TEXTS) / sizeof(ODD_TEXTS[0]) };

#endif
