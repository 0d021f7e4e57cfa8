/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* file_type - what a file is, in words. */

struct vfs_stat;

/* "regular file", "regular empty file", "directory", "symbolic link", … as stat's %F and rm's questions say it. */
const char *file_type_text(const struct vfs_stat *st);
