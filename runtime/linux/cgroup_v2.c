/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup_convert.h"
#include "runtime/linux/cgroup_devices.h"
#include "runtime/linux/cgroup_find.h"
#include "runtime/linux/cgroup_set.h"

#define AT(member) offsetof(struct cgroup_resources, member)
#define U64	   CGROUP_ROW_U64
#define NOT_0	   CGROUP_ROW_SKIP_ZERO
#define NOT_MINUS  CGROUP_ROW_SKIP_MINUS

/* Rows without a file: the config asks for what v2 does not have. */
static const struct cgroup_row rows[] = {
	{CGROUP_MEMORY, "memory.limit", AT(memory.limit), NOT_0, "memory.max",
	 -1, INT64_MAX, cgroup_format_max},
	{CGROUP_MEMORY, "memory.reservation", AT(memory.reservation), NOT_0,
	 "memory.low", -1, INT64_MAX, cgroup_format_max},
	{CGROUP_MEMORY, "memory.kernel", AT(memory.kernel), NOT_0 | NOT_MINUS,
	 NULL, 0, 0, NULL},
	{CGROUP_MEMORY, "memory.kernelTCP", AT(memory.kernel_tcp),
	 NOT_0 | NOT_MINUS, NULL, 0, 0, NULL},
	{CGROUP_MEMORY, "memory.swappiness", AT(memory.swappiness), U64, NULL,
	 0, 0, NULL},
	{CGROUP_CPU, "cpu.realtimePeriod", AT(cpu.rt_period), U64 | NOT_0, NULL,
	 0, 0, NULL},
	{CGROUP_CPU, "cpu.realtimeRuntime", AT(cpu.rt_runtime), NOT_0, NULL, 0,
	 0, NULL},
	{CGROUP_PIDS, "pids.limit", AT(pids), 0, "pids.max", -1, INT64_MAX,
	 cgroup_format_max},
	{CGROUP_IO, "blockIO.leafWeight", AT(blkio.leaf_weight), U64 | NOT_0,
	 NULL, 0, 0, NULL},
};

/* --------------------------------------------------------------- memory */

/* Which limit does a new swap limit include? The new one, or the present. */
static int swap_base(const struct cgroup_target *t,
		     const struct cgroup_memory *m, int64_t *ret,
		     struct err *err)
{
	uint64_t now;
	int r;

	if (m->limit.set && m->limit.v != 0) {
		*ret = m->limit.v;
		return 0;
	}
	r = cgroup_get_u64(t, "memory.max", &now, err);
	*ret = now > INT64_MAX ? -1 : (int64_t)now;
	return r;
}

static int apply_swap(const struct cgroup_target *t,
		      const struct cgroup_memory *m, struct err *err)
{
	char room[32];
	struct strbuf text = STRBUF_FIXED(room);
	int64_t swap = m->swap.set ? m->swap.v : 0, limit = 0;
	int r;

	/* v1's rule: unlimited memory alone means swap as well */
	if (swap == 0 && m->limit.set && m->limit.v == -1)
		swap = -1;
	if (swap == 0)
		return 0;
	r = swap_base(t, m, &limit, err);
	if (r == 0)
		r = cgroup_convert_swap(swap, limit, &swap, err);
	if (r < 0)
		return r;
	cgroup_format_max(&text, swap);
	r = io_write_str(t->dir_fd, "memory.swap.max", text.s);
	/* a kernel that counts no swap for groups: none and all are had */
	if (r == -ENOENT && swap <= 0)
		return 0;
	return r < 0 ? cgroup_set_failed(t, "memory.swap.max", text.s, -r, err)
		     : 0;
}

static int apply_memory(const struct cgroup_target *t,
			const struct cgroup_resources *r, struct err *err)
{
	const struct cgroup_memory *m = &r->memory;
	int ret = cgroup_check_usage(t, "memory.current", m, err);

	if (ret == 0 && m->disable_oom_killer)
		ret = err_set(err, EOPNOTSUPP,
			      "memory.disableOOMKiller: cgroup v2 has nothing "
			      "like it");
	return ret < 0 ? ret : apply_swap(t, m, err);
}

/* ------------------------------------------------------------------ cpu */

