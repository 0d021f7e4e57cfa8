/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* version - the order of file names with version numbers in them: ls -v, sort -V. */

#include "base/str.h"

/* Orders as GNU's filevercmp: runs of digits as numbers, '~' before all, suffixes such as ".tar.gz" looked at only in a
 * tie. */
int version_cmp(struct str a, struct str b);
