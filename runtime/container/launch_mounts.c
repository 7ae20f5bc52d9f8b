/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/mount.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/fds.h"
#include "runtime/base/own.h"
#include "runtime/container/convert.h"
#include "runtime/container/launch.h"
#include "runtime/container/launch_mounts.h"
#include "runtime/oci/spec.h"

/* config.md, "idmap": the mount's own mappings, else the container's. */
static int open_userns(const struct launch *l, const struct oci_mount *m,
		       int *ret_fd, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	struct idmap map = l->idmap;
	int r;

	if (m->uid_mappings.n || m->gid_mappings.n)
		map = (struct idmap){
			.uid = convert_id_maps(&a, m->uid_mappings.v,
					       m->uid_mappings.n),
			.n_uid = m->uid_mappings.n,
			.gid = convert_id_maps(&a, m->gid_mappings.v,
					       m->gid_mappings.n),
			.n_gid = m->gid_mappings.n,
		};
	r = idmap_userns(&map, ret_fd, err);
	return r < 0 ? err_wrap(err, "mount %s: idmap", m->destination) : 0;
}

static int open_source(struct launch *l, struct mount_request *req,
		       const struct oci_mount *m, struct err *err)
{
	bool mapped = req->opt.idmap != MOUNT_IDMAP_NONE;
	int r = 0;

	if (!req->opt.bind || req->opt.flags & MS_REMOUNT ||
	    !(mapped || l->in_userns))
		return 0;
	if (mapped)
		r = open_userns(l, m, &req->userns_fd, err);
	if (r == 0)
		r = mount_source_open(req, &req->source_fd, err);
	req->userns_fd = close_fd(req->userns_fd);
	return r;
}

int launch_mounts_open(struct launch *l, const struct oci_spec *spec,
		       struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_mounts; i++) {
		int r = open_source(l, &l->mounts[i], &spec->mounts.v[i], err);

		if (r < 0)
			return r;
		n += l->mounts[i].source_fd >= 0;
		if (n > LAUNCH_SOURCES_MAX)
			return err_set(err, E2BIG,
				       "mounts: more than %d sources for a "
				       "user namespace",
				       LAUNCH_SOURCES_MAX);
	}
	return 0;
}

void launch_mounts_close(struct launch *l)
{
	for (size_t i = 0; i < l->n_mounts; i++)
		l->mounts[i].source_fd = close_fd(l->mounts[i].source_fd);
}

void launch_mounts_keep(const struct launch *l, struct fds *keep)
{
	for (size_t i = 0; i < l->n_mounts; i++)
		fds_add(keep, l->mounts[i].source_fd);
}
