# SPDX-License-Identifier: Apache-2.0
# What git's Makefile is told of the target; recipes/git copies this into the source as config.mak.
prefix = /usr
gitexecdir = /usr/lib/git-core
template_dir = /usr/share/git-core/templates
sysconfdir = /etc
mandir = /usr/share/man
SHELL_PATH = /bin/sh
SANE_TOOL_PATH =
DEFAULT_PAGER = less
HOST_CPU = wasm32
CSPRNG_METHOD = getentropy
FREAD_READS_DIRECTORIES = UnfortunatelyYes
HAVE_CLOCK_GETTIME = YesPlease
HAVE_CLOCK_MONOTONIC = YesPlease
HAVE_GETDELIM = YesPlease
HAVE_STRINGS_H = YesPlease
# One thread and no mapping of files; git has its own ways around both.
NO_PTHREADS = YesPlease
NO_MMAP = YesPlease
# No network in the sandbox, but through its host; git clone of an URL says that the helper is missing.
NO_CURL = YesPlease
NO_EXPAT = YesPlease
NO_OPENSSL = YesPlease
NO_UNIX_SOCKETS = YesPlease
# What would need another language at run time.
NO_GETTEXT = YesPlease
NO_PERL = YesPlease
NO_PYTHON = YesPlease
NO_TCLTK = YesPlease
# wasi-libc's has no REG_STARTEND; its timers do not ring.
NO_REGEX = YesPlease
NO_SETITIMER = YesPlease
# Else `git gc --auto` would go on behind the back of the command that called it, which takes a fork.
NO_POSIX_GOODIES = YesPlease
NO_INSTALL_HARDLINKS = YesPlease
# Ours: children without fork (frontal.h), and the helper of the shell scripts as part of git itself.
BUILTIN_OBJS += frontal.o sh-i18n--envsubst.o
sh-i18n--envsubst.o: EXTRA_CPPFLAGS = -Dcmd_main=frontal_envsubst_main
