/* SPDX-License-Identifier: Apache-2.0 */
/* What a config asks of which controller, and where that lives here. */
#include <errno.h>
#include <sys/stat.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup_devices.h"
#include "runtime/linux/cgroup_dir.h"
#include "runtime/linux/cgroup_set.h"

/*
 * NOTHING: the config says nothing. DEFAULT: what a cgroup without this
 * controller gives anyway (no limit), so its absence is no error.
 */
enum ask { ASK_NOTHING, ASK_DEFAULT, ASK_LIMIT };

static enum ask ask_i64(const struct cgroup_i64 *v)
{
	if (!v->set || v->v == 0)
		return ASK_NOTHING;
	return v->v < 0 ? ASK_DEFAULT : ASK_LIMIT;
}

static enum ask ask_u64(const struct cgroup_u64 *v)
{
	return v->set && v->v != 0 ? ASK_LIMIT : ASK_NOTHING;
}

static enum ask ask_if(bool asked)
{
	return asked ? ASK_LIMIT : ASK_NOTHING;
}

static enum ask most(const enum ask *v, size_t n)
{
	enum ask a = ASK_NOTHING;

	for (size_t i = 0; i < n; i++)
		a = v[i] > a ? v[i] : a;
	return a;
}

static enum ask asks_memory(const struct cgroup_resources *r)
{
	const struct cgroup_memory *m = &r->memory;
	const enum ask v[] = {
		ask_i64(&m->limit),
		ask_i64(&m->reservation),
		ask_i64(&m->swap),
		ask_i64(&m->kernel),
		ask_i64(&m->kernel_tcp),
		ask_if(m->swappiness.set),
		ask_if(m->disable_oom_killer),
	};

	return most(v, N_ELEMENTS(v));
}

static enum ask asks_cpu(const struct cgroup_resources *r)
{
	const struct cgroup_cpu *c = &r->cpu;
	const enum ask v[] = {
		ask_u64(&c->shares),
		ask_i64(&c->quota),
		ask_u64(&c->period),
		ask_u64(&c->burst),
		ask_i64(&c->rt_runtime),
		ask_u64(&c->rt_period),
		c->idle.set ? ask_if(c->idle.v != 0) : ASK_NOTHING,
		c->idle.set ? ASK_DEFAULT : ASK_NOTHING,
		c->burst.set ? ASK_DEFAULT : ASK_NOTHING,
	};

	return most(v, N_ELEMENTS(v));
}

static enum ask asks_cpuset(const struct cgroup_resources *r)
{
	return ask_if((r->cpu.cpus && *r->cpu.cpus) ||
		      (r->cpu.mems && *r->cpu.mems));
}

static enum ask asks_pids(const struct cgroup_resources *r)
{
	if (!r->pids.set)
		return ASK_NOTHING;
	return r->pids.v < 0 ? ASK_DEFAULT : ASK_LIMIT;
}

static enum ask asks_io(const struct cgroup_resources *r)
{
	const struct cgroup_blkio *b = &r->blkio;
	size_t n = b->n_weight_devices;

	for (size_t k = 0; k < CGROUP_THROTTLE_N; k++)
		n += b->n_throttle[k];
	return ask_if(n > 0 || ask_u64(&b->weight) || ask_u64(&b->leaf_weight));
}

static enum ask asks_hugetlb(const struct cgroup_resources *r)
{
	return ask_if(r->n_hugepages > 0);
}

static enum ask asks_rdma(const struct cgroup_resources *r)
{
	return ask_if(r->n_rdma > 0);
}

static enum ask asks_net_cls(const struct cgroup_resources *r)
{
	return ask_u64(&r->class_id);
}

static enum ask asks_net_prio(const struct cgroup_resources *r)
{
	return ask_if(r->n_priorities > 0);
}

/* Everything allowed is the default; of one rule only, to keep it plain. */
static enum ask asks_devices(const struct cgroup_resources *r)
{
	const unsigned int all = CGROUP_DEV_READ | CGROUP_DEV_WRITE |
				 CGROUP_DEV_MKNOD;

