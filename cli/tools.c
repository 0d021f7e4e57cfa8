/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox tools: every command there is, what runs it, its version, licence and source; and its options. */

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/view.h"
#include "session/session.h"
#include "wasm/wasm.h"
#include "wire/json_object.h"

/* One command: what runs it, and the tool behind it, if any. */
struct row {
    const char *name;
    bool builtin;
    const struct wasm_tool *tool;
};

/* Both lists are sorted by name: the rows are, too. */
static size_t join(const char *const *commands, size_t n_commands, const struct wasm_tool *tools, size_t n_tools,
                   struct row *rows)
{
    size_t n = 0, i = 0, k = 0;
    while (i < n_commands || k < n_tools) {
        int d = i == n_commands ? 1 : k == n_tools ? -1 : strcmp(commands[i], tools[k].name);
        rows[n++] = (struct row){d <= 0 ? commands[i] : tools[k].name, d <= 0, d >= 0 ? &tools[k] : NULL};
        i += d <= 0;
        k += d >= 0;
    }
    return n;
}

static const char *depth(const struct row *r)
{
    return !r->builtin ? "userland" : r->tool ? "builtin, userland" : "builtin";
}

static void put_json(struct buf *out, const struct row *r)
{
    const struct wasm_tool *t = r->tool;
    struct str depths = !r->builtin ? STR("\"userland\"") : t ? STR("\"builtin\"\n\"userland\"") : STR("\"builtin\"");
    const struct json_member m[] = {
        JSON_TEXT("name", str_c(r->name)),
        JSON_LIST("depths", depths),
        JSON_TEXT_OR_NULL("module", str_c(t ? t->module : "")),
        JSON_TEXT("version", str_c(t ? t->version : FRONTAL_VERSION)),
        JSON_TEXT("licence", str_c(t ? t->licence : "Apache-2.0")),
        JSON_TEXT("source", str_c(t ? t->source : "frontal-sandbox")),
    };
    json_object_line(out, m, sizeof(m) / sizeof(m[0]));
}

static void put_text(struct buf *out, struct cli_view *v, const struct row *r)
{
    const struct wasm_tool *t = r->tool;
    cli_put(v, out, CLI_BOLD, r->name, 16);
    cli_put(v, out, CLI_PLAIN, depth(r), 19);
    cli_put(v, out, CLI_PLAIN, t ? t->version : FRONTAL_VERSION, 14);
    cli_put(v, out, CLI_PLAIN, t ? t->licence : "Apache-2.0", 34);
    buf_addc(out, t ? t->source : "frontal-sandbox");
    buf_putc(out, '\n');
}

static int show(bool json, const struct row *rows, size_t n)
{
    struct cli_view v;
    BUF_AUTO struct buf out;
    buf_init(&out, 1u << 20);
    cli_view_init(&v);
    if (!json) {
        cli_put(&v, &out, CLI_DIM, "COMMAND", 16);
        cli_put(&v, &out, CLI_DIM, "DEPTH", 19);
        cli_put(&v, &out, CLI_DIM, "VERSION", 14);
        cli_put(&v, &out, CLI_DIM, "LICENCE", 34);
        cli_put(&v, &out, CLI_DIM, "SOURCE", 0);
        buf_putc(&out, '\n');
    }
    for (size_t i = 0; i < n; i++) {
        if (json)
            put_json(&out, &rows[i]);
        else
            put_text(&out, &v, &rows[i]);
    }
    return cli_print(&out) ? CLI_FAILED : 0;
}

/* ---- --options ---- */

struct option_list {
    struct buf *out;
    struct cli_view *v; /* NULL: JSON */
};

static void put_option(void *arg, const struct session_option *o)
{
    struct option_list *l = arg;
    if (l->v) {
        cli_put(l->v, l->out, CLI_BOLD, o->command, 16);
        cli_put(l->v, l->out, CLI_PLAIN, o->name ? o->name : "", 32);
        cli_put(l->v, l->out, CLI_PLAIN, o->by, 0);
        buf_putc(l->out, '\n');
        return;
    }
    const struct json_member m[] = {
        JSON_TEXT("command", str_c(o->command)),
        JSON_TEXT_OR_NULL("option", str_c(o->name ? o->name : "")),
        JSON_TEXT_OR_NULL("argument", str_c(o->argument ? o->argument : "")),
        JSON_TEXT("by", str_c(o->by)),
        JSON_TEXT_OR_NULL("why", str_c(o->why ? o->why : "")),
    };
    json_object_line(l->out, m, sizeof(m) / sizeof(m[0]));
}

/* Every command and option, and what runs it in a session with the userland. */
static int show_options(bool json)
{
    struct cli_view v;
    BUF_AUTO struct buf out;
    buf_init(&out, 4u << 20);
    cli_view_init(&v);
    struct option_list l = {&out, json ? NULL : &v};
    session_options(put_option, &l);
    return cli_print(&out) ? CLI_FAILED : 0;
}

int cli_tools(int argc, char **argv)
{
    bool json, options = argc > 1 && strcmp(argv[1], "--options") == 0;
    if (options) {
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    int parsed = cli_json_only(argc, argv, &json);
    if (parsed)
        return parsed < 0 ? CLI_FAILED : 0;
    if (options)
        return show_options(json);
    const char *commands[SESSION_COMMANDS];
    struct wasm_tool *tools = NULL;
    size_t n_tools = 0, n_commands = session_commands(commands);
    struct err err = {0};
    FD_AUTO int dir = cli_userland_open();
    int r = wasm_tools_read(dir, &tools, &n_tools, &err);
    if (r && r != -ENOENT)
        return cli_fail(&err);
    MEM_AUTO struct row *rows = mem_alloc((n_commands + n_tools) * sizeof(*rows));
    int status = show(json, rows, join(commands, n_commands, tools, n_tools, rows));
    wasm_tools_free(tools);
    if (r == -ENOENT)
        fputs("frontal-sandbox: the userland is not built: these are the C commands alone; userland/build makes it\n",
              stderr);
    return status;
}
