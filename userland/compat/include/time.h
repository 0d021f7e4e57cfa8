/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <time.h>

/* Time zones: see compat/tz.c. */
#ifdef __cplusplus
extern "C" {
#endif
void tzset(void);
extern char *tzname[2];
extern long timezone;
extern int daylight;
#ifdef __cplusplus
}
#endif
