/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: what the kernel alone costs for one container of Podman's default
 * kind: namespaces, nine v1 cgroups (or one of v2), mounts, devices, masked
 * paths, capabilities, a prepared seccomp filter, execve of /bin/true. No
 * parsing, no state, no safety: nothing can be faster, nothing may be this.
 *
 *	floor v1|v2 ROOTFS FILTER.bpf
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP_CAPS 0x80425fbu

static const char *const v1[] = { "cpu",     "cpuacct", "cpuset",
				  "memory",  "devices", "freezer",
				  "blkio",   "pids",	"systemd" };
#define N(a) (sizeof(a) / sizeof((a)[0]))

static void must(long r, const char *what)
{
	if (r >= 0)
		return;
	dprintf(2, "floor: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd, path);
	must(write(fd, text, strlen(text)), path);
	close(fd);
}

static void mounts(int is_v1)
{
	static const struct {
		const char *type, *to, *data;
		unsigned long flags;
	} rows[] = {
		{ "proc", "proc", NULL, 0 },
		{ "tmpfs", "dev", "mode=755,size=65536k", MS_NOSUID },
		{ "devpts", "dev/pts",
		  "newinstance,ptmxmode=0666,mode=0620,gid=5",
		  MS_NOSUID | MS_NOEXEC },
		{ "tmpfs", "dev/shm", "mode=1777,size=65536k",
		  MS_NOSUID | MS_NOEXEC | MS_NODEV },
		{ "mqueue", "dev/mqueue", NULL,
		  MS_NOSUID | MS_NOEXEC | MS_NODEV },
		{ "sysfs", "sys", NULL,
		  MS_NOSUID | MS_NOEXEC | MS_NODEV | MS_RDONLY },
	};
	const unsigned long cg = MS_NOSUID | MS_NOEXEC | MS_NODEV | MS_RDONLY;

	for (size_t i = 0; i < N(rows); i++) {
		if (!strncmp(rows[i].to, "dev/", 4))
			must(mkdir(rows[i].to, 0755), rows[i].to);
		must(mount(rows[i].type, rows[i].to, rows[i].type,
			   rows[i].flags, rows[i].data),
		     rows[i].to);
	}
	if (!is_v1) {
		must(mount("cgroup2", "sys/fs/cgroup", "cgroup2", cg, NULL),
		     "cgroup2");
		return;
	}
	must(mount("tmpfs", "sys/fs/cgroup", "tmpfs", MS_NOSUID, "mode=755"),
	     "cgroup tmpfs");
	for (size_t i = 0; i < N(v1); i++) {
		char to[64], data[64];

		snprintf(to, sizeof(to), "sys/fs/cgroup/%s", v1[i]);
		snprintf(data, sizeof(data), "%s%s",
			 strcmp(v1[i], "systemd") ? "" : "none,name=", v1[i]);
		must(mkdir(to, 0755), to);
		must(mount("cgroup", to, "cgroup", cg, data), to);
	}
}

static void devices(void)
{
	static const struct {
		const char *path;
		unsigned int major, minor;
	} rows[] = { { "dev/null", 1, 3 },   { "dev/zero", 1, 5 },
		     { "dev/full", 1, 7 },   { "dev/random", 1, 8 },
		     { "dev/urandom", 1, 9 }, { "dev/tty", 5, 0 } };
	static const char *const links[][2] = {
		{ "/proc/self/fd", "dev/fd" },
		{ "/proc/self/fd/0", "dev/stdin" },
		{ "/proc/self/fd/1", "dev/stdout" },
		{ "/proc/self/fd/2", "dev/stderr" },
		{ "/proc/kcore", "dev/core" },
		{ "pts/ptmx", "dev/ptmx" },
	};

	umask(0);
	for (size_t i = 0; i < N(rows); i++)
		must(mknod(rows[i].path, S_IFCHR | 0666,
			   makedev(rows[i].major, rows[i].minor)),
		     rows[i].path);
	for (size_t i = 0; i < N(links); i++)
		must(symlink(links[i][0], links[i][1]), links[i][1]);
	umask(022);
}

static void masks(void)
{
	static const char *const masked[] = {
		"proc/acpi",	   "proc/kcore",     "proc/keys",
		"proc/timer_list", "proc/scsi",	     "sys/firmware",
	};
	static const char *const readonly[] = { "proc/asound", "proc/bus",
						"proc/fs",     "proc/irq",
						"proc/sys",
						"proc/sysrq-trigger" };
	struct stat st;

	for (size_t i = 0; i < N(masked); i++) {
		if (stat(masked[i], &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			must(mount("tmpfs", masked[i], "tmpfs", MS_RDONLY,
				   "size=0k"),
			     masked[i]);
		else
			must(mount("dev/null", masked[i], NULL, MS_BIND, NULL),
			     masked[i]);
	}
	for (size_t i = 0; i < N(readonly); i++) {
		if (stat(readonly[i], &st) < 0)
			continue;
		must(mount(readonly[i], readonly[i], NULL, MS_BIND | MS_REC,
			   NULL),
		     readonly[i]);
		must(mount(NULL, readonly[i], NULL,
			   MS_BIND | MS_REMOUNT | MS_RDONLY, NULL),
		     readonly[i]);
	}
}

static void confine(const struct sock_fprog *filter)
{
	struct __user_cap_header_struct head = {
		_LINUX_CAPABILITY_VERSION_3, 0
	};
	struct __user_cap_data_struct data[2] = { { KEEP_CAPS, KEEP_CAPS, 0 },
						  { 0, 0, 0 } };

	for (unsigned long i = 0; i <= 40; i++)
		if (i >= 32 || !(KEEP_CAPS >> i & 1))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	must(syscall(SYS_capset, &head, data), "capset");
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter),
	     "seccomp");
}

static void child(int is_v1, const char *root, const char *group,
		  const struct sock_fprog *filter)
{
	char *argv[] = { "/bin/true", NULL }, *env[] = { NULL };
	char path[256];

	for (size_t i = 0; is_v1 && i < N(v1); i++) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/%s/tasks",
			 v1[i], group);
		put(path, "0");
	}
	must(unshare(CLONE_NEWCGROUP), "cgroup namespace");
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
	must(mount(root, root, NULL, MS_BIND | MS_REC, NULL), root);
	must(chdir(root), root);
	mounts(is_v1);
	devices();
	masks();
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(umount2(".", MNT_DETACH), "umount");
	must(chdir("/"), "/");
	must(sethostname("floor", 5), "hostname");
	confine(filter);
	execve(argv[0], argv, env);
	_exit(127);
}

