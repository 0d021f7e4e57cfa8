/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <stdio.h>

static const char help_main[] =
    "Usage: frontal-sandbox VERB [OPTION]... [ARG]...\n"
    "\n"
    "A Linux-like machine for scripts and agents that starts in about a millisecond: a bash-compatible\n"
    "shell and the common commands, on a copy-on-write tree, in a confined process, without network.\n"
    "\n"
    "Verbs:\n"
    "  run      run a script, a command text or a command, and exit with its status\n"
    "  shell    work in a session interactively\n"
    "  attach   a terminal on a session of a server, that can be left and come back to\n"
    "  session  list, show, rename and destroy the sessions that are kept\n"
    "  trace    what was run in a session, what it printed and changed\n"
    "  snapshot keep the state of a session under a name\n"
    "  restore  put a session back to a snapshot, or to what it was after a command\n"
    "  fork     make new sessions that begin where one is\n"
    "  diff     what differs between two sessions, snapshots or moments of a session\n"
    "  merge    do to a session what a fork of it changed\n"
    "  replay   run the log of a session again and compare everything\n"
    "  export   write a session into one file\n"
    "  import   make a session from such a file\n"
    "  store    check what is kept, remove what nothing needs, show sizes\n"
    "  policy   read a policy, show it, and say what it grants, what not and why\n"
    "  serve    the same machine behind an HTTP API: sessions, commands, files, events\n"
    "  keys     make, list and revoke the keys of a server\n"
    "  tools    list every command, what runs it, its version, licence and source\n"
    "  doctor   show what this machine offers and lacks for the sandbox, with remedies\n"
    "\n"
    "Against a server (frontal-sandbox serve) instead of this machine: run, session, trace, snapshot, restore, fork,\n"
    "diff, merge, replay; and only there: attach, and execs SESSION, which lists commands.\n"
    "  --server URL             http://HOST:PORT, https://HOST:PORT or unix:PATH; or set FRONTAL_SANDBOX_URL\n"
    "  --ca FILE                certificates (PEM) to believe; or set FRONTAL_SANDBOX_CA\n"
    "  FRONTAL_SANDBOX_KEY      the key of a server that has keys\n"
    "\n"
    "  --help, VERB --help    this text, or that of a verb\n"
    "  --version              the version\n"
    "\n"
    "Examples:\n"
    "  frontal-sandbox run -c 'echo hello from $(whoami)'\n"
    "  frontal-sandbox run --mount .:/work --workdir /work --diff build.sh\n"
    "  printf 'b\\na\\n' | frontal-sandbox run -- sort\n";

static const char help_options[] =
    "Files:\n"
    "  --mount HOST:GUEST[:ro|cow]  show a host directory (or file) at GUEST. cow, the default, keeps what is\n"
    "                           written in the session; ro refuses writes. The host is never written. Repeatable\n"
    "  --copy-in HOST:GUEST     copy a file or directory into the session first. Repeatable\n"
    "  --copy-out GUEST:HOST    copy it out afterwards, whatever the command's status. Repeatable\n"
    "  --diff[=text]            afterwards, list what changed (A added, M modified, D removed, m mode, owner or "
    "time);\n"
    "                           text: as a unified diff\n"
    "  --apply                  show the changes below the cow mounts and write them back to the host, if the command\n"
    "                           exited with 0 and the host files are still as the session saw them\n"
    "\n"
    "The command's world:\n"
    "  --env NAME=VALUE         set a variable (the host's environment is not passed on). Repeatable\n"
    "  --workdir DIR            start in DIR of the session (default: the user's home)\n"
    "  --user NAME|UID          run as this user of the session (default: user, uid 1000)\n"
    "  --modules own|set        which WebAssembly programs run. own, the default: also files of the session that are "
    "WASI\n"
    "                           modules; each is compiled in a confined process of its own, once for this user. set: "
    "only\n"
    "                           the userland's; the worker then forbids itself new machine code when those are loaded\n"
    "  --policy FILE            what the session may do (see frontal-sandbox policy --help): programs, mounts, "
    "limits, modules;\n"
    "                           without it everything that the other options ask for\n"
    "\n"
    "Limits:\n"
    "  --timeout TIME           end the command after TIME (10s, 1.5m, 200ms; a bare number is seconds): status 124\n"
    "  --limit NAME=VALUE       memory, output, files, trace (sizes: 64M), inodes, processes (numbers), cpu (a time).\n"
    "                           Repeatable. A command that meets a limit is killed: status 137, the reason is "
    "printed.\n"
    "                           trace (1G): of the log of a session; once it is reached no command begins: status 125\n"
    "\n"
    "Results:\n";

