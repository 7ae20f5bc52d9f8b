/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup_devices.h"
#include "runtime/linux/cgroup_set.h"

#define AT(member) offsetof(struct cgroup_resources, member)
#define U64	   CGROUP_ROW_U64
#define NOT_0	   CGROUP_ROW_SKIP_ZERO
#define NOT_MINUS  CGROUP_ROW_SKIP_MINUS

/* memory's limit and swap, and cpu's bandwidth, depend on one another: below */
static const struct cgroup_row rows[] = {
	{CGROUP_MEMORY, "memory.reservation", AT(memory.reservation), NOT_0,
	 "memory.soft_limit_in_bytes", -1, INT64_MAX, NULL},
	{CGROUP_MEMORY, "memory.kernel", AT(memory.kernel), NOT_0 | NOT_MINUS,
	 "memory.kmem.limit_in_bytes", 1, INT64_MAX, NULL},
	{CGROUP_MEMORY, "memory.kernelTCP", AT(memory.kernel_tcp),
	 NOT_0 | NOT_MINUS, "memory.kmem.tcp.limit_in_bytes", 1, INT64_MAX,
	 NULL},
	{CGROUP_MEMORY, "memory.swappiness", AT(memory.swappiness), U64,
	 "memory.swappiness", 0, 100, NULL},
	{CGROUP_CPU, "cpu.shares", AT(cpu.shares), U64 | NOT_0, "cpu.shares", 2,
	 262144, NULL},
	{CGROUP_CPU, "cpu.realtimePeriod", AT(cpu.rt_period), U64 | NOT_0,
	 "cpu.rt_period_us", 1, INT64_MAX, NULL},
	{CGROUP_CPU, "cpu.realtimeRuntime", AT(cpu.rt_runtime), NOT_0,
	 "cpu.rt_runtime_us", -1, INT64_MAX, NULL},
	{CGROUP_CPU, "cpu.idle", AT(cpu.idle), 0, "cpu.idle", 0, 1, NULL},
	{CGROUP_PIDS, "pids.limit", AT(pids), 0, "pids.max", -1, INT64_MAX,
	 cgroup_format_max},
	{CGROUP_IO, "blockIO.leafWeight", AT(blkio.leaf_weight), U64 | NOT_0,
	 "blkio.leaf_weight", 10, 1000, NULL},
	{CGROUP_NET_CLS, "network.classID", AT(class_id), U64,
	 "net_cls.classid", 0, UINT32_MAX, NULL},
};

/* --------------------------------------------------------------- memory */

static int set_limit(const struct cgroup_target *t, int64_t v, struct err *err)
{
	return cgroup_set_f(t, err, "memory.limit_in_bytes", "%lld",
			    (long long)v);
}

static int set_swap(const struct cgroup_target *t, int64_t v, struct err *err)
{
	return cgroup_set_f(t, err, "memory.memsw.limit_in_bytes", "%lld",
			    (long long)v);
}

/*
 * The kernel keeps limit <= memory + swap at every moment, so the order
 * depends on which way they move.
 */
static int set_limits(const struct cgroup_target *t,
		      const struct cgroup_memory *m, struct err *err)
{
	int64_t limit = m->limit.set ? m->limit.v : 0;
	int64_t swap = m->swap.set ? m->swap.v : 0;
	bool swap_first;
	uint64_t now;
	int r;

	/* unlimited memory below a limit on memory + swap can't be */
	if (limit == -1 && swap == 0 &&
	    cgroup_has_file(t, "memory.memsw.limit_in_bytes"))
		swap = -1;
	if (swap == 0)
		return limit == 0 ? 0 : set_limit(t, limit, err);
	if (limit == 0)
		return set_swap(t, swap, err);
	r = cgroup_get_u64(t, "memory.limit_in_bytes", &now, err);
	if (r < 0)
		return r;
	swap_first = swap == -1 || now < (uint64_t)swap;
	r = swap_first ? set_swap(t, swap, err) : set_limit(t, limit, err);
	if (r == 0)
		r = swap_first ? set_limit(t, limit, err)
			       : set_swap(t, swap, err);
	return r;
}

