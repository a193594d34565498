#include "site.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <map>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace simt {

/* What addr2line prints for this address of the file: a line for each function that was
 * inlined there, innermost first. "" when it fails. Builds without test hooks start no programs. */
static void run_addr2line(char *text, size_t bytes, const char *file, uintptr_t address)
{
#ifndef GPUFILT_TEST_HOOKS
    (void)bytes;
    (void)file;
    (void)address;
    text[0] = 0;
#else
    char hex[32];
    int ends[2];
    pid_t child;
    posix_spawn_file_actions_t actions;
    char *arguments[] = {const_cast<char *>("addr2line"), const_cast<char *>("-i"),
                         const_cast<char *>("-e"), const_cast<char *>(file), hex, nullptr};

    text[0] = 0;
    snprintf(hex, sizeof hex, "0x%lx", static_cast<unsigned long>(address));
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&child, "addr2line", &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return;
    }
    size_t length = 0;
    for (ssize_t n; length + 1 < bytes; length += static_cast<size_t>(n)) {
        n = read(ends[0], text + length, bytes - 1 - length);
        if (n <= 0)
            break;
    }
    text[length] = 0;
    close(ends[0]);
    waitpid(child, nullptr, 0);
#endif
}

/* The innermost line outside the machine's own headers. */
static const char *kernel_line(char *lines)
{
    char *rest, *line = strtok_r(lines, "\n", &rest), *first = line;

    while (line && strstr(line, "cuda/simt/"))
        line = strtok_r(nullptr, "\n", &rest);
    if (!line)
        line = first;
    return line ? line : "";
}

static void find_name(char *text, size_t bytes, const void *site)
{
    char lines[4000], program[400];
    Dl_info info;
    uintptr_t address = reinterpret_cast<uintptr_t>(site) - 1;

    if (!dladdr(site, &info)) {
        snprintf(text, bytes, "%p", site);
        return;
    }
    const char *file = info.dli_fname;
    const ElfW(Ehdr) *header = static_cast<const ElfW(Ehdr) *>(info.dli_fbase);
    if (header->e_type == ET_DYN)
        address -= reinterpret_cast<uintptr_t>(info.dli_fbase);
    if (access(file, R_OK) != 0) {
        ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
        if (n > 0) {
            program[n] = 0;
            file = program;
        }
    }
    run_addr2line(lines, sizeof lines, file, address);
    const char *line = kernel_line(lines), *slash = strrchr(line, '/');
    const char *name = slash ? slash + 1 : line;
    if (!*name || *name == '?') {
        slash = strrchr(file, '/');
        snprintf(text, bytes, "%s+0x%lx", slash ? slash + 1 : file,
                 static_cast<unsigned long>(address));
    } else {        /* without " (discriminator 3)" */
        snprintf(text, bytes, "%.*s", static_cast<int>(strcspn(name, " ")), name);
    }
}

/* Asking takes milliseconds, and a test may ask for one place a thousand times. */
void site_name(char *text, size_t bytes, const void *site)
{
    static std::map<const void *, std::string> known;
    auto found = known.find(site);

    if (found != known.end()) {
        snprintf(text, bytes, "%s", found->second.c_str());
        return;
    }
    find_name(text, bytes, site);
    known[site] = text;
}

}
