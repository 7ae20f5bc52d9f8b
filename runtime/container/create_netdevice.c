/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/container/create_netdevice.h"
#include "runtime/linux/namespaces.h"
#include "runtime/linux/netdevice.h"
#include "runtime/oci/spec.h"
#include "runtime/oci/spec_linux.h"

int create_netdevices(const struct oci_spec *spec, pid_t pid, struct err *err)
{
	const struct oci_linux *l = spec->linux_;
	size_t n = l->net_devices.n;
	own_arena struct arena a = ARENA_INIT;
	own_ns_set struct ns_set ns;
	struct netdevice *v;
	unsigned int differ;
	char path[64];
	int r;

	ns_set_init(&ns);
	if (!n)
		return 0;
	r = ns_differ(pid, CLONE_NEWNET, &differ, err);
	if (r < 0)
		return r;
	if (!differ)
		return err_set(err, EINVAL,
			       "linux.netDevices: the container has no network "
			       "namespace of its own");
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	r = ns_set_open(&ns, NS_NET, path, err);
	if (r < 0)
		return r;
	v = arena_array(&a, struct netdevice, n);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct netdevice){
			.name = l->net_devices.v[i].host_name,
			.new_name = l->net_devices.v[i].name,
		};
	return netdevice_move(v, n, ns.fd[NS_NET], err);
}
