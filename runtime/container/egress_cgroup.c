/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/container/egress_cgroup.h"
#include "runtime/container/record.h"
#include "runtime/container/store.h"
#include "runtime/linux/cgroup.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/cgroup_resources.h"

/* record_save_cgroup() wants an entry: the folder of all shims. */
static int open_record(struct arena *a, uint64_t cookie,
		       struct store_entry *ret, char **ret_file,
		       struct err *err)
{
	ret->path = arena_strdup(a, ".shims");
	*ret_file = arena_printf(a, "%016llx.cgroup",
				 (unsigned long long)cookie);
	return store_open_shims(&ret->dir_fd, err);
}

static const char *sibling(struct arena *a, const char *beside,
			   const char *name)
{
	const char *slash = beside && beside[0] == '/' ? strrchr(beside, '/') :
							 NULL;

	if (!slash)
		return name;
	return arena_printf(a, "%.*s/%s", (int)(slash - beside), beside, name);
}

static int remove_recorded(struct arena *a, const struct store_entry *e,
			   const char *file, struct err *err)
{
	struct cgroup *cg = arena_new(a, struct cgroup);
	int r;

	store_remove_temporaries(e->dir_fd, file);
	r = record_load_cgroup(a, e, file, cg, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = cgroup_remove(cg, err);
	if (r == 0 && unlinkat(e->dir_fd, file, 0) < 0 && errno != ENOENT)
		r = err_errno(err, errno, "remove %s/%s", e->path, file);
	return r;
}

int egress_cgroup_make(struct arena *a, uint64_t cookie, const char *beside,
		       struct cgroup_join *ret, struct err *err)
{
	struct store_entry e = STORE_ENTRY_INIT;
	struct cgroup *cg = arena_new(a, struct cgroup);
	struct cgroup_resources none = { 0 };
	const char *name = arena_printf(a, "osh-shim-%016llx",
					(unsigned long long)cookie);
	char *file;
	int r = open_record(a, cookie, &e, &file, err);

	/* a dead shim's, whose containers are still there */
	if (r == 0)
		r = remove_recorded(a, &e, file, err);
	if (r == 0)
		r = cgroup_plan(cg, sibling(a, beside, name), name,
				geteuid() != 0 ? CGROUP_OPTIONAL : 0, err);
	if (r == 0)
		r = record_save_cgroup(&e, file, cg, err);
	if (r == 0)
		r = cgroup_make(cg, &none, err);
	if (r == 0)
		r = record_save_cgroup(&e, file, cg, err);
	if (r == 0)
		r = cgroup_join_open(ret, cg, 0, err);
	store_entry_done(&e);
	return r < 0 ? err_wrap(err, "make osh-shim's cgroup") : 0;
}

int egress_cgroup_remove(struct arena *a, uint64_t cookie, struct err *err)
{
	struct store_entry e = STORE_ENTRY_INIT;
	char *file;
	int r = open_record(a, cookie, &e, &file, err);

	if (r == 0)
		r = remove_recorded(a, &e, file, err);
	store_entry_done(&e);
	return r < 0 ? err_wrap(err, "remove osh-shim's cgroup") : 0;
}
