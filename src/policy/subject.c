/* Parses the text as a Python expression, only as far as needed for the result. Pure. */
#include "policy/subject.h"

static bool subject_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_one_of(struct slice word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (slice_equal(word, slice_of(*words)))
            return true;
    return false;
}

/* Literals by name: keywords, except as the first name of a path. */
static const char *const CONSTANTS[] = {"True", "False", "None", NULL};

static bool is_keyword(struct slice word)
{
    static const char *const KEYWORDS[] = {
        "and",    "as",   "assert", "async",  "await",    "break", "class", "continue", "def",
        "del",    "elif", "else",   "except", "finally",  "for",   "from",  "global",   "if",
        "import", "in",   "is",     "lambda", "nonlocal", "not",   "or",    "pass",     "raise",
        "return", "try",  "while",  "with",   "yield",    NULL};
    return is_one_of(word, KEYWORDS);
}

static struct slice cut(struct slice *rest, size_t len)
{
    struct slice part = {rest->data, len};
    *rest = slice_skip(*rest, len);
    return part;
}

static struct slice take_name(struct slice *rest)
{
    size_t len = 0;
    while (len < rest->len && (is_name_start(rest->data[len]) || subject_is_digit(rest->data[len])))
        len++;
    return cut(rest, len);
}

/* a.b.c; `names` counts them. */
static bool take_path(struct slice *rest, unsigned *names)
{
    for (*names = 0;; *rest = slice_skip(*rest, 1)) {
        if (rest->len == 0 || !is_name_start(rest->data[0]))
            return false;
        struct slice name = take_name(rest);
        if (is_keyword(name) || (*names > 0 && is_one_of(name, CONSTANTS)))
            return false;
        ++*names;
        if (rest->len == 0 || rest->data[0] != '.')
            return true;
    }
}

/* Digits with single underscores between them. A zero may begin nothing but zeros. */
static bool take_number(struct slice *rest)
{
    struct slice digits = take_name(rest);
    bool zero = digits.data[0] == '0';
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.data[i];
        bool joined = c == '_' && i + 1 < digits.len && subject_is_digit(digits.data[i + 1]);
        if (!(subject_is_digit(c) || joined) || (zero && subject_is_digit(c) && c != '0'))
            return false;
    }
    return rest->len == 0 || rest->data[0] != '.';
}

static bool take_quoted(struct slice *rest)
{
    char quote = rest->data[0];
    for (size_t len = 1; len < rest->len; len++) {
        char c = rest->data[len];
        if (c == '\\' || c == '\n' || c == '\r' || c == '\0')
            return false;
        if (c != quote)
            continue;
        (void)cut(rest, len + 1);
        /* One more quote would join a second text to the first, or begin """. */
        return rest->len == 0 || (rest->data[0] != '"' && rest->data[0] != '\'');
    }
    return false;
}

static bool take_operator(struct slice *rest)
{
    static const char *const OPERATORS[] = {
        "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-",
        "*",  "/",  "%",  "@",  "&",  "|",  "^",  "<",  ">", NULL};
    for (const char *const *at = OPERATORS; *at != NULL; at++)
        if (slice_starts_with(*rest, slice_of(*at))) {
            (void)cut(rest, strlen(*at));
            return true;
        }
    return false;
}

enum form { FORM_WRONG, FORM_PATH, FORM_NUMBER, FORM_QUOTED, FORM_SUM };

/* An operand with its signs. */
static enum form take_operand(struct slice *rest)
{
    unsigned signs = 0;
    unsigned names = 0;
    bool inverted = false;
    for (; rest->len > 0 && strchr("+-~", rest->data[0]) != NULL && rest->data[0] != '\0'; signs++)
        inverted |= cut(rest, 1).data[0] == '~';
    if (rest->len == 0)
        return FORM_WRONG;
    if (subject_is_digit(rest->data[0])) {
        if (!take_number(rest))
            return FORM_WRONG;
        return signs > 1 || inverted ? FORM_SUM : FORM_NUMBER;
    }
    if (rest->data[0] == '"' || rest->data[0] == '\'') {
        if (!take_quoted(rest))
            return FORM_WRONG;
        return signs > 0 ? FORM_SUM : FORM_QUOTED;
    }
    if (!take_path(rest, &names))
        return FORM_WRONG;
    return signs > 0 ? FORM_SUM : FORM_PATH;
}

