/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/container/egress.h"
#include "runtime/container/egress_leave.h"
#include "runtime/linux/process.h"

enum { SHIM_WAIT_MS = 5000 };

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

int egress_leave(struct arena *a, const char *id, uint64_t cookie,
		 struct err *err)
{
	struct egress e = EGRESS_INIT;
	uint32_t left = 0;
	int r = egress_connect(&e, id, cookie, err);

	if (r == 0)
		r = egress_detach(&e, &left, err);
	egress_done(&e);
	if (r < 0 && !is_gone(r))
		return r;
	if (left)
		return 0;
	if (r == 0)
		await_end(id, cookie);
	return egress_forget(a, cookie, err);
}
