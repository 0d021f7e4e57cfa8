/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox policy show|check|explain, and --policy of run and shell. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/view.h"
#include "types/errtab.h"
#include "vfs/vfs.h"
#include "wire/json_policy.h"
#include "wire/json_write.h"

/* ---- reading ---- */

/* Rules, or JSON when the first byte that is no blank opens an object. */
static int read_text(struct str text, struct policy *p, struct err *err)
{
    size_t i = 0;
    while (i < text.n && strchr(" \t\r\n", text.p[i]) && text.p[i])
        i++;
    return i < text.n && text.p[i] == '{' ? json_policy_read(text, p, err) : policy_parse(p, text, err);
}

int cli_policy_read(const char *path, struct policy *p, struct err *err)
{
    BUF_AUTO struct buf text;
    buf_init(&text, LIMIT_POLICY_TEXT);
    bool std_in = strcmp(path, "-") == 0;
    FD_AUTO int fd = std_in ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : fd_read_all(fd, &text);
    if (r == -EFBIG)
        return err_set(err, -E2BIG, "%s: a policy has at most %u bytes", path, LIMIT_POLICY_TEXT);
    if (r)
        return err_set(err, r, "%s: %s", path, errtab_text(r));
    r = read_text(buf_str(&text), p, err);
    return r < 0 ? err_wrap(err, r, "%s", path) : 0;
}

/* ---- run and shell ---- */

static int refused(const struct policy *p, const char *ask, struct err *err)
{
    BUF_AUTO struct buf rules, change;
    buf_init(&rules, LIMIT_POLICY_TEXT);
    buf_init(&change, LIMIT_POLICY_TEXT);
    struct policy_answer a = {.rules = &rules, .change = &change};
    if (policy_explain(p, str_c(ask), &a, err) || a.allowed)
        return 0;
    char *nl = strchr(change.p, '\n');
    if (nl)
        *nl = 0;
    return err_set(err, -EPERM, "the policy does not grant '%s'; it would by: %s", ask, change.p);
}

static int check_mount(const struct cli_mount *m, const struct policy *p, struct err *err)
{
    bool cow = !(m->flags & VFS_MOUNT_RO);
    MEM_AUTO char *host = cli_real_path(m->host);
    if (!host)
        return err_set(err, -errno, "%s: %s", m->host, errtab_text(errno));
    if (policy_mount(p, str_c(host), cow))
        return 0;
    return err_set(err, -EPERM, "--mount: the policy does not grant '%s'; it would by: add mount %s %s", m->host,
                   cow ? "cow" : "ro", host);
}

int cli_policy_apply(struct cli_options *o, struct err *err)
{
    const struct policy *p = o->policy;
    int r = 0;
    if (!p)
        return 0;
    r = refused(p, "verb exec", err);
    if (r == 0)
        r = refused(p, "tier isolate", err);
    for (uint32_t i = 0; i < o->n_mounts && r == 0; i++)
        r = check_mount(&o->mounts[i], p, err);
    if (r == 0 && o->modules && cli_own_modules(o))
        r = refused(p, "modules own", err);
    for (uint32_t i = 0; i < o->n_limit_args && r == 0; i++) {
        char ask[256];
        snprintf(ask, sizeof(ask), "limit %.*s %.*s", (int)o->limit_args[i].name.n, o->limit_args[i].name.p,
                 (int)o->limit_args[i].value.n, o->limit_args[i].value.p);
        r = refused(p, ask, err);
    }
    /* What was not asked for is as much as the policy grants. */
    struct limits have = o->limits;
    const char *name;
    uint64_t v, most;
    for (size_t i = 0; r == 0 && (name = limits_at(&have, i, &v)); i++) {
        char text[32];
        limits_at(&p->limits, i, &most);
        limits_text(&p->limits, i, text);
        if (most < v)
            r = limits_set(&o->limits, str_c(name), str_c(text));
    }
    if (!p->own_modules)
        o->modules = "set";
    return r;
}

int cli_policy_set(struct cli_options *o, const char *path)
{
    struct err err = {0};
    if (!o->policy) {
        o->policy = mem_zalloc(sizeof(*o->policy));
        policy_init(o->policy);
    }
    if (cli_policy_read(path, o->policy, &err) == 0)
        return 0;
    cli_error("--policy: %s", err.text);
    return -EINVAL;
}

int cli_policy_line(struct cli_options *o, struct str rule)
{
    if (!o->policy) {
        o->policy = mem_zalloc(sizeof(*o->policy));
        o->policy->limits = limits_default();
    }
    return policy_add_line(o->policy, rule, NULL);
}

/* ---- the verb ---- */

