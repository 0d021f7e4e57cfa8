/* SPDX-License-Identifier: Apache-2.0 */

/* The help of the verbs about kept state. */

#include "cli/cli.h"

#define COMMON                                                                                                         \
    "  --state DIR              the state directory (default: $FRONTAL_SANDBOX_STATE, then\n"                          \
    "                           $XDG_STATE_HOME/frontal-sandbox, then ~/.local/state/frontal-sandbox)\n"               \
    "  --json                   answer with one JSON object; lists give one a line\n"                                  \
    "  --help                   this text\n"                                                                           \
    "\n"

#define PLACES                                                                                                         \
    "SESSION is the name or the id (sbx_...) of a session. @SEQ is the number of an event as trace shows it: the\n"    \
    "state after that command; @0 is the state the session began with.\n"                                              \
    "\n"

#define COLOURS                                                                                                        \
    "Colours and relative times are for a terminal only; NO_COLOR switches colours off.\n"                             \
    "\n"

static const char session[] =
    "Usage: frontal-sandbox session list [OPTION]...\n"
    "       frontal-sandbox session show [OPTION]... SESSION\n"
    "       frontal-sandbox session rename [OPTION]... SESSION NAME\n"
    "       frontal-sandbox session destroy [OPTION]... SESSION...\n"
    "\n"
    "A session that is kept is a log of everything that was run in it and the files as they are after each command.\n"
    "frontal-sandbox run --session NAME makes one and goes on with it.\n"
    "\n"
    "  list      a line each: name, id, events in its log, when the last one was written\n"
    "  show      all that is known about one: where it comes from, its state, its snapshots, its configuration\n"
    "  rename    give another name: 1 to 64 of A-Z a-z 0-9 . _ -\n"
    "  destroy   end sessions: log, name and snapshots are gone at once, the room of their files after store gc.\n"
    "            Refused while a command runs in it\n"
    "\n" COMMON COLOURS "Examples:\n"
    "  frontal-sandbox session list\n"
    "  frontal-sandbox session show --json build | jq .root\n"
    "  frontal-sandbox session destroy try-1 try-2\n"
    "\n"
    "Exit status: 0; 125 when it failed or the command line is wrong.\n";

static const char trace[] =
    "Usage: frontal-sandbox trace [OPTION]... SESSION\n"
    "\n"
    "Show what was run in a session, a line for each command: @number, when it began, how it ended, how long it took,\n"
    "how many files it changed (+added -removed ~changed), and its text, cut to the width of the terminal. The number\n"
    "names the state after the command for restore and fork.\n"
    "\n"
    "  --files                  below each command, the files that it changed\n"
    "  --output                 below each command, what it printed (standard errors are marked)\n"
    "  --follow                 go on with what is run from now on, until interrupted or the session is destroyed\n"
    "  --verify                 show nothing of it; verify the whole log: each event is bound to all before it, so a\n"
    "                           flipped bit, a removed or an exchanged event is found; a torn tail, which a killed\n"
    "                           process or a loss of power leaves, is told and no damage: the next run cuts it\n" COMMON
    "With --json each event of the log is an object on a line of its own, whether it belongs to a command or not.\n"
    "\n" COLOURS "Examples:\n"
    "  frontal-sandbox trace build\n"
    "  frontal-sandbox trace --files --output build | less\n"
    "  frontal-sandbox trace --json --follow build | jq -r 'select(.type == \"exec\") | .text'\n"
    "\n"
    "Exit status: 0; 1 the log is damaged; 125 when it failed or the command line is wrong.\n";

static const char snapshot[] =
    "Usage: frontal-sandbox snapshot [OPTION]... [--name NAME] SESSION\n"
    "       frontal-sandbox snapshot list [OPTION]... [SESSION]\n"
    "       frontal-sandbox snapshot delete [OPTION]... SESSION SNAPSHOT\n"
    "\n"
    "Keep the state of a session, files and shell, as it is after its last command. The files are stored already, so\n"
    "it costs a name, whatever their size. It can be restored (restore) and forked (fork SESSION:NAME) until it is\n"
    "deleted or its session is destroyed. Refused while a command runs in the session.\n"
    "\n"
    "  --name NAME              its name within the session; without it has its id (snap_...) only\n"
    "  list                     the snapshots of a session, or all: the oldest first\n"
    "  delete                   forget one; the room of what only it held is free after store gc\n" COMMON
    "A session that is called list or delete is named by its id here.\n"
    "\n"
    "It prints the id, the root hash (equal files have equal roots), the size of the files, how much had to be\n"
    "written for it, and when.\n"
    "\n" COLOURS "Examples:\n"
    "  frontal-sandbox snapshot build --name clean\n"
    "  frontal-sandbox snapshot list build\n"
    "  frontal-sandbox restore build clean\n"
    "\n"
    "Exit status: 0; 125 when it failed or the command line is wrong.\n";

