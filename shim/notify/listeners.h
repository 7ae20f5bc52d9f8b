/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seccomp listeners: one for a container's init, one for each exec. The kernel
 * hangs one up when the last task that has the filter is gone.
 */
#ifndef OSH_SHIM_NOTIFY_LISTENERS_H
#define OSH_SHIM_NOTIFY_LISTENERS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/loop.h"
#include "shim/limits.h"
#include "shim/notify/sandbox.h"

struct err;
struct filter;

struct listener {
	int fd; /* owned; negative: free */
	struct sandbox_ref sandbox;
	int root_pid;
	struct loop_ref source;
};

struct listeners {
	struct loop *loop;		/* borrowed, as the next two */
	struct filter *filter;
	struct sandboxes *sandboxes;
	/* the last listener of a committed container hung up */
	void (*on_last)(void *ctx, struct sandbox_ref ref);
	void *ctx;
	struct listener listener[SHIM_LISTENERS_MAX];
};

/* Asks the kernel how large its messages are. */
int listeners_init(struct listeners *all, struct loop *loop,
		   struct filter *filter, struct sandboxes *sandboxes,
		   struct err *err);

/*
 * Serve listener @fd (taken over, on failure too) for container @ref, that
 * process @root_pid installed.
 */
int listeners_add(struct listeners *all, int fd, struct sandbox_ref ref,
		  int root_pid, struct err *err);

/* Is there a task left that is filtered for @ref? */
bool listeners_live(const struct listeners *all, struct sandbox_ref ref);

/* Close what container @ref has: its calls get ENOSYS from then on. */
void listeners_drop(struct listeners *all, struct sandbox_ref ref);

#endif
