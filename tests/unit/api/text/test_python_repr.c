/* Values as Python 3.11's repr prints them (the right column is its output), and the limit. */
#include "api/text/python_repr.h"
#include "unit.h"

static const struct {
    struct slice text;
    const char *repr;
} STRINGS[] =
    {
        {SLICE_LIT(""), "''"},
        {SLICE_LIT("a"), "'a'"},
        {SLICE_LIT("it's"), "\042it's\042"},
        {SLICE_LIT("\042"), "'\042'"},
        {SLICE_LIT("it's \042x\042"), "'it\134's \042x\042'"},
        {SLICE_LIT("\134"), "'\134\134'"},
        {SLICE_LIT("\012\015\011"), "'\134n\134r\134t'"},
        {SLICE_LIT("\000"), "'\134x00'"},
        {SLICE_LIT("\177"), "'\134x7f'"},
        {SLICE_LIT("\302\240"), "'\134xa0'"},
        {SLICE_LIT("\302\255"), "'\134xad'"},
        {SLICE_LIT("\303\244"), "'\303\244'"},
        {SLICE_LIT("\342\200\250"), "'\134u2028'"},
        {SLICE_LIT("\342\200\213"), "'\134u200b'"},
        {SLICE_LIT("\356\200\200"), "'\134ue000'"},
        {SLICE_LIT("\357\273\277"), "'\134ufeff'"},
        {SLICE_LIT("\360\237\230\200"), "'\360\237\230\200'"},
        {SLICE_LIT("\363\240\200\201"), "'\134U000e0001'"},
        {SLICE_LIT("\364\217\277\277"), "'\134U0010ffff'"},
        {SLICE_LIT("\344\270\255\346\226\207"), "'\344\270\255\346\226\207'"},
        {SLICE_LIT("a\134'b"), "\042a\134\134'b\042"},
        {SLICE_LIT("\037\302\200\302\237\302\241"), "'\134x1f\134x80\134x9f\302\241'"},
        {SLICE_LIT("\330\200"), "'\134u0600'"},
        {SLICE_LIT("\343\200\200"), "'\134u3000'"},
        {SLICE_LIT("\341\232\200"), "'\134u1680'"},
        {SLICE_LIT("\357\277\275"), "'\357\277\275'"},
},
  DOCUMENTS[] = {
      {SLICE_LIT("null"), "None"},
      {SLICE_LIT("true"), "True"},
      {SLICE_LIT("false"), "False"},
      {SLICE_LIT("0"), "0"},
      {SLICE_LIT("-5"), "-5"},
      {SLICE_LIT("1.0"), "1.0"},
      {SLICE_LIT("1e16"), "1e+16"},
      {SLICE_LIT("1.5e-7"), "1.5e-07"},
      {SLICE_LIT("123456789012345680.0"), "1.2345678901234568e+17"},
      {SLICE_LIT("\042a\042"), "'a'"},
      {SLICE_LIT("[]"), "[]"},
      {SLICE_LIT("{}"), "{}"},
      {SLICE_LIT("[1, \042a\042, null]"), "[1, 'a', None]"},
      {SLICE_LIT("{\042b\042: 1, \042a\042: [true, {\042c\042: {}}]}"),
       "{'b': 1, 'a': [True, {'c': {}}]}"},
      {SLICE_LIT("[[[]]]"), "[[[]]]"},
      {SLICE_LIT("{\042it's\042: \042\134\042\042, \042k\042: \042\134u0000\042}"),
       "{\042it's\042: '\042', 'k': '\134x00'}"},
      {SLICE_LIT("[9223372036854775807, -9223372036854775808]"),
       "[9223372036854775807, -9223372036854775808]"},
      {SLICE_LIT("{\042a\042: 1, \042b\042: 2, \042a\042: 3}"), "{'a': 3, 'b': 2}"},
};

static void assert_text(struct buf *out, const char *want)
{
    buf_append_char(out, '\0');
    assert_string_equal(out->data, want);
    buf_free(out);
}

static void strings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(STRINGS) / sizeof(STRINGS[0]); i++) {
        struct buf out = {0};
        python_repr_string(&out, STRINGS[i].text);
        assert_text(&out, STRINGS[i].repr);
    }
}

static void documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(DOCUMENTS) / sizeof(DOCUMENTS[0]); i++) {
        struct buf out = {0};
        json_error_t error;
        json_t *document = json_loadb(DOCUMENTS[i].text.data, DOCUMENTS[i].text.len,
                                      JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
        assert_non_null(document);
        python_repr_json(&out, document);
        json_decref(document);
        assert_text(&out, DOCUMENTS[i].repr);
    }
}

/* For any input the output stays near the limit; text that was there before does not count. */
static void bounded(void **state)
{
    (void)state;
    struct buf out = {0};
    for (unsigned i = 0; i < 10000; i++)
        buf_append_char(&out, 'x');
    json_t *array = json_array();
    json_t *object = json_object();
    for (unsigned i = 0; i < 5000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%u", i);
        json_array_append_new(array, json_string("some text"));
        json_object_set_new(object, key, json_integer(i));
    }
    json_array_append_new(array, object);
    python_repr_json(&out, array);
    assert_true(out.len > 10000 + PYTHON_REPR_BYTES_MAX);
    assert_true(out.len < 10000 + PYTHON_REPR_BYTES_MAX + 100);
    assert_memory_equal(out.data + out.len - 6, ", ...]", 6);
    size_t before = out.len;
    python_repr_json(&out, object);
    assert_true(out.len < before + PYTHON_REPR_BYTES_MAX + 100);
    assert_memory_equal(out.data + out.len - 6, ", ...}", 6);
    json_decref(array);
    char text[3 * PYTHON_REPR_BYTES_MAX];
    memset(text, '\n', sizeof(text));
    out.len = 0;
    python_repr_string(&out, (struct slice){text, sizeof(text)});
    assert_true(out.len < PYTHON_REPR_BYTES_MAX + 10);
    assert_memory_equal(out.data + out.len - 4, "...'", 4);
    out.len = 0;
    for (unsigned i = 0; i < sizeof(text); i++) /* of two bytes each, beginning at odd places */
        text[i] = i == 0 ? 'x' : i % 2 == 1 ? '\xc3' : '\xa4';
    python_str_text(&out, (struct slice){text, PYTHON_REPR_BYTES_MAX});
    assert_int_equal(out.len, PYTHON_REPR_BYTES_MAX);
    out.len = 0;
    python_str_text(&out, (struct slice){text, sizeof(text)});
    assert_int_equal(PYTHON_REPR_BYTES_MAX % 2, 0);
    assert_int_equal(out.len, PYTHON_REPR_BYTES_MAX - 1 + 3); /* the last whole character */
    assert_memory_equal(out.data + out.len - 5, "\xc3\xa4...", 5);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),
        cmocka_unit_test(documents),
        cmocka_unit_test(bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
