/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another world inside: where the agent is root of its own user namespace, it
 * has every capability there, mounts what it likes and fakes paths.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static enum verdict by_unshare(int flags)
{
	if (unshare(flags) != 0)
		return failed("unshare");
	return say(THROUGH, "namespaces of its own");
}

static enum verdict user(const struct scene *s)
{
	(void)s;
	return by_unshare(CLONE_NEWUSER);
}

static enum verdict user_net(const struct scene *s)
{
	(void)s;
	return by_unshare(CLONE_NEWUSER | CLONE_NEWNET);
}

static enum verdict user_mount(const struct scene *s)
{
	(void)s;
	return by_unshare(CLONE_NEWUSER | CLONE_NEWNS);
}

static enum verdict outcome(long pid, const char *how)
{
	if (pid < 0)
		return failed(how);
	if (pid == 0)
		_exit(0);
	waitpid((pid_t)pid, NULL, 0);
	return say(THROUGH, "%s: a child in a user namespace", how);
}

static enum verdict by_clone(const struct scene *s)
{
	(void)s;
	return outcome(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL,
			       NULL, 0),
		       "clone");
}

/* The flags are in memory here, where seccomp can't see them. */
static enum verdict by_clone3(const struct scene *s)
{
	struct clone_args args = {.flags = CLONE_NEWUSER,
				  .exit_signal = SIGCHLD};

	(void)s;
	return outcome(syscall(SYS_clone3, &args, sizeof(args)), "clone3");
}

static enum verdict by_setns(const struct scene *s)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	(void)s;
	if (fd < 0)
		return failed("/proc/self/ns/uts");
	if (setns(fd, 0) != 0)
		return failed("setns");
	return say(THROUGH, "setns");
}

static enum verdict by_mount(const struct scene *s)
{
	(void)s;
	if (mount("tmpfs", "/mnt", "tmpfs", 0, NULL) != 0)
		return failed("mount");
	return say(THROUGH, "mounted");
}

static enum verdict by_fsopen(const struct scene *s)
{
	(void)s;
	if (syscall(SYS_fsopen, "tmpfs", 0) < 0)
		return failed("fsopen");
	return say(THROUGH, "fsopen");
}

const struct attack attack_namespace = {
	"namespace",
	(const struct mode[]){{"user", user},
			      {"user-net", user_net},
			      {"user-mount", user_mount},
			      {"clone", by_clone},
			      {"clone3", by_clone3},
			      {"setns", by_setns},
			      {"mount", by_mount},
			      {"fsopen", by_fsopen},
			      {0}},
};
