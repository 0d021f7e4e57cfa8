/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/test/host.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct host_regex {
    void *buffer;
    unsigned long allocated, used, syntax;
    char *fastmap;
    unsigned char *translate;
    size_t n_groups;
    unsigned flags;
};

struct host_match {
    int so, eo;
};

int host_libc_comp(struct host_regex *re, const char *pattern, int flags) __asm__("regcomp");
int host_libc_exec(const struct host_regex *re, const char *text, size_t n, struct host_match *m,
                   int flags) __asm__("regexec");
size_t host_libc_error(int code, const struct host_regex *re, char *out, size_t n) __asm__("regerror");

/* What the child writes: a header, then one of these for each text. */
struct answer {
    int found;
    struct host_match m[HOST_SPANS];
};

struct header {
    int code;
    char msg[128];
};

static void child(int fd, const char *pattern, unsigned flags, const struct host_text *texts, size_t n)
{
    struct itimerval t = {.it_value = {0, 50000}};
    setitimer(ITIMER_VIRTUAL, &t, NULL);
#ifndef FRONTAL_SANITIZE /* whose shadow alone is more; the time bounds what can be taken, too */
    struct rlimit as = {1u << 30, 1u << 30};
    setrlimit(RLIMIT_AS, &as);
#endif
    struct host_regex re = {0};
    struct header h = {0};
    h.code = host_libc_comp(
        &re, pattern, (flags & REGEX_ERE ? 1 : 0) | (flags & REGEX_ICASE ? 2 : 0) | (flags & REGEX_NEWLINE ? 4 : 0));
    if (h.code)
        host_libc_error(h.code, NULL, h.msg, sizeof(h.msg));
    if (write(fd, &h, sizeof(h)) != (ssize_t)sizeof(h) || h.code)
        _exit(0);
    for (size_t i = 0; i < n; i++) {
        struct answer a = {0};
        int f = (texts[i].eflags & REGEX_NOTBOL ? 1 : 0) | (texts[i].eflags & REGEX_NOTEOL ? 2 : 0);
        a.found = host_libc_exec(&re, texts[i].text, HOST_SPANS, a.m, f) == 0;
        if (write(fd, &a, sizeof(a)) != (ssize_t)sizeof(a))
            _exit(0);
    }
    _exit(0);
}

static bool read_all(int fd, void *p, size_t n)
{
    char *c = p;
    while (n > 0) {
        ssize_t r = read(fd, c, n);
        if (r <= 0)
            return false;
        c += r;
        n -= (size_t)r;
    }
    return true;
}

int host_search(const char *pattern, unsigned flags, struct host_text *texts, size_t n, char msg[128])
{
    int fd[2];
    if (pipe(fd) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        child(fd[1], pattern, flags, texts, n);
    close(fd[1]);
    struct header h = {.code = -1};
    read_all(fd[0], &h, sizeof(h));
    memcpy(msg, h.msg, sizeof(h.msg));
    bool more = h.code == 0;
    for (size_t i = 0; i < n; i++) {
        struct answer a;
        more = more && read_all(fd[0], &a, sizeof(a));
        texts[i].found = more ? a.found : -1;
        for (size_t k = 0; more && k < HOST_SPANS; k++)
            texts[i].spans[k] = (struct regex_span){a.m[k].so, a.m[k].eo};
    }
    close(fd[0]);
    waitpid(pid, NULL, 0);
    return h.code;
}
