/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup_find.h"

enum {
	MOUNTINFO_MAX = 16 << 20, /* 100,000 mounts are the kernel's limit */
	CGROUP_FILE_MAX = 64 << 10,
};

/* Names in v1 and v2; NULL: not a controller there. */
static const struct {
	const char *v1, *v2;
} names[] = {
	[CGROUP_CPU] = {"cpu", "cpu"},
	[CGROUP_CPUACCT] = {"cpuacct", NULL},
	[CGROUP_CPUSET] = {"cpuset", "cpuset"},
	[CGROUP_MEMORY] = {"memory", "memory"},
	[CGROUP_PIDS] = {"pids", "pids"},
	[CGROUP_IO] = {"blkio", "io"},
	[CGROUP_HUGETLB] = {"hugetlb", "hugetlb"},
	[CGROUP_RDMA] = {"rdma", "rdma"},
	[CGROUP_MISC] = {"misc", "misc"},
	[CGROUP_DEVICES] = {"devices", NULL},
	[CGROUP_FREEZER] = {"freezer", NULL},
	[CGROUP_NET_CLS] = {"net_cls", NULL},
	[CGROUP_NET_PRIO] = {"net_prio", NULL},
	[CGROUP_PERF_EVENT] = {"perf_event", "perf_event"},
};
_Static_assert(N_ELEMENTS(names) == CGROUP_CONTROLLER_N, "a row for each");

const char *cgroup_controller_name(enum cgroup_controller c, bool v2)
{
	return v2 && names[c].v2 ? names[c].v2 : names[c].v1;
}

/* The next word of *@p, which ends at any of @seps; NULL at the end. */
static char *take_word(char **p, const char *seps)
{
	char *word = *p + strspn(*p, seps);
	size_t n = strcspn(word, seps);

	if (n == 0)
		return NULL;
	*p = word + n;
	if (**p != '\0')
		*(*p)++ = '\0';
	return word;
}

static uint32_t bit_of(const char *name, bool v2)
{
	for (size_t i = 0; i < CGROUP_CONTROLLER_N; i++) {
		const char *is = v2 ? names[i].v2 : names[i].v1;

		if (is && str_eq(is, name))
			return UINT32_C(1) << i;
	}
	return 0;
}

uint32_t cgroup_find_controllers(const char *list)
{
	uint32_t bits = 0;
	char name[32];

	while (*list) {
		size_t n = strcspn(list, " \n");

		if (n > 0 && n < sizeof(name)) {
			memcpy(name, list, n);
			name[n] = '\0';
			bits |= bit_of(name, true);
		}
		list += n;
		list += strspn(list, " \n");
	}
	return bits;
}

