/* SPDX-License-Identifier: Apache-2.0 */

/* Users and groups, read from /etc/passwd and /etc/group of the session at each question, as the files may change. */
#include "host.h"

#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Cuts the field that @*at points at, up to the next @sep, and moves @*at behind it. NULL when nothing is left. */
static char *field(char **at, char sep)
{
    char *start = *at, *end;

    if (start == NULL)
        return NULL;
    end = strchr(start, sep);
    if (end != NULL)
        *end++ = '\0';
    *at = end;
    return start;
}

static bool number(const char *s, unsigned *ret)
{
    char *end;
    unsigned long n;

    if (s == NULL || *s < '0' || *s > '9')
        return false;
    n = strtoul(s, &end, 10);
    *ret = (unsigned)n;
    return *end == '\0';
}

/* Reads the next line of @f that is not empty into @buf: 1, 0 at the end, -1 when it does not fit. */
static int next_line(FILE *f, char *buf, size_t n)
{
    while (fgets(buf, (int)n, f) != NULL) {
        size_t len = strlen(buf);

        if (len + 1 == n && buf[len - 1] != '\n')
            return -1;
        if (len > 0 && buf[len - 1] == '\n')
            buf[--len] = '\0';
        if (len > 0 && buf[0] != '#')
            return 1;
    }
    return 0;
}

static bool parse_passwd(char *line, struct passwd *pw)
{
    pw->pw_name = field(&line, ':');
    pw->pw_passwd = field(&line, ':');
    if (!number(field(&line, ':'), &pw->pw_uid) || !number(field(&line, ':'), &pw->pw_gid))
        return false;
    pw->pw_gecos = field(&line, ':');
    pw->pw_dir = field(&line, ':');
    pw->pw_shell = field(&line, ':');
    return pw->pw_dir != NULL && pw->pw_shell != NULL;
}

/* Splits the members in place; the array of pointers is at the end of the buffer, that ends at @end. */
static bool parse_group(char *line, char *end, struct group *gr)
{
    char *members;
    size_t n = 1;

    char *start = line + strlen(line) + 1;

    gr->gr_name = field(&line, ':');
    gr->gr_passwd = field(&line, ':');
    if (!number(field(&line, ':'), &gr->gr_gid))
        return false;
    members = line;
    for (const char *c = members; c != NULL && *c != '\0'; c++)
        n += *c == ',';
    gr->gr_mem = (char **)(((uintptr_t)start + sizeof(char *) - 1) & ~(uintptr_t)(sizeof(char *) - 1));
    if ((char *)(gr->gr_mem + n + 1) > end)
        return false;
    n = 0;
    while (members != NULL && *members != '\0')
        gr->gr_mem[n++] = field(&members, ',');
    gr->gr_mem[n] = NULL;
    return true;
}

static int find_passwd(const char *name, uid_t uid, struct passwd *pw, char *buf, size_t n, struct passwd **ret)
{
    FILE *f = fopen("/etc/passwd", "re");
    int rc = 0;

    *ret = NULL;
    if (f == NULL)
        return errno == ENOENT ? 0 : errno;
    while (*ret == NULL && (rc = next_line(f, buf, n)) == 1)
        if (parse_passwd(buf, pw) && (name != NULL ? strcmp(name, pw->pw_name) == 0 : pw->pw_uid == uid))
            *ret = pw;
    fclose(f);
    return rc < 0 ? ERANGE : 0;
}

static int find_group(const char *name, gid_t gid, struct group *gr, char *buf, size_t n, struct group **ret)
{
    FILE *f = fopen("/etc/group", "re");
    int rc = 0;

    *ret = NULL;
    if (f == NULL)
        return errno == ENOENT ? 0 : errno;
    while (*ret == NULL && (rc = next_line(f, buf, n)) == 1)
        if (parse_group(buf, buf + n, gr) && (name != NULL ? strcmp(name, gr->gr_name) == 0 : gr->gr_gid == gid))
            *ret = gr;
    fclose(f);
    return rc < 0 ? ERANGE : 0;
}

int getpwnam_r(const char *name, struct passwd *pw, char *buf, size_t n, struct passwd **ret)
{
    return find_passwd(name, 0, pw, buf, n, ret);
}

int getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t n, struct passwd **ret)
{
    return find_passwd(NULL, uid, pw, buf, n, ret);
}

