/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the config, which speak cgroup v1, in cgroup v2's units. Pure.
 *
 * Source: OCI runtime-spec config-linux.md; runc #4772 (CPU shares); kernel
 * Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef OSH_LINUX_CGROUP_CONVERT_H
#define OSH_LINUX_CGROUP_CONVERT_H

#include <stdint.h>

struct err;

/*
 * cpu.shares (2 to 262144, default 1024) -> cpu.weight (1 to 10000, default
 * 100), such that minimum, default and maximum meet: a parabola in the
 * logarithms, 10^((l^2 + 125 l) / 612 - 7 / 34) with l = log2(shares).
 */
uint64_t cgroup_convert_shares(uint64_t shares);
/* blkio.weight (10 to 1000) -> io.weight (1 to 10000), linearly. */
uint64_t cgroup_convert_io_weight(uint64_t weight);
/*
 * memory + swap -> swap alone; -1 is unlimited. @limit 0: not known. -EINVAL
 * when @swap is below @limit or can't be computed.
 */
int cgroup_convert_swap(int64_t swap, int64_t limit, int64_t *ret,
			struct err *err);

#endif
