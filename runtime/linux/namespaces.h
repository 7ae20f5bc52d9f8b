/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces: their names, new ones with clone3(2), existing ones with
 * setns(2).
 *
 * Existing ones are opened before anything else happens and checked to be what
 * the configuration says (NS_GET_NSTYPE, ioctl_ns(2)); they are joined in the
 * order of the table, the user namespace first, because it gives the right to
 * join the others.
 */
#ifndef OSH_LINUX_NAMESPACES_H
#define OSH_LINUX_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

/* In the order in which they are joined. */
enum ns {
	NS_USER,
	NS_CGROUP,
	NS_IPC,
	NS_UTS,
	NS_NET,
	NS_PID,
	NS_TIME,
	NS_MOUNT,
	NS_N,
};

struct ns_row {
	const char *name; /* in config.json */
	const char *proc; /* below /proc/PID/ns/ */
	int flag; /* CLONE_NEW* */
};

extern const struct ns_row ns_table[NS_N];

/* From the name in config.json; NS_N when unknown. */
enum ns ns_by_name(const char *name);

struct ns_set {
	unsigned int new_flags; /* CLONE_NEW* of those to be made */
	int fd[NS_N]; /* owned; those to be joined, or -EBADF */
};

#define own_ns_set __attribute__((cleanup(ns_set_done)))

void ns_set_init(struct ns_set *s);
void ns_set_done(struct ns_set *s);

/*
 * Open the namespace at @path and check its kind. Opening a path such as
 * /proc/PID/ns/net also keeps it alive.
 */
int ns_set_open(struct ns_set *s, enum ns kind, const char *path,
		struct err *err);

/*
 * Join what was opened. After NS_PID only children are in it. When the user
 * namespace was joined the caller still has the old uid: see idmap.h.
 */
int ns_set_join(const struct ns_set *s, struct err *err);

/*
 * Join @flags (CLONE_NEW*) of the process behind @pidfd at once: for exec.
 * Those that are ours already (a user namespace cannot be joined twice) must
 * not be in @flags: see ns_differ.
 */
int ns_join_process(int pidfd, unsigned int flags, struct err *err);

/* Those of @flags in which process @pid and we are not together. */
int ns_differ(pid_t pid, unsigned int flags, unsigned int *ret_flags,
	      struct err *err);

/*
 * fork into new namespaces, by clone3. @cgroup_fd: a v2 cgroup to start in
 * (CLONE_INTO_CGROUP) or -EBADF. @ret_pidfd may be NULL. Returns the child's
 * pid, 0 in the child, or a negative errno.
 */
pid_t ns_clone(unsigned int flags, int cgroup_fd, int *ret_pidfd,
	       struct err *err);

/*
 * The same with CLONE_PARENT: the child is our parent's. A middle process uses
 * it that joined a pid namespace and then goes away.
 */
pid_t ns_clone_sibling(unsigned int flags, int cgroup_fd, struct err *err);

/* The cookie of our network namespace (SO_NETNS_COOKIE), unlike its inode
 * never used twice. */
int ns_net_cookie(uint64_t *ret, struct err *err);

/* One line of /proc/PID/timens_offsets (time_namespaces(7)). */
struct ns_time_offset {
	const char *clock; /* "monotonic" or "boottime" */
	int64_t secs;
	uint32_t nanosecs;
};

/*
 * Make a new time namespace for the children that this process has from now
 * on, with these offsets; *ret_old_fd (owned) undoes it: ns_time_end.
 * (CLONE_NEWTIME in clone3 would freeze the offsets at zero.)
 */
int ns_time_begin(const struct ns_time_offset *offsets, size_t n,
		  int *ret_old_fd, struct err *err);
int ns_time_end(int old_fd, struct err *err);

#endif
