/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/egress.h"
#include "runtime/container/egress_leave.h"
#include "runtime/container/store.h"
#include "runtime/linux/process.h"

enum { SHIM_WAIT_MS = 5000, TASK_WAIT_MS = 1000, PAUSE_MS = 10 };

/* It forgot us before (its last listener hung up), or it is dead. */
static bool is_gone(int r)
{
	return r == -ESRCH || r == -ENOENT || r == -ECONNRESET || r == -EPIPE;
}

/* It has nobody left to serve, and ends. One that is still there after that
 * time serves others, who joined meanwhile: theirs to clean. */
static void await_end(const char *id, uint64_t cookie)
{
	struct egress e = EGRESS_INIT;
	own_close int pidfd = -EBADF;
	struct err gone;

	if (egress_connect(&e, id, cookie, &gone) < 0)
		return;
	pidfd = egress_pidfd(&e);
	egress_done(&e);
	if (pidfd >= 0)
		process_wait_end(pidfd, SHIM_WAIT_MS);
}

/*
 * *@ret_left: others that it serves. While a task of ours is under its filter
 * it keeps us, too (it was killed, but is not reaped, say): for a while that
 * is awaited. Then its end is the container's, and some later sweep cleans.
 */
static int detach(struct egress *e, uint32_t *ret_left, struct err *err)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };
	struct shim_reply status;
	struct err ignored;

	for (int waited_ms = 0;; waited_ms += PAUSE_MS) {
		int r = egress_detach(e, ret_left, err);

		if (r < 0 || *ret_left == 0 || waited_ms >= TASK_WAIT_MS ||
		    egress_status(e, &status, &ignored) < 0)
			return r;
		nanosleep(&pause, NULL);
	}
}

/*
 * Cgroups on record whose shim is gone: it ended after the delete that waited
 * for it. What can't be removed now is left for the next sweep.
 */
static void sweep(struct arena *a)
{
	own_close int shims_fd = -EBADF;
	own_dir DIR *d = NULL;
	struct dirent *de;
	struct err ignored;

	if (store_open_shims(&shims_fd, &ignored) < 0)
		return;
	d = fdopendir(shims_fd);
	if (!d)
		return;
	take_fd(&shims_fd);
	while ((de = readdir(d))) {
		char name[17];

		str_copy(name, sizeof(name), de->d_name);
		if (strspn(name, "0123456789abcdef") == 16 &&
		    str_after(de->d_name + 16, ".cgroup") &&
		    faccessat(dirfd(d), name, F_OK, 0) < 0)
			(void)egress_forget(a, strtoull(name, NULL, 16),
					    &ignored);
	}
}

int egress_leave(struct arena *a, const char *id, uint64_t cookie,
		 struct err *err)
{
	struct egress e = EGRESS_INIT;
	uint32_t left = 0;
	int r = egress_connect(&e, id, cookie, err);

	if (r == 0)
		r = detach(&e, &left, err);
	egress_done(&e);
	if (r < 0 && !is_gone(r))
		return r;
	if (left)
		return 0;
	if (r == 0)
		await_end(id, cookie);
	r = egress_forget(a, cookie, err);
	sweep(a);
	return r;
}
