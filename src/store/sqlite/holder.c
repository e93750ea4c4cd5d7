/* The links in /proc/PID/fd lead to the open files, and their modes show how they were opened. Any
 * thread. */
#include "store/sqlite/holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "Lock bytes" of SQLite's file format: pending, reserved, and 510 shared ones. */
enum { LOCKS_AT = 0x40000000, LOCKS_BYTES = 512 };

static bool is_open_for_writing(const char *link, const struct stat *file)
{
    struct stat found;
    struct stat how;
    return stat(link, &found) == 0 && found.st_ino == file->st_ino &&
           found.st_dev == file->st_dev && lstat(link, &how) == 0 && (how.st_mode & S_IWUSR) != 0;
}

static bool has_open(const char *pid, const struct stat *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    DIR *files = opendir(path);
    bool found = false;
    const struct dirent *entry;
    while (files != NULL && !found && (entry = readdir(files)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, entry->d_name);
        found = entry->d_name[0] != '.' && is_open_for_writing(path, file);
    }
    if (files != NULL)
        closedir(files);
    return found;
}

static void describe(const char *pid, char who[static HOLDER_BYTES])
{
    char path[PATH_MAX];
    char name[32] = "";
    snprintf(path, sizeof(path), "/proc/%s/comm", pid);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(name, sizeof(name), file) != NULL)
            name[strcspn(name, "\n")] = '\0';
        fclose(file);
    }
    snprintf(who, HOLDER_BYTES, "process %.10s (%s)", pid, name);
}

bool holder_find(const struct stat *file, char who[static HOLDER_BYTES])
{
    char self[16];
    snprintf(self, sizeof(self), "%d", (int)getpid());
    DIR *processes = opendir("/proc");
    bool found = false;
    const struct dirent *entry;
    while (processes != NULL && !found && (entry = readdir(processes)) != NULL) {
        const char *pid = entry->d_name;
        found = pid[0] >= '1' && pid[0] <= '9' && strcmp(pid, self) != 0 && has_open(pid, file);
        if (found)
            describe(pid, who);
    }
    if (processes != NULL)
        closedir(processes);
    return found;
}

bool holder_has_lock(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_start = LOCKS_AT, .l_len = LOCKS_BYTES};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool held = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return held;
}
