/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/loop.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/nft/sockdiag.h"
#include "shim/notify/askers.h"

static void copy_path(char ret[ASKER_PATH_BYTES], const char *path)
{
	if (!str_copy(ret, ASKER_PATH_BYTES, path))
		ret[0] = '\0';
}

static struct asker *place_for(struct askers *a, uint64_t cookie)
{
	for (unsigned int i = 0; i < ASKERS_MAX; i++)
		if (a->asker[i].cookie == cookie)
			return &a->asker[i];
	a->next = (a->next + 1) % ASKERS_MAX;
	return &a->asker[a->next];
}

void askers_add(struct askers *a, int sock_fd, struct sandbox_ref ref,
		struct identity *id)
{
	uint64_t cookie = 0;
	socklen_t n = sizeof(cookie);
	struct asker *k;

	if (getsockopt(sock_fd, SOL_SOCKET, SO_COOKIE, &cookie, &n) < 0 ||
	    !cookie || !id->process[0].known)
		return;
	k = place_for(a, cookie);
	*k = (struct asker){ .cookie = cookie,
			     .sandbox = ref,
			     .pid = id->process[0].pid };
	copy_path(k->path, id->process[0].path);
	(void)identity_sum(id, false, k->sha256);
	identity_walk(id);
	for (size_t i = 0; i < id->decide.n_ancestors && i < ASKER_ANCESTORS;
	     i++)
		copy_path(k->ancestor[k->n_ancestors++],
			  id->decide.ancestors[i]);
}

static struct asker *find_socket(struct askers *a, struct netlink *nl,
				 uint16_t port)
{
	static const int families[] = { AF_INET, AF_INET6 };
	uint64_t cookie[8];

	for (size_t f = 0; f < N_ELEMENTS(families); f++) {
		size_t n = sockdiag_udp(nl, families[f], port, cookie,
					N_ELEMENTS(cookie));

		for (size_t i = 0; i < n; i++)
			for (unsigned int k = 0; k < ASKERS_MAX; k++)
				if (a->asker[k].cookie == cookie[i])
					return &a->asker[k];
	}
	return NULL;
}

const struct asker *askers_find(struct askers *a, struct netlink *nl,
				uint16_t port)
{
	struct asker *k = find_socket(a, nl, port);
	uint64_t now = loop_now_ms();

	if (k) {
		k->port = port;
		k->seen_ms = now;
		return k;
	}
	for (unsigned int i = 0; i < ASKERS_MAX; i++)
		if (a->asker[i].port == port &&
		    now - a->asker[i].seen_ms < ASKER_PORT_MS)
			return &a->asker[i];
	return NULL;
}