static void make_groups(int is_v1, const char *group)
{
	static const char *const allow[] = { "c *:* m", "b *:* m",
					     "c 1:3 rwm", "c 1:8 rwm",
					     "c 1:7 rwm", "c 5:0 rwm",
					     "c 1:5 rwm", "c 1:9 rwm",
					     "c 136:* rwm", "c 5:2 rwm" };
	char path[256];

	for (size_t i = 0; is_v1 && i < N(v1); i++) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/%s", v1[i],
			 group);
		must(mkdir(path, 0755), path);
	}
	if (!is_v1)
		return;
	snprintf(path, sizeof(path), "/sys/fs/cgroup/cpuset/%s/cpuset.cpus",
		 group);
	put(path, "0-1");
	snprintf(path, sizeof(path), "/sys/fs/cgroup/cpuset/%s/cpuset.mems",
		 group);
	put(path, "0");
	snprintf(path, sizeof(path), "/sys/fs/cgroup/devices/%s/devices.deny",
		 group);
	put(path, "a");
	snprintf(path, sizeof(path), "/sys/fs/cgroup/devices/%s/devices.allow",
		 group);
	for (size_t i = 0; i < N(allow); i++)
		put(path, allow[i]);
	snprintf(path, sizeof(path), "/sys/fs/cgroup/pids/%s/pids.max", group);
	put(path, "2048");
}

static void read_filter(const char *file, struct sock_fprog *ret)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;

	must(fd, file);
	must(fstat(fd, &st), file);
	ret->filter = malloc((size_t)st.st_size);
	must(read(fd, ret->filter, (size_t)st.st_size), file);
	ret->len = (unsigned short)((size_t)st.st_size /
				    sizeof(struct sock_filter));
	close(fd);
}

static int has_v2(int is_v1)
{
	struct statfs st;

	return statfs(is_v1 ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup",
		      &st) == 0 &&
	       st.f_type == CGROUP2_SUPER_MAGIC;
}

int main(int argc, char **argv)
{
	struct clone_args ca = { .exit_signal = SIGCHLD };
	struct sock_fprog filter;
	struct timespec now;
	char group[64], path[256];
	int is_v1, status;
	long pid;

	if (argc != 4)
		return 2;
	is_v1 = !strcmp(argv[1], "v1");
	read_filter(argv[3], &filter);
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(group, sizeof(group), "floor-%lld-%ld",
		 (long long)now.tv_sec, now.tv_nsec);
	make_groups(is_v1, group);
	ca.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
		   CLONE_NEWUTS;
	/* the v2 side as well: what osh-runtime does on a hybrid machine */
	snprintf(path, sizeof(path), "%s/%s",
		 is_v1 ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup", group);
	if (has_v2(is_v1) && mkdir(path, 0755) == 0) {
		ca.cgroup = (unsigned long long)open(
			path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		ca.flags |= CLONE_INTO_CGROUP;
	}
	pid = syscall(SYS_clone3, &ca, sizeof(ca));
	must(pid, "clone3");
	if (pid == 0)
		child(is_v1, argv[2], group, &filter);
	must(waitpid((pid_t)pid, &status, 0), "wait");
	if (ca.flags & CLONE_INTO_CGROUP)
		must(rmdir(path), path);
	for (size_t i = 0; is_v1 && i < N(v1); i++) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/%s", v1[i],
			 group);
		must(rmdir(path), path);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}