static const char help_keep[] =
    "A session that is kept (see frontal-sandbox session --help):\n"
    "  --session NAME           go on with the session NAME, or make it: files, the shell's variables, functions, "
    "options\n"
    "                           and directory stay from run to run (-c and standard input; a SCRIPT or a COMMAND gets "
    "the\n"
    "                           directory and what is exported, and changes neither). Everything is recorded. Mounts,\n"
    "                           user and modules are those it was made with; --limit holds for this run. --diff and "
    "--apply are\n"
    "                           about this run; frontal-sandbox diff NAME@0 NAME shows everything. A mount's listings\n"
    "                           are kept as they were first seen; bytes of files are read when asked. A run waits up "
    "to\n"
    "                           5 s while another one is in the session. What runs in the background ends with the "
    "run\n"
    "  --state DIR              the state directory (default: $FRONTAL_SANDBOX_STATE, then\n"
    "                           $XDG_STATE_HOME/frontal-sandbox, then ~/.local/state/frontal-sandbox)\n"
    "  --durable                answer when the record is on the disk, so that loss of power loses nothing\n"
    "  --secret NAME[=VALUE]    as --env, but masked in the record (VALUE from our own environment when left out)\n"
    "\n";

static const char help_run[] =
    "Usage: frontal-sandbox run [OPTION]... SCRIPT [ARG]...           a script file of the host\n"
    "       frontal-sandbox run [OPTION]... -c TEXT [NAME [ARG]...]   a command text, as bash -c\n"
    "       frontal-sandbox run [OPTION]... -- COMMAND [ARG]...       a command, without shell syntax\n"
    "       frontal-sandbox run [OPTION]...                           a script on standard input\n"
    "\n"
    "Run a command in a new session, or one that is kept, and exit with its status. Input, output and errors pass "
    "through as bytes.\n"
    "\n";

static const char help_run_results[] =
    "  --json[=FILE]            print one object (status, exit_code, signal, reason, tier, root, usage, stdout, "
    "stderr)\n"
    "                           instead of the streams; with =FILE the streams pass and the object goes there;\n"
    "                           when nothing could be run, status is error and error says why\n"
    "  --quiet                  no notes of the sandbox's own on standard error\n"
    "\n"
    "Exit status: the command's; 124 timeout; 125 the sandbox itself failed or the command line is wrong;\n"
    "126 and 127 as shells give them; 128+N ended by signal N (a limit: 137). --json tells them apart.\n";

static const char help_shell[] = "Usage: frontal-sandbox shell [OPTION]...\n"
                                 "\n"
                                 "Work in a new session, or one that is kept, at a prompt: line editing, history, "
                                 "completion with Tab, job control.\n"
                                 "^C ends the running command, ^D or exit ends the session.\n"
                                 "\n";

static const char help_shell_results[] =
    "  --quiet                  no notes of the sandbox's own on standard error\n"
    "\n"
    "Exit status: that of the last command; 125 the sandbox itself failed or the command line is wrong.\n";

static const char help_doctor[] =
    "Usage: frontal-sandbox doctor [--json]\n"
    "\n"
    "Show what this machine offers and lacks for the sandbox, one line each, with the remedy. A worker is\n"
    "started to see what really confines it.\n"
    "\n"
    "Exit status: 0 everything that matters is there, 1 something that matters is missing, 125 no worker can run.\n";

