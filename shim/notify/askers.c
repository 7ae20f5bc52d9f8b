/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/clock.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/notify/askers.h"
#include "shim/notify/task.h"

static void copy_path(char ret[ASKER_PATH_BYTES], const char *path)
{
	if (!str_copy(ret, ASKER_PATH_BYTES, path))
		ret[0] = '\0';
}

static void release(struct askers *a, struct asker *k)
{
	if (!k->sandbox.generation || k->fd < 0)
		return;
	k->fd = close_fd(k->fd);
	a->n_held--;
}

/* The same socket's place again, or the oldest's. */
static struct asker *place_for(struct askers *a, uint64_t cookie)
{
	for (unsigned int i = 0; i < ASKERS_MAX; i++)
		if (a->asker[i].sandbox.generation &&
		    a->asker[i].cookie == cookie)
			return &a->asker[i];
	a->next = (a->next + 1) % ASKERS_MAX;
	return &a->asker[a->next];
}

static uint16_t port_of(int fd)
{
	struct task_addr addr;

	return task_local_addr(fd, &addr) == 0 ? addr.port : 0;
}

static void describe(struct asker *k, struct identity *id)
{
	k->pid = id->process[0].pid;
	copy_path(k->path, id->process[0].path);
	(void)identity_sum(id, false, k->sha256);
	identity_walk(id);
	for (size_t i = 0; i < id->decide.n_ancestors && i < ASKER_ANCESTORS;
	     i++)
		copy_path(k->ancestor[k->n_ancestors++],
			  id->decide.ancestors[i]);
}

void askers_add(struct askers *a, int *sock_fd, struct sandbox_ref ref,
		struct identity *id)
{
	uint64_t cookie = 0;
	socklen_t n = sizeof(cookie);
	struct asker *k;

	if (getsockopt(*sock_fd, SOL_SOCKET, SO_COOKIE, &cookie, &n) < 0 ||
	    !id->process[0].known)
		return;
	k = place_for(a, cookie);
	release(a, k);
	*k = (struct asker){ .sandbox = ref,
			     .cookie = cookie,
			     .fd = -EBADF,
			     .port = port_of(*sock_fd),
			     .since_ms = clock_now_ms() };
	describe(k, id);
	if (k->port)
		return;
	k->fd = take_fd(sock_fd);
	a->n_held++;
}

/* Newest first: ports are used again. */
const struct asker *askers_find(struct askers *a, uint16_t port)
{
	uint64_t now = clock_now_ms();

	for (unsigned int i = 0; i < ASKERS_MAX; i++) {
		struct asker *k =
			&a->asker[(a->next + ASKERS_MAX - i) % ASKERS_MAX];

		if (!k->sandbox.generation ||
		    now - k->since_ms > ASKER_PORT_MS)
			continue;
		if (!k->port && k->fd >= 0)
			k->port = port_of(k->fd);
		if (k->port)
			release(a, k);
		if (k->port == port)
			return k;
	}
	return NULL;
}

void askers_tick(struct askers *a)
{
	uint64_t now = clock_now_ms();

	for (unsigned int i = 0; i < ASKERS_MAX; i++)
		if (now - a->asker[i].since_ms > ASKER_HOLD_MS)
			release(a, &a->asker[i]);
}

void askers_forget(struct askers *a, struct sandbox_ref ref)
{
	for (unsigned int i = 0; i < ASKERS_MAX; i++) {
		struct asker *k = &a->asker[i];

		if (k->sandbox.index != ref.index ||
		    k->sandbox.generation != ref.generation)
			continue;
		release(a, k);
		k->sandbox = (struct sandbox_ref){ 0, 0 };
	}
}
