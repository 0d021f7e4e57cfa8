/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <sys/ioctl.h>
#include <termios.h>

#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
