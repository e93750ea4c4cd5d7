/* Runs a harness built without libFuzzer on files and on all files in directories, as named on the
 * command line, in order. Exits with 1 if there were none, so that a lost corpus is noticed. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "fuzz.h"

static bool play_file(const char *path)
{
    struct buf data = {0};
    FILE *in = fopen(path, "rb");
    size_t got = in == NULL ? 0 : 1;
    while (got > 0) {
        got = fread(buf_reserve(&data, 4096), 1, 4096, in);
        data.len += got;
    }
    bool ok = in != NULL && !ferror(in);
    if (in != NULL)
        fclose(in);
    if (ok) {
        /* Exactly its size, so that a sanitizer detects a read beyond its end. */
        uint8_t *exact = malloc(data.len == 0 ? 1 : data.len);
        check(exact != NULL);
        if (data.len > 0)
            memcpy(exact, data.data, data.len);
        (void)LLVMFuzzerTestOneInput(exact, data.len);
        free(exact);
    } else {
        perror(path);
    }
    buf_free(&data);
    return ok;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The number of files that were run; -1: one could not be read. */
static int play(const char *path)
{
    struct stat info;
    struct dirent **entries;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return play_file(path) ? 1 : -1;
    int n = scandir(path, &entries, not_hidden, alphasort);
    int played = n < 0 ? -1 : 0;
    for (int i = 0; i < n; i++) {
        struct buf name = {0};
        buf_printf(&name, "%s/%s", path, entries[i]->d_name);
        buf_append_char(&name, '\0');
        int more = played < 0 ? -1 : play(name.data);
        played = more < 0 ? -1 : played + more;
        buf_free(&name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return played;
}

int main(int argc, char **argv)
{
    int played = 0;
    for (int i = 1; i < argc; i++) {
        int more = play(argv[i]);
        if (more < 0)
            return 1;
        played += more;
    }
    printf("%d inputs\n", played);
    return played > 0 ? 0 : 1;
}
