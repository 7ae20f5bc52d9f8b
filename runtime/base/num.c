/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>

#include "runtime/base/num.h"

int num_parse_u64(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

int num_parse_i64(const char *s, int64_t *ret)
{
	bool minus = *s == '-';
	uint64_t v;
	int r = num_parse_u64(s + (minus ? 1 : 0), &v);

	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX + (minus ? 1 : 0))
		return -ERANGE;
	*ret = minus ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int num_parse_u32(const char *s, uint32_t max, uint32_t *ret)
{
	uint64_t v;
	int r = num_parse_u64(s, &v);

	if (r < 0)
		return r;
	if (v > max)
		return -ERANGE;
	*ret = (uint32_t)v;
	return 0;
}
