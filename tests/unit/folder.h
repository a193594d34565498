/* A folder for tests of files, and plain ways to look at what is in it. */
#ifndef GPUFILT_TESTS_UNIT_FOLDER_H
#define GPUFILT_TESTS_UNIT_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

/* Makes a new folder and goes there. */
__attribute__((unused)) static int folder_enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/gpufilt-test-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

__attribute__((unused)) static int folder_leave(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

__attribute__((unused)) static void put(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

__attribute__((unused)) static void put_text(const char *path, const char *text)
{
    put(path, text, strlen(text));
}

/* Bytes read, or -1. */
__attribute__((unused)) static ssize_t get(const char *path, void *buffer, size_t size)
{
    int fd = open(path, O_RDONLY);
    ssize_t got, sum = 0;

    if (fd < 0)
        return -1;
    while ((got = read(fd, (char *)buffer + sum, size - (size_t)sum)) > 0)
        sum += got;
    close(fd);
    return sum;
}

__attribute__((unused)) static void assert_file(const char *path, const char *text)
{
    char buffer[4096];
    ssize_t got = get(path, buffer, sizeof buffer - 1);

    if (got < 0)
        fail_msg("%s cannot be read", path);
    buffer[got < 0 ? 0 : got] = '\0';
    assert_string_equal(buffer, text);
}

/* Names in the folder, . and .. not counted. */
__attribute__((unused)) static int entries(const char *path)
{
    DIR *list = opendir(path);
    int count = 0;

    assert_non_null(list);
    while (readdir(list))
        count++;
    closedir(list);
    return count - 2;
}

#endif
