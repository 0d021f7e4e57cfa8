/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define _PATH_BSHELL "/bin/sh"
#define _PATH_DEFPATH "/usr/bin:/bin"
#define _PATH_DEVNULL "/dev/null"
#define _PATH_TMP "/tmp/"
#define _PATH_TTY "/dev/tty"
#define _PATH_VARTMP "/var/tmp/"
