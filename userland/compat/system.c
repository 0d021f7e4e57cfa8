/* SPDX-License-Identifier: Apache-2.0 */

/* What machine this is, limits, and the parts of libc that are the same for everybody. */
#include "host.h"

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utmpx.h>
#include <wasi/api.h>

int gethostname(char *buf, size_t n)
{
    char name[256];
    size_t len = 0;
    int err = host_hostname(name, sizeof(name) - 1, &len);

    if (err == ENOSYS) {
        strcpy(name, "sandbox");
        len = strlen(name);
        err = 0;
    }
    if (err == 0 && len >= n)
        err = ENAMETOOLONG;
    if (host_result(err) < 0)
        return -1;
    memcpy(buf, name, len);
    buf[len] = '\0';
    return 0;
}

int sethostname(const char *name, size_t n)
{
    (void)name, (void)n;
    return host_result(EPERM);
}

int getdomainname(char *buf, size_t n)
{
    if (n < sizeof("(none)"))
        return host_result(EINVAL);
    strcpy(buf, "(none)");
    return 0;
}

long gethostid(void)
{
    return 0;
}

/* The same answer as the shell's uname: programs look for a Linux, which is what they find in all that they can see. */
int uname(struct utsname *u)
{
    *u = (struct utsname){.sysname = "Linux", .release = "6.1.0-frontal", .version = "#1 SMP", .machine = "x86_64"};
    if (gethostname(u->nodename, sizeof(u->nodename)) < 0)
        return -1;
    strcpy(u->domainname, "(none)");
    return 0;
}

long sysconf(int name)
{
    switch (name) {
    case _SC_ARG_MAX:
        return 2097152;
    case _SC_CHILD_MAX:
        return 1024;
    case _SC_CLK_TCK:
        return 100;
    case _SC_NGROUPS_MAX:
        return 32;
    case _SC_OPEN_MAX:
        return 1024;
    case _SC_STREAM_MAX:
        return 16;
    case _SC_TZNAME_MAX:
        return 6;
    case _SC_PAGESIZE:
        return 65536;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return 1;
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
        return 65536; /* a 32-bit memory, whole */
    case _SC_SYMLOOP_MAX:
        return 40;
    case _SC_LINE_MAX:
    case _SC_BC_STRING_MAX:
        return 2048;
    case _SC_RE_DUP_MAX:
        return 255;
    case _SC_BC_BASE_MAX:
    case _SC_BC_SCALE_MAX:
        return 99;
    case _SC_BC_DIM_MAX:
        return 2048;
    case _SC_COLL_WEIGHTS_MAX:
        return 2;
    case _SC_EXPR_NEST_MAX:
        return 32;
    case _SC_IOV_MAX:
        return 1024;
    case _SC_HOST_NAME_MAX:
        return 255;
    case _SC_LOGIN_NAME_MAX:
        return 256;
    case _SC_TTY_NAME_MAX:
        return 32;
    case _SC_GETPW_R_SIZE_MAX:
    case _SC_GETGR_R_SIZE_MAX:
        return 8192;
    case _SC_ATEXIT_MAX:
        return INT_MAX;
    case _SC_VERSION:
    case _SC_2_VERSION:
    case _SC_2_C_BIND:
    case _SC_FSYNC:
    case _SC_REGEXP:
    case _SC_SHELL:
    case _SC_SPAWN:
    case _SC_MONOTONIC_CLOCK:
        return 200809L;
    case _SC_JOB_CONTROL:
    case _SC_SAVED_IDS:
        return 1;
    default:
        return -1;
    }
}

int getpagesize(void)
{
    return 65536;
}

int getdtablesize(void)
{
    return 1024;
}

/* One session has no load to tell. */
int getloadavg(double *avg, int n)
{
    if (n > 3)
        n = 3;
    for (int i = 0; i < n; i++)
        avg[i] = 0;
    return n;
}

int settimeofday(const struct timeval *tv, const struct timezone *tz)
{
    (void)tv, (void)tz;
    return host_result(EPERM);
}

int futimes(int fd, const struct timeval t[2])
{
    struct timespec ts[2];

    if (t == NULL)
        return futimens(fd, NULL);
    for (int i = 0; i < 2; i++)
        ts[i] = (struct timespec){.tv_sec = t[i].tv_sec, .tv_nsec = t[i].tv_usec * 1000};
    return futimens(fd, ts);
}

int lutimes(const char *path, const struct timeval t[2])
{
    struct timespec ts[2];

    if (t == NULL)
        return utimensat(-2, path, NULL, 1);
    for (int i = 0; i < 2; i++)
        ts[i] = (struct timespec){.tv_sec = t[i].tv_sec, .tv_nsec = t[i].tv_usec * 1000};
    return utimensat(-2, path, ts, 1); /* AT_FDCWD, AT_SYMLINK_NOFOLLOW */
}

int chroot(const char *path)
{
    (void)path;
    return host_result(EPERM);
}

char *getpass(const char *prompt)
{
    (void)prompt;
    errno = ENXIO; /* no terminal to ask at */
    return NULL;
}

void flockfile(FILE *f)
{
    (void)f;
}

int ftrylockfile(FILE *f)
{
    (void)f;
    return 0;
}

void funlockfile(FILE *f)
{
    (void)f;
}

/* --- the program's name: argv[0] as the host gave it */

static const char *program;

const char *getprogname(void)
{
    size_t n = 0, size = 0;

    if (program == NULL && __wasi_args_sizes_get(&n, &size) == 0 && n != 0) {
        uint8_t **argv = malloc(n * sizeof(*argv));
        uint8_t *text = malloc(size);

        if (argv != NULL && text != NULL && __wasi_args_get(argv, text) == 0) {
            const char *slash = strrchr((char *)argv[0], '/');

            program = slash != NULL ? slash + 1 : (char *)argv[0];
        }
        free(argv);
    }
    return program != NULL ? program : "?";
}

void setprogname(const char *name)
{
    program = name;
}

/* --- tables that are empty here */

FILE *setmntent(const char *path, const char *mode)
{
    (void)path, (void)mode;
    errno = ENOENT;
    return NULL;
}

struct mntent *getmntent(FILE *f)
{
    (void)f;
    return NULL;
}

int endmntent(FILE *f)
{
    if (f != NULL)
        fclose(f);
    return 1;
}

char *hasmntopt(const struct mntent *m, const char *opt)
{
    return strstr(m->mnt_opts, opt);
}

void setutxent(void)
{
}

void endutxent(void)
{
}

struct utmpx *getutxent(void)
{
    return NULL;
}

int utmpxname(const char *path)
{
    (void)path;
    return 0;
}
