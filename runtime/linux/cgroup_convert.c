/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/base/err.h"
#include "runtime/linux/cgroup_convert.h"

/*
 * The two functions of <math.h> that the formula needs, for its small domain
 * (2 to 262144), by series that converge to the last bits of a double: the
 * static program is spared libm.
 */
static double ln(double x)
{
	const double ln2 = 0.69314718055994530942;
	double whole = 0, sum = 0, z, power;

	for (; x >= 2; x /= 2)
		whole++;
	z = (x - 1) / (x + 1); /* at most 1/3 */
	power = z;
	for (int k = 1; k < 40; k += 2) {
		sum += power / k;
		power *= z * z;
	}
	return whole * ln2 + 2 * sum;
}

static double power_of_ten(double y)
{
	const double ln10 = 2.30258509299404568402;
	double sum = 1, term = 1, whole = 1;

	for (; y >= 1; y--)
		whole *= 10;
	for (int k = 1; k < 40; k++) {
		term *= y * ln10 / k;
		sum += term;
	}
	return whole * sum;
}

uint64_t cgroup_convert_shares(uint64_t shares)
{
	const double ln2 = 0.69314718055994530942;
	double l, w;
	uint64_t whole;

	if (shares <= 2)
		return 1;
	if (shares >= 262144)
		return 10000;
	l = ln((double)shares) / ln2;
	/* rounded up, except for what is an integer but for the last bits */
	w = power_of_ten((l * l + 125 * l) / 612 - 7.0 / 34) - 1e-9;
	whole = (uint64_t)w;
	return (double)whole < w ? whole + 1 : whole;
}

uint64_t cgroup_convert_io_weight(uint64_t weight)
{
	if (weight <= 10)
		return 1;
	if (weight >= 1000)
		return 10000;
	return 1 + (weight - 10) * 9999 / 990;
}

int cgroup_convert_swap(int64_t swap, int64_t limit, int64_t *ret,
			struct err *err)
{
	if (swap < 0 || limit < 0) {
		*ret = swap < 0 ? -1 : swap;
		return 0;
	}
	if (limit == 0)
		return err_set(err, EINVAL,
			       "memory.swap %lld: it includes memory.limit, "
			       "which is not set",
			       (long long)swap);
	if (swap < limit)
		return err_set(err, EINVAL,
			       "memory.swap %lld is below memory.limit %lld, "
			       "which it includes",
			       (long long)swap, (long long)limit);
	*ret = swap - limit;
	return 0;
}
