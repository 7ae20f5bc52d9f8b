/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which device nodes the processes of a cgroup may open and make: v1's
 * devices.allow and devices.deny, and on v2 a BPF program that we assemble.
 *
 * Rules are in order and the last that matches wins; what none matches is
 * denied. Source: kernel Documentation/admin-guide/cgroup-v1/devices.rst;
 * bpf(2), BPF_PROG_TYPE_CGROUP_DEVICE.
 */
#ifndef OSH_LINUX_CGROUP_DEVICES_H
#define OSH_LINUX_CGROUP_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct bpf_insn;
struct err;

enum {
	CGROUP_DEV_READ = 1 << 0,
	CGROUP_DEV_WRITE = 1 << 1,
	CGROUP_DEV_MKNOD = 1 << 2,
};

struct cgroup_device_rule {
	bool allow;
	char type; /* 'a' all, 'c', 'b' */
	int64_t major; /* -1 any */
	int64_t minor; /* -1 any */
	unsigned int access;
};

/*
 * The rules that every container gets beside its config's (config-linux.md
 * "Default Devices"): null zero full random urandom tty console ptmx pts/N,
 * and mknod of anything. Static.
 */
extern const struct cgroup_device_rule cgroup_default_devices[];
extern const size_t cgroup_n_default_devices;

/*
 * The BPF program for @rules; in @a. At most 4096 instructions (-E2BIG).
 */
int cgroup_devices_program(struct arena *a,
			   const struct cgroup_device_rule *rules, size_t n,
			   struct bpf_insn **ret_insns, size_t *ret_n,
			   struct err *err);
/* Make it that of the v2 directory @dir_fd, in place of an earlier one. */
int cgroup_devices_attach(int dir_fd, const struct cgroup_device_rule *rules,
			  size_t n, struct err *err);
/* v1: write @rules into devices.allow and devices.deny of @dir_fd. */
int cgroup_devices_write(int dir_fd, const struct cgroup_device_rule *rules,
			 size_t n, struct err *err);

#endif