/* "QUOTA PERIOD"; a part that is not asked for stays as it is. */
static int apply_bandwidth(const struct cgroup_target *t,
			   const struct cgroup_cpu *c, struct err *err)
{
	bool quota = c->quota.set && c->quota.v != 0;
	bool period = c->period.set && c->period.v != 0;
	char now[64], room[96];
	struct strbuf text = STRBUF_FIXED(room);
	ssize_t n;

	if (!quota && !period)
		return 0;
	if (quota) {
		cgroup_format_max(&text, c->quota.v);
	} else {
		n = io_read_str(t->dir_fd, "cpu.max", now, sizeof(now));
		if (n < 0)
			return cgroup_set_failed(t, "cpu.max", "", (int)-n,
						 err);
		strbuf_add(&text, now, strcspn(now, " "));
	}
	if (period)
		strbuf_addf(&text, " %llu", (unsigned long long)c->period.v);
	return cgroup_set(t, "cpu.max", text.s, err);
}

/* A burst above the quota is refused: before it if it can be, or after. */
static int apply_burst(const struct cgroup_target *t,
		       const struct cgroup_cpu *c, struct err *err)
{
	int r = 0;

	if (!c->burst.set)
		return apply_bandwidth(t, c, err);
	for (int i = 0; i < 2; i++) {
		r = cgroup_set_f(t, err, "cpu.max.burst", "%llu",
				 (unsigned long long)c->burst.v);
		if (i == 0 && r < 0 && r != -EINVAL)
			return r;
		if (i == 0) {
			int q = apply_bandwidth(t, c, err);

			if (q < 0 || r == 0)
				return q;
		}
	}
	return r;
}

static int apply_cpu(const struct cgroup_target *t,
		     const struct cgroup_resources *r, struct err *err)
{
	const struct cgroup_cpu *c = &r->cpu;
	bool shares = c->shares.set && c->shares.v != 0;
	bool idle = c->idle.set && c->idle.v == 1;
	int ret = 0;

	if (c->idle.set && c->idle.v != 0 && c->idle.v != 1)
		return err_set(err, ERANGE, "cpu.idle: %lld is not 0 or 1",
			       (long long)c->idle.v);
	/* an idle group has no weight to set: it must not be one then */
	if (c->idle.set && !idle)
		ret = cgroup_set(t, "cpu.idle", "0", err);
	if (ret == 0 && shares)
		ret = cgroup_set_f(
			t, err, "cpu.weight", "%llu",
			(unsigned long long)cgroup_convert_shares(c->shares.v));
	if (ret == 0 && idle)
		ret = cgroup_set(t, "cpu.idle", "1", err);
	return ret < 0 ? ret : apply_burst(t, c, err);
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

/* ------------------------------------------------------------------- io */

static const char *const throttle_keys[] = {
	[CGROUP_READ_BPS] = "rbps",
	[CGROUP_WRITE_BPS] = "wbps",
	[CGROUP_READ_IOPS] = "riops",
	[CGROUP_WRITE_IOPS] = "wiops",
};
_Static_assert(N_ELEMENTS(throttle_keys) == CGROUP_THROTTLE_N, "one for each");

/* BFQ's file has v1's range, io.weight (of blk-iocost) its own. */
static int set_weight(const struct cgroup_target *t, const char *dev,
		      uint64_t weight, struct err *err)
{
	bool bfq = cgroup_has_file(t, "io.bfq.weight");

	return cgroup_set_f(
		t, err, bfq ? "io.bfq.weight" : "io.weight", "%s %llu", dev,
		(unsigned long long)(bfq ? weight
					 : cgroup_convert_io_weight(weight)));
}

static int apply_weights(const struct cgroup_target *t,
			 const struct cgroup_blkio *b, struct err *err)
{
	int ret = 0;

	if (b->weight.set && b->weight.v != 0)
		ret = set_weight(t, "default", b->weight.v, err);
	for (size_t i = 0; ret == 0 && i < b->n_weight_devices; i++) {
		const struct cgroup_weight_device *w = &b->weight_devices[i];
		char room[48];
		struct strbuf dev = STRBUF_FIXED(room);

		if (w->leaf_weight.set && w->leaf_weight.v != 0)
			return err_set(err, EOPNOTSUPP,
				       "blockIO.weightDevice: cgroup v2 has no "
				       "leafWeight");
		strbuf_addf(&dev, "%lld:%lld", (long long)w->major,
			    (long long)w->minor);
		if (w->weight.set)
			ret = set_weight(t, dev.s, w->weight.v, err);
	}
	return ret;
}

static int apply_io(const struct cgroup_target *t,
		    const struct cgroup_resources *r, struct err *err)
{
	const struct cgroup_blkio *b = &r->blkio;
	int ret = apply_weights(t, b, err);

	for (size_t k = 0; k < CGROUP_THROTTLE_N; k++)
		for (size_t i = 0; ret == 0 && i < b->n_throttle[k]; i++) {
			const struct cgroup_throttle_device *d =
				&b->throttle[k][i];
			char room[24];
			struct strbuf rate = STRBUF_FIXED(room);

			if (d->rate == 0) /* v1: no limit */
				strbuf_adds(&rate, "max");
			else
				strbuf_addf(&rate, "%llu",
					    (unsigned long long)d->rate);
			ret = cgroup_set_f(t, err, "io.max", "%lld:%lld %s=%s",
					   (long long)d->major,
					   (long long)d->minor,
					   throttle_keys[k], rate.s);
		}
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
		strbuf_addf(&file, "hugetlb.%s.max", h->page_size);
		ret = cgroup_set_f(t, err, file.s, "%llu",
				   (unsigned long long)h->limit);
		strbuf_reset(&file);
		strbuf_addf(&file, "hugetlb.%s.rsvd.max", h->page_size);
		if (ret == 0 && cgroup_has_file(t, file.s))
			ret = cgroup_set_f(t, err, file.s, "%llu",
					   (unsigned long long)h->limit);
	}
	return ret;
}

