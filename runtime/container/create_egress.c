/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/create_egress.h"
#include "runtime/container/create_state.h"
#include "runtime/container/egress_leave.h"
#include "runtime/container/record.h"
#include "runtime/linux/process.h"
#include "runtime/oci/spec_linux.h"

enum { RESOLV_CONF_MAX = 64 << 10 };

/* ---------------------------------------------------- upstream nameservers */

/* One "nameserver" line's address, with %scope for link-local ones. */
static bool parse_upstream(char *text, struct shim_upstream *ret)
{
	char *scope = strchr(text, '%');
	struct in_addr v4;

	*ret = (struct shim_upstream){ .port = 53 };
	if (scope) {
		*scope++ = '\0';
		ret->scope_id = if_nametoindex(scope);
	}
	if (inet_pton(AF_INET, text, &v4) == 1) {
		ret->addr[10] = ret->addr[11] = 0xff;
		memcpy(ret->addr + 12, &v4, 4);
		return true;
	}
	return inet_pton(AF_INET6, text, ret->addr) == 1;
}

/*
 * A server on the container's own loopback is whoever binds it there: the
 * agent. Docker's embedded one is different: 127.0.0.11 is redirected to the
 * daemon by NAT rules that it puts into the namespace.
 */
static bool is_agents_own(const struct shim_upstream *u)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t docker[4] = { 127, 0, 0, 11 };
	static const uint8_t none[16], loopback6[16] = { [15] = 1 };

	if (!memcmp(u->addr, none, 16) || !memcmp(u->addr, loopback6, 16))
		return true;
	return !memcmp(u->addr, v4, 12) &&
	       (u->addr[12] == 0 ||
		(u->addr[12] == 127 && memcmp(u->addr + 12, docker, 4) != 0));
}

/* resolv.conf(5): glibc's default without a nameserver is the local one. */
static void add_upstreams(char *text, struct shim_attach *ret,
			  blueprint_note note)
{
	for (char *line = text, *next; line && *line; line = next) {
		const char *word;
		char address[64];
		size_t n;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		word = str_after(line, "nameserver");
		if (!word || (*word != ' ' && *word != '\t'))
			continue;
		word += strspn(word, " \t");
		n = strcspn(word, " \t\r");
		if (n >= sizeof(address) ||
		    ret->n_upstreams == SHIM_UPSTREAMS_MAX)
			continue;
		memcpy(address, word, n);
		address[n] = '\0';
		if (!parse_upstream(address,
				    &ret->upstream[ret->n_upstreams]))
			continue;
		if (is_agents_own(&ret->upstream[ret->n_upstreams]))
			note("find nameservers: %s is left out: in the "
			     "container it would be the agent's own",
			     address);
		else
			ret->n_upstreams++;
	}
}

/*
 * The file that the client mounts over the container's resolv.conf, else the
 * host's: never the image's, and never what the agent may write later.
 */
static int find_upstreams(struct create *c, struct shim_attach *ret,
			  struct err *err)
{
	const char *path = c->b.plan->resolv_conf;
	own_close int fd = -EBADF;
	struct stat st;
	char *text;
	int r;

	if (!path)
		path = "/etc/resolv.conf";
	else if (path[0] != '/')
		path = arena_printf(c->arena, "%s/%s", c->b.bundle, path);
	/* a FIFO that somebody put there must not hold us up */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* no file: no names, as for any program on such a host */
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, errno, "find nameservers: open %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL,
			       "find nameservers: %s is not a regular file",
			       path);
	r = io_read_all(c->arena, fd, RESOLV_CONF_MAX, path, &text, NULL, err);
	if (r < 0)
		return err_wrap(err, "find nameservers");
	add_upstreams(text, ret, c->args->note);
	return 0;
}

/* ------------------------------------------------------------------ attach */

static int open_log_dir(struct create *c, int *ret_fd, struct err *err)
{
	const char *dir = blueprint_log_dir(&c->b, err);

	if (!dir)
		return -err->code;
	if (mkdir(dir, 0700) < 0 && errno == ENOENT) {
		char *parent = arena_strdup(c->arena, dir);
		char *slash = strrchr(parent, '/');

		if (slash && slash != parent) {
			*slash = '\0';
			if (mkdir(parent, 0755) < 0 && errno != EEXIST)
				return err_errno(err, errno,
						 "create folder %s", parent);
		}
		if (mkdir(dir, 0700) < 0 && errno != EEXIST)
			return err_errno(err, errno, "create folder %s", dir);
	}
	*ret_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0)
		return err_errno(err, errno, "open folder %s", dir);
	return 0;
}

