/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/convert.h"
#include "runtime/linux/capability.h"
#include "runtime/linux/cgroup_devices.h"
#include "runtime/linux/cgroup_resources.h"
#include "runtime/linux/device.h"
#include "runtime/linux/idmap.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/namespaces.h"
#include "runtime/oci/spec_linux.h"

const struct idmap_line *convert_id_maps(struct arena *a,
					 const struct oci_id_map *v, size_t n)
{
	struct idmap_line *out = arena_array(a, struct idmap_line, n);

	for (size_t i = 0; i < n; i++)
		out[i] = (struct idmap_line){ .inside = v[i].container_id,
					      .outside = v[i].host_id,
					      .size = v[i].size };
	return out;
}

void convert_idmap(struct arena *a, const struct oci_spec *spec,
		   struct idmap *ret)
{
	const struct oci_linux *l = spec->linux_;

	*ret = (struct idmap){
		.uid = convert_id_maps(a, l->uid_mappings.v,
				       l->uid_mappings.n),
		.n_uid = l->uid_mappings.n,
		.gid = convert_id_maps(a, l->gid_mappings.v,
				       l->gid_mappings.n),
		.n_gid = l->gid_mappings.n,
	};
}

int convert_namespaces(const struct oci_spec *spec, struct ns_set *ret,
		       struct err *err)
{
	const struct oci_linux *l = spec->linux_;

	ns_set_init(ret);
	for (size_t i = 0; i < l->namespaces.n; i++) {
		const struct oci_namespace *n = &l->namespaces.v[i];
		enum ns kind = ns_by_name(oci_namespace_name(n->type));
		int r;

		if (!n->path) {
			ret->new_flags |= n->type;
			continue;
		}
		r = ns_set_open(ret, kind, n->path, err);
		if (r < 0)
			return r;
	}
	return 0;
}

void convert_time_offsets(struct arena *a, const struct oci_spec *spec,
			  struct ns_time_offset **ret, size_t *ret_n)
{
	const struct oci_linux *l = spec->linux_;
	size_t n = l->time_offsets.n;

	*ret = arena_array(a, struct ns_time_offset, n);
	*ret_n = n;
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = (struct ns_time_offset){
			.clock = l->time_offsets.v[i].clock,
			.secs = l->time_offsets.v[i].secs,
			.nanosecs = l->time_offsets.v[i].nanosecs,
		};
}

static int convert_mount(struct arena *a, const struct oci_mount *m,
			 const char *bundle, struct mount_request *ret,
			 struct err *err)
{
	int r;

	*ret = (struct mount_request)MOUNT_REQUEST_INIT;
	ret->destination = m->destination;
	ret->type = m->type;
	ret->source = m->source;
	r = mount_options_parse(a, m->options.v, m->options.n, &ret->opt, err);
	if (r < 0)
		return err_wrap(err, "mount %s", m->destination);
	/* type "bind" without the option is a bind mount as well */
	if (m->type && str_eq(m->type, "bind"))
		ret->opt.bind = true;
	if (ret->opt.bind && !m->source)
		return err_set(err, EINVAL,
			       "mount %s: a bind mount needs a source",
			       m->destination);
	if (ret->opt.bind && m->source[0] != '/')
		ret->source = arena_printf(a, "%s/%s", bundle, m->source);
	return 0;
}

int convert_mounts(struct arena *a, const struct oci_spec *spec,
		   const char *bundle, struct mount_request **ret, size_t *ret_n,
		   struct err *err)
{
	size_t n = spec->mounts.n;
	struct mount_request *v = arena_array(a, struct mount_request, n);

	for (size_t i = 0; i < n; i++) {
		int r = convert_mount(a, &spec->mounts.v[i], bundle, &v[i],
				      err);

		if (r < 0)
			return r;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}

static char device_type(uint32_t type)
{
	return type == S_IFBLK ? 'b' : type == S_IFIFO ? 'p' : 'c';
}

void convert_devices(struct arena *a, const struct oci_spec *spec,
		     struct device **ret, size_t *ret_n)
{
	const struct oci_linux *l = spec->linux_;
	struct device *v = arena_array(a, struct device, l->devices.n);