static int apply_devices(const struct cgroup_target *t,
			 const struct cgroup_resources *r, struct err *err)
{
	int ret =
		cgroup_devices_attach(t->dir_fd, r->devices, r->n_devices, err);

	return ret < 0 ? err_wrap(err, "cgroup %s%s", t->d->mount, t->d->path)
		       : 0;
}

int cgroup_v2_apply(const struct cgroup_target *t, enum cgroup_controller c,
		    const struct cgroup_resources *r, struct err *err)
{
	static int (*const apply[CGROUP_CONTROLLER_N])(
		const struct cgroup_target *, const struct cgroup_resources *,
		struct err *) = {
		[CGROUP_CPU] = apply_cpu,
		[CGROUP_CPUSET] = apply_cpuset,
		[CGROUP_MEMORY] = apply_memory,
		[CGROUP_IO] = apply_io,
		[CGROUP_HUGETLB] = apply_hugetlb,
		[CGROUP_RDMA] = cgroup_set_rdma,
		[CGROUP_DEVICES] = apply_devices,
	};
	int ret = apply[c] ? apply[c](t, r, err) : 0;

	if (ret == 0)
		ret = cgroup_set_rows(t, rows, N_ELEMENTS(rows), c, r, err);
	return ret;
}

/* -------------------------------------------------------------- unified */

/*
 * Files of a controller, and those of cgroup core that are limits. The others
 * move, freeze or kill processes, of any cgroup: never from a config.
 */
static bool is_allowed_key(const char *key)
{
	const char *core = str_after(key, "cgroup.");

	if (!cgroup_is_word(key) || !strchr(key, '.'))
		return false;
	return !core || str_eq(core, "max.depth") ||
	       str_eq(core, "max.descendants") || str_eq(core, "pressure");
}

uint32_t cgroup_v2_unified_need(const struct cgroup_resources *r)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < r->n_unified; i++) {
		char room[32];
		struct strbuf name = STRBUF_FIXED(room);

		strbuf_add(&name, r->unified[i].key,
			   strcspn(r->unified[i].key, "."));
		bits |= cgroup_find_controllers(name.s);
	}
	return bits;
}

int cgroup_v2_unified(const struct cgroup_target *t,
		      const struct cgroup_resources *r, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->n_unified; i++) {
		const struct cgroup_unified *u = &r->unified[i];

		if (!is_allowed_key(u->key))
			return err_set(err, EINVAL,
				       "unified: \"%s\" is not a limit",
				       u->key);
		ret = cgroup_set(t, u->key, u->value, err);
	}
	return ret;
}
