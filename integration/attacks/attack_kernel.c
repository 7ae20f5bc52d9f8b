/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox's own machinery, from inside. */
#define _GNU_SOURCE
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Answer the notifications of one's own children. */
static enum verdict listener(const struct scene *s)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	(void)s;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0)
		return failed("seccomp(NEW_LISTENER)");
	return say(THROUGH, "a listener of its own");
}

/* A page whose reader waits for the agent: the shim would. */
static enum verdict fault(const struct scene *s)
{
	(void)s;
	if (syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY) < 0)
		return failed("userfaultfd");
	return say(THROUGH, "userfaultfd");
}

static enum verdict bpf(const struct scene *s)
{
	union {
		uint32_t words[32];
	} attr = {.words = {2 /* BPF_MAP_TYPE_ARRAY */, 4, 4, 1}};

	(void)s;
	if (syscall(SYS_bpf, 0, &attr, sizeof(attr)) < 0)
		return failed("bpf");
	return say(THROUGH, "bpf");
}

/* Root of the namespace's owner may set these without any capability. This one
 * makes answers carry the mark of what they answer. */
static enum verdict sysctl(const struct scene *s)
{
	int fd =
		open("/proc/sys/net/ipv4/fwmark_reflect", O_WRONLY | O_CLOEXEC);

	(void)s;
	if (fd < 0)
		return failed("/proc/sys/net/ipv4/fwmark_reflect");
	if (write(fd, "1", 1) != 1)
		return failed("write");
	return say(THROUGH, "the machine's network is ours to set");
}

/* A descriptor that somebody forgot to close is a door. */
static enum verdict descriptors(const struct scene *s)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[300], target[128];

	(void)s;
	while (dir && (entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);
		ssize_t n;

		if (fd <= 2 || fd == dirfd(dir))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		return say(THROUGH, "descriptor %d is %s", fd, target);
	}
	return say(REFUSED, "no descriptor but the standard ones");
}

/* Not an attack: what others attack. */
static enum verdict asleep(const struct scene *s)
{
	(void)s;
	sleep(20);
	return say(REFUSED, "nothing happened");
}

const struct attack attack_kernel = {
	"kernel",
	(const struct mode[]){{"listener", listener},
			      {"userfaultfd", fault},
			      {"bpf", bpf},
			      {"sysctl", sysctl},
			      {"descriptors", descriptors},
			      {"sleep", asleep},
			      {0}},
};
