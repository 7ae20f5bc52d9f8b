/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing what create made, whatever is there of it: create may have died at
 * any step. The order: processes, filter, cgroups, hooks, folder. The folder
 * goes last, so that a delete that fails can be repeated.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/container/egress_leave.h"
#include "runtime/container/hook.h"
#include "runtime/container/lifecycle.h"
#include "runtime/doc/errors.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/process.h"
#include "runtime/oci/spec.h"

enum { KILL_WAIT_MS = 10000, CONFIG_MAX = 16 << 20 };

/* Without a pid namespace of its own others may outlive the init. A cgroup
 * that was there before us is left alone: it may hold somebody else's. */
static int end_others(const struct record *r, struct err *err)
{
	for (uint32_t i = 0; i < r->cgroup->n_dirs; i++)
		if (cgroup_dir_is_ours(&r->cgroup->dir[i]))
			return cgroup_signal(r->cgroup, SIGKILL, err);
	return 0;
}

static int end_processes(const struct container *c, struct err *err)
{
	const struct record *r = &c->record;
	own_close int pidfd = -EBADF;
	struct err gone;

	if (record_open_init(r, &pidfd, &gone) == 0) {
		process_signal(pidfd, SIGKILL);
		if (r->cgroup->n_dirs && cgroup_is_frozen(r->cgroup) &&
		    cgroup_freeze(r->cgroup, false, err) < 0)
			return -err->code;
		if (process_wait_end(pidfd, KILL_WAIT_MS) < 0)
			return err_set(err, EBUSY,
				       "delete container %s: its init did not "
				       "die within %d s",
				       r->state->id, KILL_WAIT_MS / 1000);
	}
	return end_others(r, err);
}

static int leave_filter(struct arena *a, const struct container *c,
			struct err *err)
{
	const struct oci_state_policy *p = c->record.state->policy;

	if (!p || p->egress == OCI_EGRESS_PLAIN || !p->netns_cookie)
		return 0;
	return egress_leave(a, c->record.state->id, p->netns_cookie, err);
}

static int run_poststop(struct arena *a, const struct container *c,
			void (*note)(const char *fmt, ...))
{
	struct doc_errors errors;
	struct oci_spec *spec;
	struct err err;
	const char *json;
	char *text;
	size_t len;

	if (io_read_file(a, c->entry.dir_fd, "config.json", CONFIG_MAX, &text,
			 &len, &err) < 0)
		return 0; /* create died before it was kept: no hook ran */
	doc_errors_init(&errors, a, "config.json");
	if (oci_spec_parse(a, text, len, &spec, &errors) < 0)
		return doc_errors_err(&errors, &err);
	if (!spec->hooks)
		return 0;
	json = record_hook_state(a, c->record.state, OCI_STOPPED);
	hook_run_all(&spec->hooks->poststop, "poststop", json, strlen(json),
		     note);
	return 0;
}

static int check_status(const struct container *c, bool force, struct err *err)
{
	enum oci_status status = record_status(&c->entry, &c->record);

	/* we hold the lock, so whoever was creating it is dead */
	if (force || status == OCI_STOPPED || status == OCI_CREATED ||
	    status == OCI_CREATING)
		return 0;
	return err_set(err, EBUSY,
		       "delete container %s: cannot delete container that is "
		       "not stopped: %s",
		       c->record.state->id, oci_status_name(status));
}

/* A folder whose state can't be read: only force removes it, and nothing but
 * the folder, since nothing else is known. */
static int delete_unreadable(struct container *c, bool force,
			     void (*note)(const char *fmt, ...),
			     struct err *err)
{
	if (!c->entry.path || c->entry.dir_fd < 0 || !force)
		return -err->code;
	if (err->code != ENOENT)
		note("delete container: %s", err->text);
	return store_remove(&c->store, &c->entry, err);
}

int container_delete(struct arena *a, const char *root, const char *id,
		     bool force, void (*note)(const char *fmt, ...),
		     struct err *err)
{
	own_container struct container c = CONTAINER_INIT;
	int r = container_open(a, root, id, true, &c, err);

	if (r < 0 && c.entry.dir_fd < 0)
		return r == -ENOENT && force ? 0 : r;
	if (r < 0)
		return delete_unreadable(&c, force, note, err);
	r = check_status(&c, force, err);
	if (r == 0)
		r = end_processes(&c, err);
	if (r == 0)
		r = leave_filter(a, &c, err);
	if (r == 0 && c.record.cgroup->n_dirs)
		r = cgroup_remove(c.record.cgroup, err);
	if (r < 0)
		return r;
	run_poststop(a, &c, note);
	return store_remove(&c.store, &c.entry, err);
}