/* mountinfo writes blank, tab, newline and backslash as \ooo. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				       (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* Is what @h->mount shows now the mount of device @dev ("0:41")? */
static bool is_mounted(const struct cgroup_hierarchy *h, const char *dev)
{
	own_close int fd =
		openat(AT_FDCWD, h->mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char room[32];
	struct strbuf is = STRBUF_FIXED(room);
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return false;
	strbuf_addf(&is, "%u:%u", major(st.st_dev), minor(st.st_dev));
	return fs.f_type ==
		       (h->v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC) &&
	       str_eq(is.s, dev);
}

/* v1's controllers are among the mount's options: "rw,cpu,cpuacct". */
static void read_options(struct cgroup_hierarchy *h, char *options)
{
	char *word;

	while ((word = take_word(&options, ","))) {
		h->controllers |= bit_of(word, false);
		if (str_eq(word, "name=systemd"))
			h->systemd = true;
	}
}

static void read_v2_controllers(struct cgroup_hierarchy *h)
{
	own_close int fd =
		openat(AT_FDCWD, h->mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[512];

	if (fd >= 0 &&
	    io_read_str(fd, "cgroup.controllers", text, sizeof(text)) > 0)
		h->controllers = cgroup_find_controllers(text);
}

static bool same_hierarchy(const struct cgroup_hierarchy *a,
			   const struct cgroup_hierarchy *b)
{
	return a->v2 == b->v2 && a->systemd == b->systemd &&
	       (a->v2 || a->controllers == b->controllers);
}

/* One hierarchy may be mounted many times: the usual place wins, the first. */
static int keep(struct cgroup_hierarchies *all,
		const struct cgroup_hierarchy *h, struct err *err)
{
	for (size_t i = 0; i < all->n; i++) {
		if (!same_hierarchy(&all->v[i], h))
			continue;
		if (!str_after(all->v[i].mount, "/sys/fs/cgroup") &&
		    str_after(h->mount, "/sys/fs/cgroup"))
			all->v[i] = *h;
		return 0;
	}
	if (all->n == N_ELEMENTS(all->v))
		return err_set(err, E2BIG, "find cgroups: more than %zu mounts",
			       N_ELEMENTS(all->v));
	all->v[all->n++] = *h;
	return 0;
}

/*
 * A line of mountinfo (proc_pid_mountinfo(5)):
 * id parent dev root mount options [tags...] - type source super-options
 */
static int read_mount(char *line, bool verify, struct cgroup_hierarchies *all,
		      struct err *err)
{
	char *tail = strstr(line, " - cgroup");
	struct cgroup_hierarchy h = {0};
	char *dev, *root, *mount, *type, *options;

	if (!tail)
		return 0;
	*tail = '\0';
	tail += strlen(" - ");
	type = take_word(&tail, " ");
	take_word(&tail, " ");
	options = take_word(&tail, " ");
	take_word(&line, " ");
	take_word(&line, " ");
	dev = take_word(&line, " ");
	root = take_word(&line, " ");
	mount = take_word(&line, " ");
	if (!type || !options || !dev || !root || !mount)
		return 0;
	if (!str_eq(type, "cgroup") && !str_eq(type, "cgroup2"))
		return 0;
	unescape(root);
	unescape(mount);
	h.v2 = str_eq(type, "cgroup2");
	h.root = root;
	h.mount = mount;
	if (!h.v2)
		read_options(&h, options);
	/* other named hierarchies are nobody's that we know */
	if (!h.v2 && !h.controllers && !h.systemd)
		return 0;
	if (verify && !is_mounted(&h, dev))
		return 0;
	return keep(all, &h, err);
}

/* @path without the mount's root: what it is called below the mount. */
static const char *below(const char *path, const char *root)
{
	const char *rest = str_eq(root, "/") ? path : str_after(path, root);

	if (rest && *rest == '\0')
		return "/";
	/* "/.." leads out of our cgroup namespace */
	return rest && *rest == '/' && !strstr(rest, "/..") ? rest : NULL;
}

/* A line of /proc/PID/cgroup: "4:cpu,cpuacct:/path", "0::/path". */
static void read_own(char *line, struct cgroup_hierarchies *all)
{
	char *list = strchr(line, ':');
	char *path = list ? strchr(list + 1, ':') : NULL;
	uint32_t bits = 0;
	bool v2, systemd = false;
	char *word;

	if (!path)
		return;
	*path++ = '\0';
	list++;
	v2 = *list == '\0';
	while ((word = take_word(&list, ","))) {
		bits |= bit_of(word, false);
		systemd = systemd || str_eq(word, "name=systemd");
	}
	for (size_t i = 0; i < all->n; i++) {
		struct cgroup_hierarchy *h = &all->v[i];

		if (h->v2 ? v2
			  : (h->controllers & bits) || (systemd && h->systemd))
			h->own = below(path, h->root);
	}
}

int cgroup_find_parse(char *mountinfo, char *cgroup, bool verify,
		      struct cgroup_hierarchies *ret, struct err *err)
{
	char *line;
	int r;

	*ret = (struct cgroup_hierarchies){0};
	while ((line = take_word(&mountinfo, "\n"))) {
		r = read_mount(line, verify, ret, err);
		if (r < 0)
			return r;
	}
	while (cgroup && (line = take_word(&cgroup, "\n")))
		read_own(line, ret);
	return 0;
}

int cgroup_find(struct arena *a, struct cgroup_hierarchies *ret,
		struct err *err)
{
	char *mountinfo, *cgroup;
	int r;

	r = io_read_file(a, AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX,
			 &mountinfo, NULL, err);
	if (r == 0)
		r = io_read_file(a, AT_FDCWD, "/proc/self/cgroup",
				 CGROUP_FILE_MAX, &cgroup, NULL, err);
	if (r == 0)
		r = cgroup_find_parse(mountinfo, cgroup, true, ret, err);
	if (r < 0)
		return err_wrap(err, "find cgroups");
	for (size_t i = 0; i < ret->n; i++)
		if (ret->v[i].v2)
			read_v2_controllers(&ret->v[i]);
	return 0;
}