	for (size_t i = 0; i < l->devices.n; i++) {
		const struct oci_device *d = &l->devices.v[i];

		v[i] = (struct device){
			.path = d->path,
			.type = device_type(d->type),
			.major = (uint32_t)d->major,
			.minor = (uint32_t)d->minor,
			.mode = d->file_mode.set ? d->file_mode.v & 07777 :
						   0666,
			.uid = d->uid.set ? d->uid.v : 0,
			.gid = d->gid.set ? d->gid.v : 0,
		};
	}
	*ret = v;
	*ret_n = l->devices.n;
}

/* --------------------------------------------------------- resources */

#define COPY_OPT(to, from)                                                     \
	do {                                                                   \
		(to).set = (from).set;                                         \
		(to).v = (from).v;                                             \
	} while (0)

static void memory(const struct oci_memory *m, struct cgroup_memory *ret)
{
	COPY_OPT(ret->limit, m->limit);
	COPY_OPT(ret->reservation, m->reservation);
	COPY_OPT(ret->swap, m->swap);
	COPY_OPT(ret->kernel, m->kernel);
	COPY_OPT(ret->kernel_tcp, m->kernel_tcp);
	COPY_OPT(ret->swappiness, m->swappiness);
	ret->disable_oom_killer = m->disable_oom_killer.v;
	ret->use_hierarchy = m->use_hierarchy.v;
	ret->check_before_update = m->check_before_update.v;
}

static void cpu(const struct oci_cpu *c, struct cgroup_cpu *ret)
{
	COPY_OPT(ret->shares, c->shares);
	COPY_OPT(ret->quota, c->quota);
	COPY_OPT(ret->period, c->period);
	COPY_OPT(ret->burst, c->burst);
	COPY_OPT(ret->rt_runtime, c->realtime_runtime);
	COPY_OPT(ret->rt_period, c->realtime_period);
	COPY_OPT(ret->idle, c->idle);
	ret->cpus = c->cpus;
	ret->mems = c->mems;
}

static void throttle(struct arena *a, const struct oci_throttle_list *list,
		     enum cgroup_throttle which, struct cgroup_blkio *ret)
{
	struct cgroup_throttle_device *v =
		arena_array(a, struct cgroup_throttle_device, list->n);

	for (size_t i = 0; i < list->n; i++)
		v[i] = (struct cgroup_throttle_device){
			.major = list->v[i].major,
			.minor = list->v[i].minor,
			.rate = list->v[i].rate,
		};
	ret->throttle[which] = v;
	ret->n_throttle[which] = list->n;
}

static void block_io(struct arena *a, const struct oci_block_io *b,
		     struct cgroup_blkio *ret)
{
	struct cgroup_weight_device *v = arena_array(
		a, struct cgroup_weight_device, b->weight_device.n);

	COPY_OPT(ret->weight, b->weight);
	COPY_OPT(ret->leaf_weight, b->leaf_weight);
	for (size_t i = 0; i < b->weight_device.n; i++) {
		const struct oci_weight_device *d = &b->weight_device.v[i];

		v[i].major = d->major;
		v[i].minor = d->minor;
		COPY_OPT(v[i].weight, d->weight);
		COPY_OPT(v[i].leaf_weight, d->leaf_weight);
	}
	ret->weight_devices = v;
	ret->n_weight_devices = b->weight_device.n;
	throttle(a, &b->read_bps, CGROUP_READ_BPS, ret);
	throttle(a, &b->write_bps, CGROUP_WRITE_BPS, ret);
	throttle(a, &b->read_iops, CGROUP_READ_IOPS, ret);
	throttle(a, &b->write_iops, CGROUP_WRITE_IOPS, ret);
}

static void network(struct arena *a, const struct oci_network *n,
		    struct cgroup_resources *ret)
{
	struct cgroup_priority *v =
		arena_array(a, struct cgroup_priority, n->priorities.n);

