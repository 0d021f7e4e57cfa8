/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The tables of unicode_tab.c, which test/gen_unicode.c prints. */

#include "regex/unicode.h"

extern const struct unicode_range unicode__alpha[];
extern const size_t unicode__n_alpha;
extern const struct unicode_range unicode__upper[];
extern const size_t unicode__n_upper;
extern const struct unicode_range unicode__lower[];
extern const size_t unicode__n_lower;
extern const struct unicode_range unicode__punct[];
extern const size_t unicode__n_punct;
extern const struct unicode_range unicode__space[];
extern const size_t unicode__n_space;
extern const struct unicode_range unicode__blank[];
extern const size_t unicode__n_blank;
extern const struct unicode_range unicode__cntrl[];
extern const size_t unicode__n_cntrl;
/* Printable but not graphic: the spaces. */
extern const struct unicode_range unicode__gap[];
extern const size_t unicode__n_gap;
extern const struct unicode_map unicode__to_upper[];
extern const size_t unicode__n_to_upper;
extern const struct unicode_map unicode__to_lower[];
extern const size_t unicode__n_to_lower;
/* Runs of characters of the same width: the first << 2 | its width + 1, or 0 for what does not print. */
extern const uint32_t unicode__widths[];
extern const size_t unicode__n_widths;