static void fill_attach(struct create *c, struct shim_attach *ret)
{
	const struct plan *plan = c->b.plan;

	*ret = (struct shim_attach){
		.inbound = plan->inbound_none ? SHIM_INBOUND_NONE :
						SHIM_INBOUND_LISTENING,
		.on_death = SHIM_ON_DEATH_KEEP,
		.deny_all = plan->egress == OCI_EGRESS_DENY_ALL,
		.log_max_bytes = c->b.host.log.max_bytes,
	};
	str_copy(ret->source, sizeof(ret->source), c->b.source.label);
}

int create_egress_attach(struct create *c, struct err *err)
{
	own_close int netns_fd = -EBADF;
	own_close int log_dir_fd = -EBADF;
	struct shim_attach attach;
	struct egress_start start;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)c->pid);
	netns_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (netns_fd < 0)
		return err_errno(err, errno, "open %s", path);
	fill_attach(c, &attach);
	r = find_upstreams(c, &attach, err);
	if (r == 0)
		r = open_log_dir(c, &log_dir_fd, err);
	if (r < 0)
		return r;
	start = (struct egress_start){
		.netns_fd = netns_fd,
		.policy_fd = c->b.policy.fd,
		.ceiling_fd = c->b.has_ceiling ? c->b.ceiling.fd : -EBADF,
		.log_dir_fd = log_dir_fd,
		.attach = &attach,
		.arena = c->arena,
		.own_cgroup = !c->args->no_cgroup,
		.cgroups_path = c->b.plan->spec->linux_->cgroups_path,
	};
	return egress_attach(&c->egress, c->args->id, c->netns_cookie, &start,
			     err);
}

void create_egress_undo(struct create *c)
{
	struct err err;

	if (c->b.plan->egress == OCI_EGRESS_PLAIN ||
	    !c->state->policy->netns_cookie)
		return;
	/* a connection on which a request failed may hold a late answer */
	egress_done(&c->egress);
	if (egress_leave(c->arena, c->args->id, c->netns_cookie, &err) < 0)
		c->args->note("undo create: %s", err.text);
}

/* ---------------------------------------------------------------- binaries */

struct rows {
	struct shim_binary *v;
	uint32_t n;
};

static int64_t nanoseconds(const struct timespec *t)
{
	return t->tv_sec * 1000000000L + t->tv_nsec;
}

/*
 * Exact names of @p that exist now. Symlinks are followed beneath the root;
 * what is found is pinned by device and inode, and must be as it is now when it
 * is used first. Globs, and what does not exist yet, are matched by the shim at
 * the call.
 */
static int resolve_binaries(struct create *c, int root_fd,
			    const struct policy *p, bool ceiling,
			    struct rows *ret, struct err *err)
{
	for (uint32_t i = 0; i < p->n_binaries; i++) {
		const char *path = policy_text(p, p->binary[i].path);
		own_close int fd = -EBADF;
		struct stat st;

		if (p->binary[i].glob)
			continue;
		fd = path_try_in(root_fd, path, O_PATH);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) < 0)
			return err_errno(err, errno, "stat binary %s", path);
		if (!S_ISREG(st.st_mode))
			continue;
		ret->v = arena_grow(c->arena, ret->v, ret->n, sizeof(*ret->v));
		ret->v[ret->n++] = (struct shim_binary){
			.binary = i,
			.ceiling = ceiling,
			.dev = st.st_dev,
			.ino = st.st_ino,
			.size = (uint64_t)st.st_size,
			.mtime_ns = nanoseconds(&st.st_mtim),
			.ctime_ns = nanoseconds(&st.st_ctim),
		};
	}
	return 0;
}

int create_egress_binaries(struct create *c, struct err *err)
{
	own_close int root_fd = -EBADF;
	struct rows rows = { 0 };
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)c->pid);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return err_errno(err, errno, "open %s", path);
	r = resolve_binaries(c, root_fd, &c->b.policy.view, false, &rows, err);
	if (r == 0 && c->b.has_ceiling)
		r = resolve_binaries(c, root_fd, &c->b.ceiling.view, true,
				     &rows, err);
	if (r == 0)
		r = egress_binaries(&c->egress, c->pid, rows.v, rows.n, err);
	if (r == 0 && c->n_rulesets)
		r = egress_request(&c->egress, SHIM_OP_RULESETS, c->pid,
				   c->ruleset_fd, c->n_rulesets, err);
	return r;
}

int create_egress_listener(struct egress *e, int pidfd, pid_t pid, int number,
			   struct err *err)
{
	own_close int fd = -EBADF;
	int r = process_take_fd(pidfd, number, &fd, err);

	if (r < 0)
		return err_wrap(err, "take the filter's listener");
	return egress_request(e, SHIM_OP_LISTENER, pid, &fd, 1, err);
}
