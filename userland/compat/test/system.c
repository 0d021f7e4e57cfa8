/* SPDX-License-Identifier: Apache-2.0 */

/* Users, names, limits, temporary files, time zones. */
#include "tap.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

static const char *at(const char *tz, time_t t)
{
    static char buf[64];
    struct tm tm;

    setenv("TZ", tz, 1);
    tzset();
    localtime_r(&t, &tm);
    strftime(buf, sizeof(buf), "%F %T %Z %z", &tm);
    return buf;
}

int main(void)
{
    struct passwd *pw;
    struct group *gr;
    struct utsname u;
    struct rlimit rl;
    struct stat st, st2;
    char name[] = "tXXXXXX.c", bad[] = "tXXX", host[256];
    unsigned char a[16], b[16];
    int fd;
    FILE *f;

    own_directory();
    pw = getpwuid(getuid());
    ok(pw != NULL && pw->pw_uid == getuid() && pw->pw_dir[0] == '/', "getpwuid of oneself");
    ok(pw != NULL && (pw = getpwnam(strdup(pw->pw_name))) != NULL && pw->pw_uid == getuid(), "getpwnam");
    ok((errno = 0, getpwnam("nobody-of-that-name")) == NULL && errno == 0, "no such user");
    gr = getgrgid(getgid());
    ok(gr != NULL && gr->gr_gid == getgid() && gr->gr_mem != NULL, "getgrgid");
    ok((pw = (setpwent(), getpwent())) != NULL && pw->pw_name[0] != '\0', "getpwent");
    gid_t groups[32];
    int n = 32;
    ok(getgrouplist("root", 0, groups, &n) >= 1 && groups[0] == 0, "getgrouplist");
    works(setuid(getuid()));
    ok(getuid() == 0 || (setuid(0) == -1 && errno == EPERM), "nobody becomes root");

    ok(gethostname(host, sizeof(host)) == 0 && host[0] != '\0', "gethostname");
    ok(uname(&u) == 0 && strcmp(u.sysname, "Linux") == 0 && strcmp(u.nodename, host) == 0, "uname");
    ok(sysconf(_SC_OPEN_MAX) > 0 && sysconf(_SC_CLK_TCK) == 100 && sysconf(_SC_NPROCESSORS_ONLN) > 0, "sysconf");
    ok(getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur > 0, "getrlimit");

    fd = mkstemps(name, 2);
    ok(fd >= 0 && strcmp(name + 7, ".c") == 0 && stat(name, &st) == 0 && (st.st_mode & 07777) == 0600, "mkstemps");
    fails(mkstemp(bad), EINVAL);
    f = tmpfile();
    ok(f != NULL && fputs("x", f) >= 0 && fseek(f, 0, SEEK_SET) == 0 && fgetc(f) == 'x', "tmpfile");
    ok(f != NULL && fstat(fileno(f), &st2) == 0 && st2.st_nlink == 0, "that has no name");
    ok(getrandom(a, 16, 0) == 16 && getrandom(b, 16, 0) == 16 && memcmp(a, b, 16) != 0, "getrandom");

    ok(strcmp(strerror(ELOOP), "Too many levels of symbolic links") == 0, "strerror has Debian's texts");
    ok(strcmp(strerror(ENOENT), "No such file or directory") == 0 && strcmp(strerror(0), "Success") == 0, "strerror");
    ok(strcmp(strerror(9999), "Unknown error 9999") == 0, "strerror of no error");
    errno = ENOTTY;
    ok(snprintf(host, sizeof(host), "%m") > 0 && strcmp(host, strerror(ENOTTY)) == 0, "%%m");

    /* Expected values: GNU date 9.1 with glibc 2.36. */
    ok(strcmp(at("UTC0", 1700000000), "2023-11-14 22:13:20 UTC +0000") == 0, "UTC");
    ok(strcmp(at("CET-1CEST,M3.5.0,M10.5.0/3", 1720000000), "2024-07-03 11:46:40 CEST +0200") == 0, "a rule in summer");
    ok(strcmp(at("CET-1CEST,M3.5.0,M10.5.0/3", 1700000000), "2023-11-14 23:13:20 CET +0100") == 0, "a rule in winter");
    ok(strcmp(at("NZST-12NZDT,M9.5.0,M4.1.0/3", 1700000000), "2023-11-15 11:13:20 NZDT +1300") == 0, "in the south");
    ok(strcmp(at("<+0330>-3:30", 0), "1970-01-01 03:30:00 +0330 +0330") == 0, "a name in brackets");
    ok(strcmp(at("CET-1CEST,M3.5.0,M10.5.0/3", 1774745999), "2026-03-29 01:59:59 CET +0100") == 0, "before the change");
    ok(strcmp(at("CET-1CEST,M3.5.0,M10.5.0/3", 1774746000), "2026-03-29 03:00:00 CEST +0200") == 0, "after it");
    if (access("/usr/share/zoneinfo/America/New_York", R_OK) == 0)
        ok(strcmp(at("America/New_York", -2000000000), "1906-08-16 15:26:40 EST -0500") == 0, "a file, long ago");
    struct tm gap = {.tm_year = 126, .tm_mon = 2, .tm_mday = 29, .tm_hour = 2, .tm_min = 30, .tm_isdst = -1};
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ok(mktime(&gap) == 1774747800, "mktime in the gap");
    return done_testing();
}
