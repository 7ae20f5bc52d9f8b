/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/blueprint.h"
#include "runtime/container/hook.h"
#include "runtime/container/lifecycle.h"
#include "runtime/doc/errors.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/process.h"
#include "runtime/oci/spec.h"

enum { CONFIG_MAX = 16 << 20 };

int container_open(struct arena *a, const char *root, const char *id, bool lock,
		   struct container *ret, struct err *err)
{
	int r = store_open(a, root, false, &ret->store, err);

	if (r == 0)
		r = store_get(a, &ret->store, id, lock, &ret->entry, err);
	if (r == 0)
		r = record_load(a, &ret->entry, &ret->record, err);
	return r;
}

void container_done(struct container *c)
{
	store_entry_done(&c->entry);
	store_done(&c->store);
}

/* -------------------------------------------------------------------- hooks */

/* The hooks of the config as it was at create. */
static int load_hooks(struct arena *a, const struct container *c,
		      struct oci_hooks **ret, struct err *err)
{
	struct doc_errors errors;
	struct oci_spec *spec;
	char *text;
	size_t len;
	int r = io_read_file(a, c->entry.dir_fd, "config.json", CONFIG_MAX,
			     &text, &len, err);

	*ret = NULL;
	if (r < 0)
		return r;
	doc_errors_init(&errors, a, "config.json");
	r = oci_spec_parse(a, text, len, &spec, &errors);
	if (r < 0)
		return doc_errors_err(&errors, err);
	*ret = spec->hooks;
	return 0;
}

static void run_poststart(struct arena *a, const struct container *c,
			  const struct oci_hooks *hooks,
			  void (*note)(const char *fmt, ...))
{
	const char *json;

	if (!hooks || !hooks->poststart.n)
		return;
	json = record_hook_state(a, c->record.state, OCI_RUNNING);
	hook_run_all(&hooks->poststart, "poststart", json, strlen(json), note);
}

/* -------------------------------------------------------------------- start */

/*
 * The init has the FIFO open until it becomes the program or ends: the last
 * reader's going is POLLERR at our end. A byte that is still in the FIFO then
 * was put back by an init whose startContainer hook failed.
 */
static int wait_for_exec(int fd, struct err *err)
{
	struct pollfd p = { .fd = fd };
	int left = 0;

	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			return err_errno(err, errno, "wait for the program");
	if (ioctl(fd, FIONREAD, &left) < 0)
		return err_errno(err, errno, "read FIFO");
	if (left)
		return err_set(err, ECANCELED, "a startContainer hook failed");
	return 0;
}

int container_start(struct arena *a, const char *root, const char *id,
		    void (*note)(const char *fmt, ...), struct err *err)
{
	own_container struct container c = CONTAINER_INIT;
	own_close int fd = -EBADF;
	struct oci_hooks *hooks;
	enum oci_status status;
	int r = container_open(a, root, id, true, &c, err);

	if (r < 0)
		return r;
	status = record_status(&c.entry, &c.record);
	if (status == OCI_STOPPED)
		return err_set(err, EINVAL,
			       "start container %s: cannot start a container "
			       "that has stopped",
			       id);
	if (status != OCI_CREATED)
		return err_set(err, EINVAL,
			       "start container %s: cannot start a container "
			       "in the %s state",
			       id, oci_status_name(status));
	r = load_hooks(a, &c, &hooks, err);
	if (r < 0)
		return err_wrap(err, "start container %s", id);
	/* the init has it open for reading, or it is dead */
	fd = openat(c.entry.dir_fd, "start",
		    O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_errno(err, errno, "start container %s: open FIFO",
				 id);
	/* started from here on, whatever happens to us */
	if (unlinkat(c.entry.dir_fd, "start", 0) < 0)
		return err_errno(err, errno, "start container %s: remove FIFO",
				 id);
	r = io_write_all(fd, "x", 1);
	if (r < 0)
		return err_errno(err, -r, "start container %s: write FIFO", id);
	if (hooks && (hooks->start_container.n || hooks->poststart.n)) {
		r = wait_for_exec(fd, err);
		if (r < 0)
			return err_wrap(err, "start container %s", id);
	}
	run_poststart(a, &c, hooks, note);
	return 0;
}

/* --------------------------------------------------------------------- kill */

int container_kill(struct arena *a, const char *root, const char *id, int sig,
		   bool all, struct err *err)
{
	own_container struct container c = CONTAINER_INIT;
	own_close int pidfd = -EBADF;
	int r = container_open(a, root, id, false, &c, err);

	if (r < 0)
		return r;
	/* --all of a container whose init has ended is no error: others of
	 * its cgroup may live (shared pid namespace) */
	if (all && c.record.cgroup->n_dirs)
		return cgroup_signal(c.record.cgroup, sig, err);
	r = record_open_init(&c.record, &pidfd, err);
	if (r < 0)
		return all ? 0 : r;
	r = process_signal(pidfd, sig);
	if (r < 0)
		return err_errno(err, -r, "kill container %s", id);
	/* a frozen process would die only when thawed */
	if (sig == SIGKILL && cgroup_is_frozen(c.record.cgroup))
		return cgroup_freeze(c.record.cgroup, false, err);
	return 0;
}

/* ---------------------------------------------------------------- pause, ps */

int container_pause(struct arena *a, const char *root, const char *id,
		    bool pause, struct err *err)
{
	own_container struct container c = CONTAINER_INIT;
	enum oci_status status;
	int r = container_open(a, root, id, true, &c, err);

	if (r < 0)
		return r;
	status = record_status(&c.entry, &c.record);
	if (pause ? status != OCI_RUNNING && status != OCI_CREATED :
		    status != OCI_PAUSED)
		return err_set(err, EINVAL,
			       "%s container %s: container not %s (it is %s)",
			       pause ? "pause" : "resume", id,
			       pause ? "running" : "paused",
			       oci_status_name(status));
	if (!c.record.cgroup->n_dirs)
		return err_set(err, ENOTSUP,
			       "%s container %s: it has no cgroup",
			       pause ? "pause" : "resume", id);
	return cgroup_freeze(c.record.cgroup, pause, err);
}

int container_update(struct arena *a, const char *root, const char *id,
		     const struct cgroup_resources *res, struct err *err)
{
	own_container struct container c = CONTAINER_INIT;
	int r = container_open(a, root, id, true, &c, err);

	if (r < 0)
		return r;
	if (record_status(&c.entry, &c.record) == OCI_STOPPED)
		return err_set(err, EINVAL,
			       "update container %s: container not running",
			       id);
	if (!c.record.cgroup->n_dirs)
		return err_set(err, ENOTSUP,
			       "update container %s: it has no cgroup", id);
	return cgroup_apply(c.record.cgroup, res, err);
}

int container_pids(struct arena *a, const char *root, const char *id,
		   pid_t **ret_pids, size_t *ret_n, struct err *err)
{
	own_container struct container c = CONTAINER_INIT;
	int r = container_open(a, root, id, false, &c, err);

	*ret_pids = NULL;
	*ret_n = 0;
	if (r < 0)
		return r;
	if (c.record.cgroup->n_dirs)
		return cgroup_pids(a, c.record.cgroup, ret_pids, ret_n, err);
	if (record_status(&c.entry, &c.record) == OCI_STOPPED)
		return 0;
	*ret_pids = arena_array(a, pid_t, 1);
	(*ret_pids)[0] = c.record.state->pid;
	*ret_n = 1;
	return 0;
}
