/* SPDX-License-Identifier: Apache-2.0 */
/* Into the memory of a permitted program, which then does as it is told. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The same address in every child: it is a fork that will exec nothing. */
static char pawn[16] = "innocent";

/* A permitted program that waits; in the parent, its pid. */
static pid_t start(const struct scene *s)
{
	char *const argv[] = {(char *)(uintptr_t)s->permitted,
			      (char *)(uintptr_t) "kernel",
			      (char *)(uintptr_t) "sleep", NULL};
	char *const envp[] = {NULL};
	pid_t child = fork();

	if (child == 0) {
		execve(s->permitted, argv, envp);
		_exit(127);
	}
	usleep(100000);
	return child;
}

static enum verdict finish(pid_t child, bool through, const char *how)
{
	enum verdict verdict = through ? say(THROUGH, "%s: done", how)
				       : failed(how);

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return verdict;
}

static enum verdict attach(const struct scene *s)
{
	pid_t child = start(s);

	return finish(child, ptrace(PTRACE_ATTACH, child, 0, 0) == 0,
		      "PTRACE_ATTACH");
}

/* A parent that traces its child from before the exec. */
static enum verdict child(const struct scene *s)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char *const argv[] = {(char *)(uintptr_t)s->permitted, NULL};

		if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
			_exit(errno);
		execve(s->permitted, argv, argv + 1);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
	if (WIFSTOPPED(status))
		return finish(pid, true, "PTRACE_TRACEME");
	return failed("PTRACE_TRACEME");
}

static enum verdict proc_mem(const struct scene *s)
{
	char path[64];
	pid_t pid = start(s);
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	/* fixed addresses or not, an open file is all that it takes */
	return finish(pid, fd >= 0, "/proc/PID/mem");
}

static enum verdict vm_write(const struct scene *s)
{
	struct iovec local = {pawn, sizeof(pawn)};
	pid_t pid = fork();
	ssize_t n;

	(void)s;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	usleep(50000);
	n = process_vm_writev(pid, &local, 1, &local, 1, 0);
	return finish(pid, n == sizeof(pawn), "process_vm_writev");
}

static enum verdict take_fd(const struct scene *s)
{
	pid_t pid = start(s);
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0)
		return finish(pid, false, "pidfd_open");
	return finish(pid, syscall(SYS_pidfd_getfd, pidfd, 1, 0) >= 0,
		      "pidfd_getfd");
}

const struct attack attack_trace = {
	"trace",
	(const struct mode[]){{"attach", attach},
			      {"child", child},
			      {"mem", proc_mem},
			      {"vm-write", vm_write},
			      {"take-fd", take_fd},
			      {0}},
};