static const char restore[] = "Usage: frontal-sandbox restore [OPTION]... SESSION SNAPSHOT\n"
                              "       frontal-sandbox restore [OPTION]... SESSION @SEQ\n"
                              "\n"
                              "Put a session back to a snapshot of it, or to what it was after a command. Nothing is "
                              "lost: the log goes on, with\n"
                              "an event that tells of it, and what was there before can be restored in the same way. "
                              "Refused while a command runs\n"
                              "in the session.\n"
                              "\n" PLACES COMMON "Examples:\n"
                              "  frontal-sandbox restore build clean\n"
                              "  frontal-sandbox restore build @12\n"
                              "\n"
                              "Exit status: 0; 125 when it failed or the command line is wrong.\n";

static const char replay_help[] =
    "Usage: frontal-sandbox replay [OPTION]... SESSION|FILE\n"
    "\n"
    "Run again what the log of a session recorded (or of FILE, made by export), and compare every output, status, "
    "shell\n"
    "state, process number and root hash. Clocks, entropy, input and signals are those of the record, and no time "
    "passes.\n"
    "Nothing is changed: neither the session nor the host.\n"
    "\n"
    "A line a command: its place, equal, differs or left out, and its text. Under one that differs stand the first "
    "thing\n"
    "that did, and both sides; under one that is left out, why it cannot be replayed exactly.\n"
    "\n"
    "  --from @SEQ              begin with the command at this place of the log\n"
    "  --quiet                  only what is not equal, and the sum\n" COMMON COLOURS
    "Exit status: 0 nothing differs, 1 something does, 125 it could not be replayed.\n"
    "\n"
    "Examples:\n"
    "  frontal-sandbox replay build\n"
    "  frontal-sandbox replay --from @40 --quiet build.fsb\n";

static const char fork_help[] =
    "Usage: frontal-sandbox fork [OPTION]... SESSION[@SEQ] NEW\n"
    "       frontal-sandbox fork [OPTION]... SESSION:SNAPSHOT NEW\n"
    "\n"
    "Make a session NEW that begins with the state of another: as it is, as it was after a command, or a snapshot of\n"
    "it. It costs the same whatever the size of the files and the length of the log; what the two share is kept once.\n"
    "\n" PLACES "  --count N                make N of them, NEW-1 to NEW-N; all or none\n" COMMON
    "A fork shares files and shell state with its origin, and nothing that would make two sessions one: the reply\n"
    "lists what begins anew. These are its ids, entropy ($RANDOM, /dev/urandom), the clock, streams and jobs.\n"
    "\n"
    "Examples:\n"
    "  frontal-sandbox fork build try\n"
    "  frontal-sandbox fork build@12 try --count 8\n"
    "  frontal-sandbox fork build:clean again\n"
    "\n"
    "Exit status: 0; 125 when it failed or the command line is wrong.\n";

static const char diff[] =
    "Usage: frontal-sandbox diff [OPTION]... A B [PATH]...\n"
    "\n"
    "Show what differs between two states, from A to B: a letter and a path a line, A added, M modified, D removed,\n"
    "m mode, owner, time or hard links. A renamed file is removed and added. With PATHs only what lies at or below\n"
    "them. A and B are SESSION, SESSION@SEQ, SESSION:SNAPSHOT, or a snapshot.\n"
    "\n" PLACES
    "  --text                   as a unified diff; files that are no text, or above 4 MiB, are only named\n" COMMON
    "The cost follows what differs, not the size of the files, when A and B have a common past. What a mount shows of\n"
    "the host is not kept: there, only what the session wrote counts, and a name is added where A had not listed its\n"
    "directory.\n"
    "\n"
    "Examples:\n"
    "  frontal-sandbox diff build@0 build\n"
    "  frontal-sandbox diff --text build:clean build /home/user/src\n"
    "  frontal-sandbox diff --json build try | jq -r .path\n"
    "\n"
    "Exit status: 0 equal; 1 they differ; 125 when it failed or the command line is wrong.\n";