/* Python's `not`, any number of times. Only allowed at the beginning. */
static bool take_nots(struct slice *rest)
{
    bool any = false;
    while (slice_starts_with(*rest, SLICE_LIT("not ")) ||
           slice_starts_with(*rest, SLICE_LIT("not\t"))) {
        (void)cut(rest, 4);
        while (rest->len > 0 && (rest->data[0] == ' ' || rest->data[0] == '\t'))
            (void)cut(rest, 1);
        any = true;
    }
    return any;
}

static enum form form_of(struct slice text)
{
    bool negated = take_nots(&text);
    enum form form = take_operand(&text);
    if (negated && form != FORM_WRONG)
        form = FORM_SUM;
    while (form != FORM_WRONG && text.len > 0) {
        form = FORM_SUM;
        if (!take_operator(&text) || take_operand(&text) == FORM_WRONG)
            return FORM_WRONG;
    }
    return form;
}

/* As Python prints it: no plus, no underscores, no leading zeros, no minus before zero. */
static struct slice number_text(struct arena *arena, struct slice text)
{
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    bool minus = text.data[0] == '-';
    for (size_t i = 0; i < text.len; i++)
        if (subject_is_digit(text.data[i]) && (len > 0 || text.data[i] != '0')) {
            if (len == 0 && minus)
                out[len++] = '-';
            out[len++] = text.data[i];
        }
    if (len == 0)
        out[len++] = '0';
    return (struct slice){out, len};
}

static bool has_credential(enum policy_service service, enum policy_subject subject)
{
    return service != POLICY_OF_PLACEMENT ||
           (subject != POLICY_SUBJECT_PROJECT_NAME && subject != POLICY_SUBJECT_IS_PUBLIC_API);
}

static enum policy_subject credential(enum policy_service service, struct slice name)
{
    static const struct {
        struct slice name;
        enum policy_subject subject;
    } CREDENTIALS[] = {
        {SLICE_LIT("user_id"), POLICY_SUBJECT_USER_ID},
        {SLICE_LIT("user_domain_id"), POLICY_SUBJECT_USER_DOMAIN_ID},
        {SLICE_LIT("project_id"), POLICY_SUBJECT_PROJECT_ID},
        {SLICE_LIT("project_domain_id"), POLICY_SUBJECT_PROJECT_DOMAIN_ID},
        {SLICE_LIT("domain_id"), POLICY_SUBJECT_DOMAIN_ID},
        {SLICE_LIT("system_scope"), POLICY_SUBJECT_SYSTEM_SCOPE},
        {SLICE_LIT("system"), POLICY_SUBJECT_SYSTEM},
        {SLICE_LIT("is_admin_project"), POLICY_SUBJECT_IS_ADMIN_PROJECT},
        {SLICE_LIT("service_user_id"), POLICY_SUBJECT_SERVICE_USER_ID},
        {SLICE_LIT("service_user_domain_id"), POLICY_SUBJECT_SERVICE_USER_DOMAIN_ID},
        {SLICE_LIT("service_project_id"), POLICY_SUBJECT_SERVICE_PROJECT_ID},
        {SLICE_LIT("service_project_domain_id"), POLICY_SUBJECT_SERVICE_PROJECT_DOMAIN_ID},
        {SLICE_LIT("roles"), POLICY_SUBJECT_ROLES},
        {SLICE_LIT("service_roles"), POLICY_SUBJECT_SERVICE_ROLES},
        {SLICE_LIT("project_name"), POLICY_SUBJECT_PROJECT_NAME},
        {SLICE_LIT("is_public_api"), POLICY_SUBJECT_IS_PUBLIC_API},
    };
    for (size_t i = 0; i < sizeof(CREDENTIALS) / sizeof(CREDENTIALS[0]); i++)
        if (slice_equal(CREDENTIALS[i].name, name) &&
            has_credential(service, CREDENTIALS[i].subject))
            return CREDENTIALS[i].subject;
    return POLICY_SUBJECT_UNKNOWN;
}

void policy_subject_parse(struct arena *arena, enum policy_service service, struct slice text,
                          struct policy_node *node)
{
    node->subject = POLICY_SUBJECT_LITERAL;
    node->literal = text;
    switch (form_of(text)) {
    case FORM_WRONG:
        node->subject = POLICY_SUBJECT_FAULT;
        break;
    case FORM_NUMBER:
        node->literal = number_text(arena, text);
        break;
    case FORM_QUOTED:
        node->literal = (struct slice){text.data + 1, text.len - 2};
        break;
    case FORM_PATH:
    case FORM_SUM: /* oslo.policy splits expressions at their dots, too */
        if (is_one_of(text, CONSTANTS))
            break;
        node->subject = credential(service, slice_cut(&text, '.'));
        node->below = text.len > 0;
        break;
    }
}
