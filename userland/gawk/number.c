/* SPDX-License-Identifier: Apache-2.0 */

/*
 * strtod() for gawk's fields. The C library reads a number with long double arithmetic, which on WebAssembly is a
 * function call for each operation: 3 us for 17 digits. Here a number of at most 19 digits whose point is not far away is
 * a whole number times or divided by a power of ten below 2^64, and 128 bits of that are rounded once, to the nearest and
 * to even, as strtod() must (C17 7.22.1.3). All else is the C library's. Included by node.c.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const uint64_t frontal_tens[] = {
	1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u, 10000000000u,
	100000000000u, 1000000000000u, 10000000000000u, 100000000000000u, 1000000000000000u,
	10000000000000000u, 100000000000000000u, 1000000000000000000u, 10000000000000000000u,
};

/* @v times 2^@exponent, and a little more when @more. @v is not 0. */
static double
frontal_rounded(unsigned __int128 v, int exponent, bool more)
{
	uint64_t high = (uint64_t) (v >> 64);
	int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t) v);
	int cut = bits - 53;

	if (cut <= 0)
		return ldexp((double) (uint64_t) v, exponent);	/* only when nothing is left over: exact */
	unsigned __int128 rest = v & ((((unsigned __int128) 1) << cut) - 1), half = ((unsigned __int128) 1) << (cut - 1);
	uint64_t m = (uint64_t) (v >> cut);

	if (rest > half || (rest == half && (more || (m & 1))))
		m++;
	return ldexp((double) m, exponent + cut);
}

static double
frontal_strtod(const char *s, char **end)
{
	const char *p = s;
	uint64_t m = 0;
	int digits = 0, point = 0, seen = 0, e = 0;
	bool minus = false;

	while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
		p++;
	if (*p == '-' || *p == '+')
		minus = *p++ == '-';
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		return strtod(s, end);
	for (;; p++) {
		if (*p == '.' && !seen) {
			seen = 1;
			continue;
		}
		if (*p < '0' || *p > '9')
			break;
		if (digits || *p != '0')
			digits++;
		if (digits > 19)
			return strtod(s, end);
		m = m * 10 + (uint64_t) (*p - '0');
		point += seen;
	}
	if (p == s || ((p[-1] < '0' || p[-1] > '9') && !(p[-1] == '.' && p - 1 > s && p[-2] >= '0' && p[-2] <= '9')))
		return strtod(s, end);	/* no number, or one that is written in another way */
	if (*p == 'e' || *p == 'E') {
		const char *q = p + 1;
		bool down = *q == '-';
		int n = 0;

		if (*q == '-' || *q == '+')
			q++;
		if (*q >= '0' && *q <= '9') {
			for (; *q >= '0' && *q <= '9'; q++)
				if (n < 1000)
					n = n * 10 + (*q - '0');
			e = down ? -n : n;
			p = q;
		}
	}
	e -= point;
	if (m != 0 && (e < -19 || e > 19))
		return strtod(s, end);
	if (end)
		*end = (char *) p;

	double v = 0;

	if (m != 0 && e >= 0)
		v = frontal_rounded((unsigned __int128) m * frontal_tens[e], 0, false);
	else if (m != 0) {
		int left = __builtin_clzll(m);
		unsigned __int128 n = (unsigned __int128) (m << left) << 64;
		uint64_t d = frontal_tens[-e];

		v = frontal_rounded(n / d, -64 - left, n % d != 0);
	}
	return minus ? -v : v;
}