int getgrnam_r(const char *name, struct group *gr, char *buf, size_t n, struct group **ret)
{
    return find_group(name, 0, gr, buf, n, ret);
}

int getgrgid_r(gid_t gid, struct group *gr, char *buf, size_t n, struct group **ret)
{
    return find_group(NULL, gid, gr, buf, n, ret);
}

static char pw_buf[2048], gr_buf[8192];
static struct passwd pw_one;
static struct group gr_one;

struct passwd *getpwnam(const char *name)
{
    struct passwd *r;

    return host_result(getpwnam_r(name, &pw_one, pw_buf, sizeof(pw_buf), &r)) < 0 ? NULL : r;
}

struct passwd *getpwuid(uid_t uid)
{
    struct passwd *r;

    return host_result(getpwuid_r(uid, &pw_one, pw_buf, sizeof(pw_buf), &r)) < 0 ? NULL : r;
}

struct group *getgrnam(const char *name)
{
    struct group *r;

    return host_result(getgrnam_r(name, &gr_one, gr_buf, sizeof(gr_buf), &r)) < 0 ? NULL : r;
}

struct group *getgrgid(gid_t gid)
{
    struct group *r;

    return host_result(getgrgid_r(gid, &gr_one, gr_buf, sizeof(gr_buf), &r)) < 0 ? NULL : r;
}

/* --- one after another */

static FILE *passwd_file, *group_file;

void endpwent(void)
{
    if (passwd_file != NULL)
        fclose(passwd_file);
    passwd_file = NULL;
}

void setpwent(void)
{
    endpwent();
}

struct passwd *getpwent(void)
{
    if (passwd_file == NULL && (passwd_file = fopen("/etc/passwd", "re")) == NULL)
        return NULL;
    while (next_line(passwd_file, pw_buf, sizeof(pw_buf)) == 1)
        if (parse_passwd(pw_buf, &pw_one))
            return &pw_one;
    return NULL;
}

void endgrent(void)
{
    if (group_file != NULL)
        fclose(group_file);
    group_file = NULL;
}

void setgrent(void)
{
    endgrent();
}

struct group *getgrent(void)
{
    if (group_file == NULL && (group_file = fopen("/etc/group", "re")) == NULL)
        return NULL;
    while (next_line(group_file, gr_buf, sizeof(gr_buf)) == 1)
        if (parse_group(gr_buf, gr_buf + sizeof(gr_buf), &gr_one))
            return &gr_one;
    return NULL;
}

int getgrouplist(const char *name, gid_t gid, gid_t *ids, int *n)
{
    static char buf[8192];
    FILE *f = fopen("/etc/group", "re");
    struct group gr;
    int found = 1;

    if (*n > 0)
        ids[0] = gid;
    while (f != NULL && next_line(f, buf, sizeof(buf)) == 1) {
        if (!parse_group(buf, buf + sizeof(buf), &gr) || gr.gr_gid == gid)
            continue;
        for (char **m = gr.gr_mem; *m != NULL; m++)
            if (strcmp(*m, name) == 0) {
                if (found < *n)
                    ids[found] = gr.gr_gid;
                found++;
                break;
            }
    }
    if (f != NULL)
        fclose(f);
    if (found > *n) {
        *n = found;
        return -1;
    }
    *n = found;
    return found;
}

/* The host tells one group: the effective one. */
int getgroups(int n, gid_t *ids)
{
    if (n < 0)
        return host_result(EINVAL);
    if (n > 0)
        ids[0] = getegid();
    return 1;
}

int setgroups(size_t n, const gid_t *ids)
{
    return n == 1 && ids[0] == getegid() ? 0 : host_result(EPERM);
}

int initgroups(const char *name, gid_t gid)
{
    (void)name;
    return setgroups(1, &gid);
}

int getlogin_r(char *buf, size_t n)
{
    struct passwd pw, *r;
    char text[2048];
    int err = getpwuid_r(getuid(), &pw, text, sizeof(text), &r);

    if (err != 0)
        return err;
    if (r == NULL)
        return ENXIO;
    if (strlen(r->pw_name) >= n)
        return ERANGE;
    strcpy(buf, r->pw_name);
    return 0;
}

char *getlogin(void)
{
    static char name[256];

    return host_result(getlogin_r(name, sizeof(name))) < 0 ? NULL : name;
}