static const char help_policy[] =
    "Usage: frontal-sandbox policy show [--policy FILE] [--json]         all its rules\n"
    "       frontal-sandbox policy check --policy FILE                   only whether it can be read\n"
    "       frontal-sandbox policy explain [--policy FILE] [--json] QUESTION\n"
    "\n"
    "A policy is a file of rules, one a line, or of the same as JSON (policy show --json prints it). A kind of rule\n"
    "that the file does not mention is as in the default, which is shown without --policy; a kind that it mentions is\n"
    "replaced. A deny wins over every allow, and what no rule grants is refused.\n"
    "\n"
    "  verb exec                  verbs of the API\n"
    "  tier isolate               depths that may run a command: isolate, vm\n"
    "  command allow py*          programs, by name or by how it begins. The shell's own commands are none\n"
    "  command deny git\n"
    "  mount cow /srv/work        host directories that may be mounted, and what is below: ro, or cow\n"
    "  network allow tcp:*.example.com:443\n"
    "  network deny 10.0.0.0/8    [tcp:|udp:]HOST[:PORT[-PORT]], HOST a name, *.SUFFIX, *, IPv4[/N] or [IPv6[/N]].\n"
    "                             Read and explained; this version has no network at all\n"
    "  limit memory 512M          the most of a limit\n"
    "  modules set                own: WebAssembly modules of the session's own may run; set: only the userland's\n"
    "\n"
    "  --policy FILE   read FILE over the default (-: standard input). Repeatable, each over those before\n"
    "  --json          print JSON\n"
    "\n"
    "QUESTION is 'command git', 'verb fork', 'tier vm', 'mount cow /srv', 'network example.com:443',\n"
    "'limit memory 2G' or 'modules own'. The answer names the rules that decide, and the smallest change that would\n"
    "grant what is refused.\n"
    "\n"
    "Exit status: 0; of explain 1 when it is refused; 125 the policy or the command line is wrong.\n";

static const char help_serve[] =
    "Usage: frontal-sandbox serve [OPTION]...\n"
    "\n"
    "Serve sessions over HTTP (docs/api.md). Sessions lie in the state directory, the command line's too.\n"
    "\n"
    "  --listen ADDRESS:PORT    where to listen (127.0.0.1:7070; port 0: a free one); [ADDRESS]:PORT for IPv6, or\n"
    "           unix:PATH       a Unix socket. Without keys (keys --help) only loopback addresses and Unix sockets\n"
    "  --state DIR              the state directory (as run --session has it)\n"
    "  --workers N              worker processes, at most (default: as many as processors, at most 4)\n"
    "  --drain TIME             how long to wait for what runs after SIGTERM (30s); a second SIGTERM ends the wait\n"
    "  --tls-cert FILE          speak https: the certificate and those that signed it (PEM), and\n"
    "  --tls-key FILE           its key, which others must not be able to read. SIGHUP reads both anew\n"
    "  --config FILE            read settings from lines NAME = VALUE, named as the options; an option goes over them\n"
    "  --trace-retention TIME   how long the log of a session that was deleted can be read (7d); 0: not at all\n"
    "  --quiet                  no line for each request on standard error\n"
    "\n"
    "Started by systemd, it takes the socket of a socket unit and tells when it is ready (docs/service.md).\n"
    "\n"
    "  curl -X POST localhost:7070/v1/sessions -d '{\"name\":\"demo\"}'\n"
    "  curl -X POST localhost:7070/v1/sessions/demo/exec -d '{\"command\":\"echo hello\"}'\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT; 125 it could not listen or start a worker.\n";

static const char help_keys[] =
    "Usage: frontal-sandbox keys create [--tenant NAME] [--name TEXT] [--capabilities LIST]\n"
    "       frontal-sandbox keys list\n"
    "       frontal-sandbox keys revoke ID\n"
    "\n"
    "Keys of frontal-sandbox serve. create prints the key, once: only its hash is kept. A client sends it as\n"
    "Authorization: Bearer KEY. Once there is a key, every request needs one, and the server may listen beyond\n"
    "loopback. A running server takes changes within a second or two.\n"
    "\n"
    "  --tenant NAME            whose it is (local): tenants have sessions, state and workers of their own\n"
    "  --name TEXT              what it is for\n"
    "  --capabilities LIST      all, or some of sessions.read, sessions.write, exec, fs.read, fs.write, state, trace,\n"
    "                           metrics, between commas\n"
    "  --state DIR              the server's state directory\n"
    "  --json                   answer with one JSON object; list gives one a line\n"
    "\n"
    "Exit status: 0, or 125.\n";