	COPY_OPT(ret->class_id, n->class_id);
	for (size_t i = 0; i < n->priorities.n; i++)
		v[i] = (struct cgroup_priority){
			.name = n->priorities.v[i].name,
			.priority = n->priorities.v[i].priority,
		};
	ret->priorities = v;
	ret->n_priorities = n->priorities.n;
}

static void lists(struct arena *a, const struct oci_resources *res,
		  struct cgroup_resources *ret)
{
	struct cgroup_hugepage *h =
		arena_array(a, struct cgroup_hugepage, res->hugepage_limits.n);
	struct cgroup_rdma *r = arena_array(a, struct cgroup_rdma, res->rdma.n);
	struct cgroup_unified *u =
		arena_array(a, struct cgroup_unified, res->unified.n);

	for (size_t i = 0; i < res->hugepage_limits.n; i++)
		h[i] = (struct cgroup_hugepage){
			.page_size = res->hugepage_limits.v[i].page_size,
			.limit = res->hugepage_limits.v[i].limit,
		};
	for (size_t i = 0; i < res->rdma.n; i++) {
		r[i].device = res->rdma.v[i].device;
		COPY_OPT(r[i].hca_handles, res->rdma.v[i].hca_handles);
		COPY_OPT(r[i].hca_objects, res->rdma.v[i].hca_objects);
	}
	for (size_t i = 0; i < res->unified.n; i++)
		u[i] = (struct cgroup_unified){
			.key = res->unified.v[i].key,
			.value = res->unified.v[i].value,
		};
	ret->hugepages = h;
	ret->n_hugepages = res->hugepage_limits.n;
	ret->rdma = r;
	ret->n_rdma = res->rdma.n;
	ret->unified = u;
	ret->n_unified = res->unified.n;
}

static const struct {
	char letter;
	unsigned int bit;
} accesses[] = {
	{ 'r', CGROUP_DEV_READ },
	{ 'w', CGROUP_DEV_WRITE },
	{ 'm', CGROUP_DEV_MKNOD },
};

static unsigned int access_bits(const char *s)
{
	unsigned int bits = 0;

	if (!s)
		s = "rwm";
	for (size_t i = 0; i < N_ELEMENTS(accesses); i++)
		if (strchr(s, accesses[i].letter))
			bits |= accesses[i].bit;
	return bits;
}

static void device_rules(struct arena *a, const struct oci_resources *res,
			 bool defaults, struct cgroup_resources *ret)
{
	size_t n_own = res ? res->devices.n : 0;
	size_t n = n_own + (defaults ? cgroup_n_default_devices : 0);
	struct cgroup_device_rule *v =
		arena_array(a, struct cgroup_device_rule, n);

	for (size_t i = 0; i < n_own; i++) {
		const struct oci_device_rule *d = &res->devices.v[i];

		v[i] = (struct cgroup_device_rule){
			.allow = d->allow,
			.type = d->type ? d->type[0] : 'a',
			.major = d->major.set ? d->major.v : -1,
			.minor = d->minor.set ? d->minor.v : -1,
			.access = access_bits(d->access),
		};
	}
	for (size_t i = n_own; i < n; i++)
		v[i] = cgroup_default_devices[i - n_own];
	ret->devices = v;
	ret->n_devices = n;
}

void convert_resources(struct arena *a, const struct oci_resources *res,
		       bool defaults, struct cgroup_resources *ret)
{
	*ret = (struct cgroup_resources){ 0 };
	if (res) {
		if (res->memory)
			memory(res->memory, &ret->memory);
		if (res->cpu)
			cpu(res->cpu, &ret->cpu);
		if (res->pids)
			COPY_OPT(ret->pids, res->pids->limit);
		if (res->block_io)
			block_io(a, res->block_io, &ret->blkio);
		if (res->network)
			network(a, res->network, ret);
		lists(a, res, ret);
	}
	device_rules(a, res, defaults, ret);
}

void convert_capabilities(const struct oci_capabilities *caps,
			  struct capability_sets *ret)
{
	*ret = (struct capability_sets){ 0 };
	if (!caps)
		return;
	ret->bounding = caps->bounding;
	ret->effective = caps->effective;
	ret->inheritable = caps->inheritable;
	ret->permitted = caps->permitted;
	ret->ambient = caps->ambient;
}