static const char merge[] =
    "Usage: frontal-sandbox merge [OPTION]... FORK[@SEQ] ORIGIN\n"
    "\n"
    "Do to the session ORIGIN what FORK changed since it began: all of it, or nothing when there is a conflict. Both\n"
    "may have gone on meanwhile. Files, symlinks and modes are merged as git does: what one side changed is taken,\n"
    "text that both changed is merged by lines, and the same change on both sides is one change. In conflict is what\n"
    "both changed in the same place, changed and removed, or made into things of different types. Renames are\n"
    "removals and additions. The shell of ORIGIN stays as it is. Refused while a command runs in ORIGIN.\n"
    "\n"
    "It prints what changed in ORIGIN (as diff does), or a line for each conflict: C PATH: what.\n"
    "\n" PLACES "  --dry-run                only say what would change, or the conflicts\n" COMMON "Examples:\n"
    "  frontal-sandbox fork build try && frontal-sandbox run --session try -- make\n"
    "  frontal-sandbox merge --dry-run try build\n"
    "  frontal-sandbox merge try build && frontal-sandbox session destroy try\n"
    "\n"
    "A merge is an event of ORIGIN's log; restore ORIGIN @SEQ, with the event before it, takes it back.\n"
    "\n"
    "Exit status: 0 merged; 1 conflicts, and nothing was changed; 125 when it failed or the command line is wrong.\n";

static const char export_help[] =
    "Usage: frontal-sandbox export [OPTION]... SESSION FILE\n"
    "\n"
    "Write a session into one file that import reads on any machine: its log, its snapshots, and all the files that\n"
    "they name. FILE appears when it is whole, and not before; - is standard output. It is not compressed: pipe it\n"
    "through zstd or xz. A session may be in use meanwhile: what had ended when it began is in the file.\n"
    "\n" COMMON "Examples:\n"
    "  frontal-sandbox export build build.fsb\n"
    "  frontal-sandbox export build - | zstd > build.fsb.zst\n"
    "\n"
    "Exit status: 0; 125 when it failed or the command line is wrong.\n";

static const char import_help[] =
    "Usage: frontal-sandbox import [OPTION]... FILE\n"
    "\n"
    "Make a session from a file that export wrote; - is standard input. It has the log of the one that was exported "
    "and\n"
    "goes on from its state, with an id of its own. Everything is verified before it is visible: the file as a whole,\n"
    "each blob by its hash, each event by the chain of the log, that nothing is missing, and the tree of the last "
    "state.\n"
    "When anything is wrong no session is made, and the room it took is free after store gc.\n"
    "\n"
    "  --name NAME              its name (default: the one it was exported with)\n"
    "  --mounts                 take a session that has directories of the host mounted: it gets those of this\n"
    "                           machine when it is used. Only for files you trust\n" COMMON "Examples:\n"
    "  frontal-sandbox import build.fsb --name build-copy\n"
    "  zstd -dc build.fsb.zst | frontal-sandbox import -\n"
    "\n"
    "Exit status: 0; 1 the file is damaged or not whole; 125 when it failed or the command line is wrong.\n";

static const char store[] =
    "Usage: frontal-sandbox store fsck [OPTION]...\n"
    "       frontal-sandbox store gc [OPTION]... [--dry-run]\n"
    "       frontal-sandbox store stat [OPTION]...\n"
    "\n"
    "All sessions keep their files in one store, each different piece once.\n"
    "\n"
    "  fsck      read and verify everything: each piece of the store by its hash, each log, each snapshot, and that\n"
    "            all they name is there. What is damaged or missing is listed with who needs it: session, event, what\n"
    "            it is, and the paths of files that cannot be read\n"
    "  gc        remove what no session and no snapshot needs, beside sessions that are in use. Refused while\n"
    "            something that says what is needed is damaged\n"
    "  stat      how much there is\n"
    "\n"
    "  --dry-run                gc: only say what would be removed\n" COMMON "Examples:\n"
    "  frontal-sandbox store fsck\n"
    "  frontal-sandbox store gc --dry-run\n"
    "\n"
    "Exit status: 0; 1 fsck found damage; 125 when it failed or the command line is wrong.\n";

const char *cli_help_state(const char *verb)
{
    static const struct {
        const char *verb, *text;
    } all[] = {
        {"session", session},    {"trace", trace}, {"snapshot", snapshot},  {"restore", restore},
        {"fork", fork_help},     {"diff", diff},   {"merge", merge},        {"export", export_help},
        {"import", import_help}, {"store", store}, {"replay", replay_help},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(verb, all[i].verb) == 0)
            return all[i].text;
    }
    return NULL;
}