static const char help_tools[] =
    "Usage: frontal-sandbox tools [--options] [--json]\n"
    "\n"
    "List every command of a session beside the shell's own: its depth (builtin: a C command; userland: the real\n"
    "program, compiled to WebAssembly), its version, licence and source. A C command that lacks an option hands\n"
    "over to the userland's program of its name. --json prints one object a line.\n"
    "--options lists every command and option, and what runs it where the userland is built: builtin, userland,\n"
    "nobody (it is refused by name), or a whole machine.\n"
    "\n"
    "Exit status: 0, or 125.\n";

#define HELP_SERVER                                                                                                    \
    "  --server URL             http://HOST:PORT, https://HOST:PORT or unix:PATH; or set FRONTAL_SANDBOX_URL\n"        \
    "  --ca FILE                certificates (PEM) to believe; or set FRONTAL_SANDBOX_CA\n"

static const char help_attach[] =
    "Usage: frontal-sandbox attach [OPTION]... SESSION\n"
    "\n"
    "Work at a terminal in a session of a server (frontal-sandbox serve): an interactive bash is begun there, whose\n"
    "terminal has the size of this one. ^P ^Q leaves it running and says how to attach to it again. When the\n"
    "connection breaks, it is made again; nothing that was printed or typed is lost or comes twice.\n"
    "\n"
    "  --exec ID                attach to this command, which runs (execs lists them), instead; what it has\n"
    "                           printed is shown first\n" HELP_SERVER
    "  FRONTAL_SANDBOX_KEY      the key of a server that has keys\n"
    "  --help                   this text\n"
    "\n"
    "When standard input is no terminal, it is the input of the command to its end, and a bash that is begun has no\n"
    "terminal either. INT and QUIT are sent to the command; TERM and HUP leave it running.\n"
    "\n"
    "Examples:\n"
    "  frontal-sandbox attach --server http://localhost:7070 demo\n"
    "  frontal-sandbox attach --exec exec_5tv1w6q8m2x3 demo\n"
    "\n"
    "Exit status: that of the command, 128+n when signal n ended it; 0 when it was left by ^P ^Q, 128+n by signal n;\n"
    "125 when it failed or the command line is wrong.\n";

static const char help_execs[] =
    "Usage: frontal-sandbox execs [OPTION]... SESSION\n"
    "\n"
    "List the commands of a session of a server: id, how each ended, when it began, how long it took.\n"
    "\n" HELP_SERVER "  FRONTAL_SANDBOX_KEY      the key of a server that has keys\n"
    "  --json                   one JSON object a line\n"
    "  --help                   this text\n"
    "\n"
    "Exit status: 0; 125 when it failed or the command line is wrong.\n";

void cli_help(const char *verb)
{
    const char *kept = verb ? cli_help_state(verb) : NULL;
    if (!verb) {
        fputs(help_main, stdout);
    } else if (kept) {
        fputs(kept, stdout);
    } else if (strcmp(verb, "run") == 0) {
        fputs(help_run, stdout);
        fputs(help_keep, stdout);
        fputs(help_options, stdout);
        fputs(help_run_results, stdout);
    } else if (strcmp(verb, "shell") == 0) {
        fputs(help_shell, stdout);
        fputs(help_keep, stdout);
        fputs(help_options, stdout);
        fputs(help_shell_results, stdout);
    } else if (strcmp(verb, "attach") == 0) {
        fputs(help_attach, stdout);
    } else if (strcmp(verb, "execs") == 0) {
        fputs(help_execs, stdout);
    } else if (strcmp(verb, "policy") == 0) {
        fputs(help_policy, stdout);
    } else if (strcmp(verb, "serve") == 0) {
        fputs(help_serve, stdout);
    } else if (strcmp(verb, "keys") == 0) {
        fputs(help_keys, stdout);
    } else if (strcmp(verb, "tools") == 0) {
        fputs(help_tools, stdout);
    } else {
        fputs(help_doctor, stdout);
    }
}