static int apply_memory(const struct cgroup_target *t,
			const struct cgroup_resources *r, struct err *err)
{
	const struct cgroup_memory *m = &r->memory;
	int ret = cgroup_check_usage(t, "memory.usage_in_bytes", m, err);
	uint64_t now;

	if (ret == 0 && m->use_hierarchy &&
	    cgroup_has_file(t, "memory.use_hierarchy")) {
		/* always on since 5.11, and then not to be written beneath */
		ret = cgroup_get_u64(t, "memory.use_hierarchy", &now, err);
		if (ret == 0 && now != 1)
			ret = cgroup_set(t, "memory.use_hierarchy", "1", err);
	}
	if (ret == 0)
		ret = set_limits(t, m, err);
	if (ret == 0 && m->disable_oom_killer)
		ret = cgroup_set(t, "memory.oom_control", "1", err);
	return ret;
}

/* ------------------------------------------------------------------ cpu */

/*
 * quota / period and burst / period are held against the parent's at every
 * write: what is refused before the quota is tried again after it.
 */
static int apply_cpu(const struct cgroup_target *t,
		     const struct cgroup_resources *r, struct err *err)
{
	const struct cgroup_cpu *c = &r->cpu;
	bool quota = c->quota.set && c->quota.v != 0;
	bool period = c->period.set && c->period.v != 0;
	bool burst = c->burst.set;
	int ret = 0;

	for (int pass = 0; pass < 2; pass++) {
		bool last = pass == 1 || !quota;

		if (period) {
			ret = cgroup_set_f(t, err, "cpu.cfs_period_us", "%llu",
					   (unsigned long long)c->period.v);
			if (ret < 0 && (ret != -EINVAL || last))
				return ret;
			period = ret < 0;
		}
		if (burst) {
			ret = cgroup_set_f(t, err, "cpu.cfs_burst_us", "%llu",
					   (unsigned long long)c->burst.v);
			if (ret < 0 && (ret != -EINVAL || last))
				return ret;
			burst = ret < 0;
		}
		if (last)
			return 0;
		ret = cgroup_set_f(t, err, "cpu.cfs_quota_us", "%lld",
				   (long long)c->quota.v);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int apply_cpuset(const struct cgroup_target *t,
			const struct cgroup_resources *r, struct err *err)
{
	int ret = 0;

	if (r->cpu.cpus && *r->cpu.cpus)
		ret = cgroup_set(t, "cpuset.cpus", r->cpu.cpus, err);
	if (ret == 0 && r->cpu.mems && *r->cpu.mems)
		ret = cgroup_set(t, "cpuset.mems", r->cpu.mems, err);
	return ret;
}

/* ---------------------------------------------------------------- blkio */

static const char *const throttle_files[] = {
	[CGROUP_READ_BPS] = "blkio.throttle.read_bps_device",
	[CGROUP_WRITE_BPS] = "blkio.throttle.write_bps_device",
	[CGROUP_READ_IOPS] = "blkio.throttle.read_iops_device",
	[CGROUP_WRITE_IOPS] = "blkio.throttle.write_iops_device",
};
_Static_assert(N_ELEMENTS(throttle_files) == CGROUP_THROTTLE_N, "one for each");

static int set_device(const struct cgroup_target *t, const char *file,
		      int64_t major, int64_t minor, uint64_t v, struct err *err)
{
	return cgroup_set_f(t, err, file, "%lld:%lld %llu", (long long)major,
			    (long long)minor, (unsigned long long)v);
}

static int apply_weights(const struct cgroup_target *t,
			 const struct cgroup_blkio *b, struct err *err)
{
	/* BFQ is the one scheduler with weights since CFQ went (5.0) */
	bool bfq = !cgroup_has_file(t, "blkio.weight");
	int ret = 0;

	if (b->weight.set && b->weight.v != 0)
		ret = cgroup_set_f(t, err,
				   bfq ? "blkio.bfq.weight" : "blkio.weight",
				   "%llu", (unsigned long long)b->weight.v);
	for (size_t i = 0; ret == 0 && i < b->n_weight_devices; i++) {
		const struct cgroup_weight_device *w = &b->weight_devices[i];

		if (w->weight.set)
			ret = set_device(t,
					 bfq ? "blkio.bfq.weight_device"
					     : "blkio.weight_device",
					 w->major, w->minor, w->weight.v, err);
		if (ret == 0 && w->leaf_weight.set)
			ret = set_device(t, "blkio.leaf_weight_device",
					 w->major, w->minor, w->leaf_weight.v,
					 err);
	}
	return ret;
}

static int apply_blkio(const struct cgroup_target *t,
		       const struct cgroup_resources *r, struct err *err)
{
	const struct cgroup_blkio *b = &r->blkio;
	int ret = apply_weights(t, b, err);

	for (size_t k = 0; k < CGROUP_THROTTLE_N; k++)
		for (size_t i = 0; ret == 0 && i < b->n_throttle[k]; i++)
			ret = set_device(t, throttle_files[k],
					 b->throttle[k][i].major,
					 b->throttle[k][i].minor,
					 b->throttle[k][i].rate, err);
	return ret;
}

/* --------------------------------------------------------------- others */

static int apply_hugetlb(const struct cgroup_target *t,
			 const struct cgroup_resources *r, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->n_hugepages; i++) {
		const struct cgroup_hugepage *h = &r->hugepages[i];
		char room[96];
		struct strbuf file = STRBUF_FIXED(room);

		if (!cgroup_is_word(h->page_size))
			return err_set(err, EINVAL,
				       "hugepageLimits: bad page size");
		strbuf_addf(&file, "hugetlb.%s.limit_in_bytes", h->page_size);
		ret = cgroup_set_f(t, err, file.s, "%llu",
				   (unsigned long long)h->limit);
		/* reservations too, where the kernel counts them (5.7) */
		strbuf_reset(&file);
		strbuf_addf(&file, "hugetlb.%s.rsvd.limit_in_bytes",
			    h->page_size);
		if (ret == 0 && cgroup_has_file(t, file.s))
			ret = cgroup_set_f(t, err, file.s, "%llu",
					   (unsigned long long)h->limit);
	}
	return ret;
}

static int apply_net_prio(const struct cgroup_target *t,
			  const struct cgroup_resources *r, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->n_priorities; i++) {
		if (!cgroup_is_word(r->priorities[i].name))
			return err_set(err, EINVAL,
				       "network.priorities: bad name");
		ret = cgroup_set_f(t, err, "net_prio.ifpriomap", "%s %u",
				   r->priorities[i].name,
				   r->priorities[i].priority);
	}
	return ret;
}