	if (r->n_devices == 0 || r->no_devices)
		return ASK_NOTHING;
	for (size_t i = 0; i < r->n_devices; i++)
		if (!r->devices[i].allow)
			return ASK_LIMIT;
	return r->devices[0].type == 'a' && r->devices[0].major < 0 &&
			       r->devices[0].minor < 0 &&
			       r->devices[0].access == all
		       ? ASK_DEFAULT
		       : ASK_LIMIT;
}

static enum ask (*const asks[CGROUP_CONTROLLER_N])(
	const struct cgroup_resources *) = {
	[CGROUP_CPU] = asks_cpu,	 [CGROUP_CPUSET] = asks_cpuset,
	[CGROUP_MEMORY] = asks_memory,	 [CGROUP_PIDS] = asks_pids,
	[CGROUP_IO] = asks_io,		 [CGROUP_HUGETLB] = asks_hugetlb,
	[CGROUP_RDMA] = asks_rdma,	 [CGROUP_DEVICES] = asks_devices,
	[CGROUP_NET_CLS] = asks_net_cls, [CGROUP_NET_PRIO] = asks_net_prio,
};

static enum ask asked(const struct cgroup_resources *r, unsigned int c)
{
	return asks[c] ? asks[c](r) : ASK_NOTHING;
}

uint32_t cgroup_resources_need(const struct cgroup_resources *r)
{
	uint32_t bits = cgroup_v2_unified_need(r);

	for (unsigned int c = 0; c < CGROUP_CONTROLLER_N; c++)
		if (asked(r, c) == ASK_LIMIT)
			bits |= UINT32_C(1) << c;
	return bits;
}

/* Never another's: the path may have been given away since create. */
static int open_target(const struct cgroup_dir *d, int *ret_fd,
		       struct cgroup_target *ret, struct err *err)
{
	struct stat st;
	int r = cgroup_dir_open(d, ret_fd, err);

	if (r < 0)
		return r;
	if (fstat(*ret_fd, &st) < 0)
		return err_errno(err, errno, "stat cgroup " CGROUP_DIR_FMT,
				 CGROUP_DIR_ARG(d));
	if (st.st_ino != d->ino)
		return err_set(err, ESTALE,
			       "cgroup " CGROUP_DIR_FMT
			       " is not the container's any more",
			       CGROUP_DIR_ARG(d));
	*ret = (struct cgroup_target){.dir_fd = *ret_fd, .d = d};
	return 0;
}

static int apply_one(const struct cgroup *cg, enum cgroup_controller c,
		     enum ask ask, const struct cgroup_resources *r,
		     struct err *err)
{
	const struct cgroup_dir *d = cgroup_dir_of(cg, c);
	own_close int fd = -EBADF;
	struct cgroup_target t;
	int ret;

	if (!d && ask == ASK_DEFAULT)
		return 0;
	if (!d)
		return err_set(err, ENOENT,
			       "cgroup controller %s: the container has no "
			       "cgroup with it",
			       cgroup_controller_name(c, false));
	ret = open_target(d, &fd, &t, err);
	if (ret < 0)
		return ret;
	return d->v2 ? cgroup_v2_apply(&t, c, r, err)
		     : cgroup_v1_apply(&t, c, r, err);
}

static int apply_unified(const struct cgroup *cg,
			 const struct cgroup_resources *r, struct err *err)
{
	const struct cgroup_dir *d = cgroup_dir_v2(cg);
	own_close int fd = -EBADF;
	struct cgroup_target t;
	int ret;

	if (r->n_unified == 0)
		return 0;
	if (!d)
		return err_set(err, ENOENT,
			       "unified: the container has no cgroup v2");
	ret = open_target(d, &fd, &t, err);
	return ret < 0 ? ret : cgroup_v2_unified(&t, r, err);
}

int cgroup_apply(const struct cgroup *cg, const struct cgroup_resources *r,
		 struct err *err)
{
	int ret = 0;

	for (unsigned int c = 0; ret == 0 && c < CGROUP_CONTROLLER_N; c++) {
		enum ask ask = asked(r, c);

		if (ask != ASK_NOTHING)
			ret = apply_one(cg, c, ask, r, err);
	}
	return ret < 0 ? ret : apply_unified(cg, r, err);
}
