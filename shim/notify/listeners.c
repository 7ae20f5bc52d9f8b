/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/notify/compat.h"
#include "shim/notify/filter.h"
#include "shim/notify/listeners.h"

/* A later kernel's message may be longer than our headers': it gets room. */
union request {
	struct seccomp_notif n;
	char room[512];
};

union response {
	struct seccomp_notif_resp r;
	char room[256];
};

int listeners_init(struct listeners *all, struct loop *loop,
		   struct filter *filter, struct sandboxes *sandboxes,
		   struct err *err)
{
	struct seccomp_notif_sizes sizes;

	memset(all, 0, sizeof(*all));
	all->loop = loop;
	all->filter = filter;
	all->sandboxes = sandboxes;
	for (unsigned int i = 0; i < SHIM_LISTENERS_MAX; i++)
		all->listener[i].fd = -EBADF;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return err_errno(err, errno, "ask for seccomp notifications");
	if (sizes.seccomp_notif > sizeof(union request) ||
	    sizes.seccomp_notif_resp > sizeof(union response))
		return err_set(err, E2BIG,
			       "ask for seccomp notifications: the kernel's "
			       "are longer than we know");
	return 0;
}

static void respond(int fd, uint64_t id, const struct answer *a)
{
	union response resp;
	struct seccomp_notif_addfd add = {
		.id = id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (uint32_t)a->add_fd,
		.newfd_flags = a->cloexec ? O_CLOEXEC : 0,
	};

	memset(&resp, 0, sizeof(resp));
	resp.r.id = id;
	resp.r.error = a->error;
	if (!a->error && a->add_fd < 0)
		resp.r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (a->add_fd >= 0) {
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0)
			return;
		resp.r.error = -errno;
	}
	/* fails only when the task is gone, and then nobody waits */
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &resp);
}

static void serve(struct listeners *all, struct listener *l)
{
	struct sandbox *s = sandbox_get(all->sandboxes, l->sandbox);
	struct answer a = { .error = -EACCES, .add_fd = -EBADF };
	union request rq;

	memset(&rq, 0, sizeof(rq));
	/* one that was killed meanwhile is ENOENT */
	if (ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, &rq) < 0)
		return;
	if (s)
		filter_decide(all->filter, s, l->sandbox, l->fd, l->root_pid,
			      &rq.n, &a);
	respond(l->fd, rq.n.id, &a);
	close_fd(a.add_fd);
}

static void drop(struct listeners *all, struct listener *l)
{
	struct sandbox *s = sandbox_get(all->sandboxes, l->sandbox);

	loop_remove(all->loop, l->source);
	l->fd = close_fd(l->fd);
	if (s)
		s->n_listeners--;
}

static void on_listener(struct loop *loop, struct loop_ref ref,
			uint32_t events, void *ctx, uint64_t arg)
{
	struct listeners *all = ctx;
	struct listener *l = &all->listener[arg];
	struct sandbox_ref sandbox = l->sandbox;
	struct sandbox *s;

	(void)loop;
	(void)ref;
	if (events & EPOLLIN) {
		serve(all, l);
		return;
	}
	if (!(events & (EPOLLHUP | EPOLLERR)))
		return;
	drop(all, l);
	s = sandbox_get(all->sandboxes, sandbox);
	if (s && s->committed && s->n_listeners == 0)
		all->on_last(all->ctx, sandbox);
}

int listeners_add(struct listeners *all, int fd, struct sandbox_ref ref,
		  int root_pid, struct err *err)
{
	own_close int owned = fd;
	struct sandbox *s = sandbox_get(all->sandboxes, ref);
	struct listener *l = NULL;
	uint64_t none = 0, i;
	int r;

	/* a listener knows no such id, anything else no such request */
	if (ioctl(owned, SECCOMP_IOCTL_NOTIF_ID_VALID, &none) < 0 &&
	    errno != ENOENT)
		return err_set(err, EINVAL, "serve a listener: it is none");
	for (i = 0; i < SHIM_LISTENERS_MAX && !l; i++)
		if (all->listener[i].fd < 0)
			l = &all->listener[i];
	if (!l || !s)
		return err_set(err, ENOSPC, "serve a listener: all %d are in "
					    "use",
			       SHIM_LISTENERS_MAX);
	/* Linux 6.6; without it everything works, only slower */
	(void)ioctl(owned, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		    SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	r = loop_add(all->loop, owned, EPOLLIN, on_listener, all,
		     (uint64_t)(l - all->listener), &l->source, err);
	if (r < 0)
		return err_wrap(err, "serve a listener");
	l->fd = take_fd(&owned);
	l->sandbox = ref;
	l->root_pid = root_pid;
	s->n_listeners++;
	return 0;
}

bool listeners_live(const struct listeners *all, struct sandbox_ref ref)
{
	for (unsigned int i = 0; i < SHIM_LISTENERS_MAX; i++) {
		const struct listener *l = &all->listener[i];
		struct pollfd p = { .fd = l->fd, .events = POLLIN };

		if (l->fd < 0 || l->sandbox.index != ref.index ||
		    l->sandbox.generation != ref.generation)
			continue;
		if (poll(&p, 1, 0) < 0 || !(p.revents & (POLLHUP | POLLERR)))
			return true;
	}
	return false;
}

void listeners_drop(struct listeners *all, struct sandbox_ref ref)
{
	for (unsigned int i = 0; i < SHIM_LISTENERS_MAX; i++) {
		struct listener *l = &all->listener[i];

		if (l->fd >= 0 && l->sandbox.index == ref.index &&
		    l->sandbox.generation == ref.generation)
			drop(all, l);
	}
}
