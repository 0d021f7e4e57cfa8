/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Nobody logs in: the table is empty. */
#include <sys/time.h>
#include <sys/types.h>

#define EMPTY 0
#define RUN_LVL 1
#define BOOT_TIME 2
#define NEW_TIME 3
#define OLD_TIME 4
#define INIT_PROCESS 5
#define LOGIN_PROCESS 6
#define USER_PROCESS 7
#define DEAD_PROCESS 8
#define UTMPX_FILE "/var/run/utmp"
#define WTMPX_FILE "/var/log/wtmp"

struct utmpx {
    short ut_type;
    pid_t ut_pid;
    char ut_line[32], ut_id[4], ut_user[32], ut_host[256];
    struct {
        short e_termination, e_exit;
    } ut_exit;
    struct timeval ut_tv;
};

#ifdef __cplusplus
extern "C" {
#endif
void setutxent(void);
void endutxent(void);
struct utmpx *getutxent(void);
int utmpxname(const char *path);
#ifdef __cplusplus
}
#endif
