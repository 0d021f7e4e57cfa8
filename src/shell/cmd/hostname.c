/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include "shell/cmd/system.h"

/* Debian's hostname: not of GNU, and its messages are its own. */
static int hostname_main(struct cmd *c)
{
    static const char known[] = "aAdfbFiIy";
    bool is_short = false, address = false;
    for (int i = 1; i < c->argc; i++) {
        const char *w = c->argv[i];
        if (strcmp(w, "--help") == 0 || strcmp(w, "-h") == 0) {
            cmd_puts(c, c->def->usage);
            cmd_puts(c, c->def->help);
            return 0;
        }
        if (strcmp(w, "--version") == 0 || strcmp(w, "-V") == 0) {
            cmd_printf(c, "hostname (Frontal Sandbox) %s\n", FRONTAL_VERSION);
            return 0;
        }
        if (strcmp(w, "-s") == 0 || strcmp(w, "--short") == 0) {
            is_short = true;
            continue;
        }
        if (strcmp(w, "-I") == 0 || strcmp(w, "--all-ip-addresses") == 0) {
            address = true;
            continue;
        }
        if (w[0] == '-' && w[1] == '-' && w[2])
            return cmd_refuse(c, "option '%s' is not implemented here", w);
        if (w[0] == '-' && w[1]) {
            if (strchr(known, w[1]))
                return cmd_refuse(c, "option '-%c' is not implemented here", w[1]);
            cmd_err(c, "invalid option -- '%c'", w[1]);
            cmd_puts(c, c->def->usage);
            return 255;
        }
        if (c->p->cred.uid != 0) {
            cmd_err(c, "you must be root to change the host name");
            return 1;
        }
        return cmd_refuse(c, "setting the host name is not implemented here");
    }
    if (address) { /* of interfaces other than the loopback: there are none */
        cmd_putc(c, '\n');
        return 0;
    }
    const char *name = system_hostname(c);
    cmd_write(c, name, is_short ? strcspn(name, ".") : strlen(name));
    cmd_putc(c, '\n');
    return 0;
}

CMD(hostname, hostname_main, 1, "Usage: hostname [-s | -I]\n",
    "  -s, --short             up to the first dot\n"
    "  -I, --all-ip-addresses  addresses but those of this machine alone: none\n");