static int apply_devices(const struct cgroup_target *t,
			 const struct cgroup_resources *r, struct err *err)
{
	int ret =
		cgroup_devices_write(t->dir_fd, r->devices, r->n_devices, err);

	return ret < 0 ? err_wrap(err, "cgroup %s%s", t->d->mount, t->d->path)
		       : 0;
}

int cgroup_v1_apply(const struct cgroup_target *t, enum cgroup_controller c,
		    const struct cgroup_resources *r, struct err *err)
{
	static int (*const apply[CGROUP_CONTROLLER_N])(
		const struct cgroup_target *, const struct cgroup_resources *,
		struct err *) = {
		[CGROUP_CPU] = apply_cpu,
		[CGROUP_CPUSET] = apply_cpuset,
		[CGROUP_MEMORY] = apply_memory,
		[CGROUP_IO] = apply_blkio,
		[CGROUP_HUGETLB] = apply_hugetlb,
		[CGROUP_RDMA] = cgroup_set_rdma,
		[CGROUP_DEVICES] = apply_devices,
		[CGROUP_NET_PRIO] = apply_net_prio,
	};
	int ret = apply[c] ? apply[c](t, r, err) : 0;

	if (ret == 0)
		ret = cgroup_set_rows(t, rows, N_ELEMENTS(rows), c, r, err);
	return ret;
}