static const struct option long_options[] = {{"policy", required_argument, NULL, 'p'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static int show(const struct policy *p, bool json)
{
    BUF_AUTO struct buf out;
    buf_init(&out, 4u << 20);
    if (!json)
        policy_format(p, &out);
    else if (json_policy_write(&out, p))
        return CLI_FAILED;
    return cli_print(&out) ? CLI_FAILED : 0;
}

/* The lines of @text as a list. */
static void put_lines(struct json_writer *w, const char *key, struct str text)
{
    json_begin(w, key, '[');
    while (text.n) {
        size_t end = (size_t)str_find(text, '\n', 0);
        json_text(w, NULL, str_of(text.p, end));
        text = str_from(text, end + 1);
    }
    json_end(w, ']');
}

static void indent(struct buf *out, const char *head, struct str text)
{
    while (text.n) {
        size_t end = (size_t)str_find(text, '\n', 0);
        buf_addf(out, "%s%.*s\n", head, (int)end, text.p);
        text = str_from(text, end + 1);
    }
}

static int explain(const struct policy *p, struct str ask, bool json)
{
    struct err err = {0};
    BUF_AUTO struct buf rules, change, out;
    buf_init(&rules, LIMIT_POLICY_TEXT);
    buf_init(&change, LIMIT_POLICY_TEXT);
    buf_init(&out, 4u << 20);
    struct policy_answer a = {.rules = &rules, .change = &change};
    if (policy_explain(p, ask, &a, &err)) {
        cli_error("%s", err.text);
        return CLI_FAILED;
    }
    /* No part of this version has a network, whatever a policy grants. */
    bool network = a.allowed && str_starts(ask, STR("network "));
    const char *note = network ? "this version has no network: nothing is connected" : "";
    if (json) {
        struct json_writer w = {.out = &out};
        json_begin(&w, NULL, '{');
        json_text(&w, "ask", ask);
        json_bool(&w, "allowed", a.allowed);
        put_lines(&w, "rules", buf_str(&rules));
        put_lines(&w, "change", buf_str(&change));
        json_text_or_null(&w, "note", str_c(note));
        json_end(&w, '}');
        buf_putc(&out, '\n');
    } else {
        buf_addf(&out, "%.*s: %s\n", (int)ask.n, ask.p, a.allowed ? "granted" : "refused");
        indent(&out, "  by: ", buf_str(&rules));
        if (!a.allowed && rules.n == 0)
            buf_addc(&out, "  no rule grants it\n");
        indent(&out, "  to grant it: ", buf_str(&change));
        if (*note)
            buf_addf(&out, "  %s\n", note);
    }
    return cli_print(&out) ? CLI_FAILED : a.allowed ? 0 : 1;
}

/* What is left of the command line, apart by blanks. */
static void join(struct buf *out, int argc, char **argv)
{
    buf_init(out, LIMIT_ARGS);
    for (int i = 0; i < argc; i++)
        buf_addf(out, "%s%s", i ? " " : "", argv[i]);
}

static int carry_out(const struct policy *p, const char *action, bool json, int argc, char **argv)
{
    if (strcmp(action, "show") == 0 || strcmp(action, "check") == 0) {
        if (argc > 0) {
            cli_error("policy %s: takes no argument '%s' (a file is given with --policy FILE)", action, argv[0]);
            return CLI_FAILED;
        }
        return *action == 's' ? show(p, json) : 0;
    }
    if (strcmp(action, "explain") != 0) {
        cli_error("policy: there is no action '%s' (show, check, explain)", action);
        return CLI_FAILED;
    }
    BUF_AUTO struct buf ask;
    join(&ask, argc, argv);
    return explain(p, buf_str(&ask), json);
}

int cli_policy(int argc, char **argv)
{
    struct policy p;
    struct err err = {0};
    bool json = false, bad = false;
    int code;
    static char name[] = "frontal-sandbox";
    argv[0] = name;
    policy_init(&p);
    optind = 1;
    while ((code = getopt_long(argc, argv, "", long_options, NULL)) != -1 && !bad) {
        if (code == 'h') {
            cli_help("policy");
            policy_done(&p);
            return 0;
        }
        json = json || code == 'j';
        bad = code == '?';
        if (code == 'p' && cli_policy_read(optarg, &p, &err)) {
            cli_error("--policy: %s", err.text);
            bad = true;
        }
    }
    if (!bad && optind == argc) {
        cli_error("policy: an action is missing: show, check or explain (see frontal-sandbox policy --help)");
        bad = true;
    }
    int status = bad ? CLI_FAILED : carry_out(&p, argv[optind], json, argc - optind - 1, argv + optind + 1);
    policy_done(&p);
    return status;
}
