/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v2: the program gets struct bpf_cgroup_dev_ctx and decides bit by bit (read,
 * write, mknod), because a rule may name some of them only. It walks the rules
 * from the last to the first with the undecided bits in a register: a deny
 * rule that names any of them refuses; an allow rule takes its own away, and
 * when none is left, grants; at the end the undecided are refused.
 *
 * v1: the kernel keeps one default and a list of exceptions to it, and an
 * exception is removed only by an exact match. So the rules are first brought
 * to that form here; what has none is refused (deny c 10:229 after allow
 * c 10:*).
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/bpf.h"
#include "runtime/linux/cgroup_devices.h"

enum {
	ACCESS_ALL = CGROUP_DEV_READ | CGROUP_DEV_WRITE | CGROUP_DEV_MKNOD,
	INSNS_MAX = 4096,
	INSNS_PER_RULE = 8,
	INSNS_FIXED = 8, /* what comes before and after the rules */
	RULES_MAX = (INSNS_MAX - INSNS_FIXED) / INSNS_PER_RULE,
	ATTACHED_MAX = 64, /* BPF_CGROUP_MAX_PROGS */
};

#define ANY (-1)
#define NODE(t, maj, min, acc)                                              \
	{                                                                   \
		.allow = true, .type = (t), .major = (maj), .minor = (min), \
		.access = (acc)                                             \
	}

const struct cgroup_device_rule cgroup_default_devices[] = {
	NODE('c', ANY, ANY, CGROUP_DEV_MKNOD),
	NODE('b', ANY, ANY, CGROUP_DEV_MKNOD),
	NODE('c', 1, 3, ACCESS_ALL), /* null */
	NODE('c', 1, 5, ACCESS_ALL), /* zero */
	NODE('c', 1, 7, ACCESS_ALL), /* full */
	NODE('c', 1, 8, ACCESS_ALL), /* random */
	NODE('c', 1, 9, ACCESS_ALL), /* urandom */
	NODE('c', 5, 0, ACCESS_ALL), /* tty */
	NODE('c', 5, 1, ACCESS_ALL), /* console */
	NODE('c', 5, 2, ACCESS_ALL), /* ptmx */
	NODE('c', 136, ANY, ACCESS_ALL), /* pts/N */
};
const size_t cgroup_n_default_devices = N_ELEMENTS(cgroup_default_devices);

static bool is_everything(const struct cgroup_device_rule *r)
{
	return r->type == 'a' && r->major == ANY && r->minor == ANY &&
	       r->access == ACCESS_ALL;
}

static int check_rules(const struct cgroup_device_rule *rules, size_t n,
		       struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct cgroup_device_rule *r = &rules[i];

		if ((r->type != 'a' && r->type != 'b' && r->type != 'c') ||
		    r->major < ANY || r->major > UINT32_MAX || r->minor < ANY ||
		    r->minor > UINT32_MAX || r->access == 0 ||
		    r->access & ~(unsigned int)ACCESS_ALL)
			return err_set(err, EINVAL,
				       "device rule %zu: out of range", i);
	}
	return 0;
}

/* ------------------------------------------------------------ v2 program */

/* Our bits in the kernel's numbering. */
static int32_t bpf_access(unsigned int access)
{
	return (access & CGROUP_DEV_MKNOD ? BPF_DEVCG_ACC_MKNOD : 0) |
	       (access & CGROUP_DEV_READ ? BPF_DEVCG_ACC_READ : 0) |
	       (access & CGROUP_DEV_WRITE ? BPF_DEVCG_ACC_WRITE : 0);
}

enum { REG_RET, REG_CTX, REG_TYPE, REG_LEFT, REG_MAJOR, REG_MINOR, REG_TMP };

struct assembler {
	struct bpf_insn *v;
	size_t n, size;
};

static void emit(struct assembler *s, struct bpf_insn insn)
{
	assert(s->n < s->size);
	s->v[s->n++] = insn;
}

static void emit_return(struct assembler *s, int32_t value)
{
	emit(s, EBPF_MOV64_IMM(REG_RET, value));
	emit(s, EBPF_EXIT());
}

static void emit_prologue(struct assembler *s)
{
	/* access_type: the node's type below, the access above */
	emit(s, EBPF_LOAD32(REG_LEFT, REG_CTX, 0));
	emit(s, EBPF_MOV32(REG_TYPE, REG_LEFT));
	emit(s, EBPF_ALU32_IMM(BPF_AND, REG_TYPE, 0xffff));
	emit(s, EBPF_ALU32_IMM(BPF_RSH, REG_LEFT, 16));
	emit(s, EBPF_LOAD32(REG_MAJOR, REG_CTX, 4));
	emit(s, EBPF_LOAD32(REG_MINOR, REG_CTX, 8));
}

static void emit_rule(struct assembler *s, const struct cgroup_device_rule *r)
{
	size_t skips[3], n_skips = 0;

	if (r->type != 'a') {
		skips[n_skips++] = s->n;
		emit(s, EBPF_JUMP_IMM(BPF_JNE, REG_TYPE,
				      r->type == 'c' ? BPF_DEVCG_DEV_CHAR
						     : BPF_DEVCG_DEV_BLOCK,
				      0));
	}
	if (r->major != ANY) {
		skips[n_skips++] = s->n;
		emit(s,
		     EBPF_JUMP_IMM(BPF_JNE, REG_MAJOR, (int32_t)r->major, 0));
	}
	if (r->minor != ANY) {
		skips[n_skips++] = s->n;
		emit(s,
		     EBPF_JUMP_IMM(BPF_JNE, REG_MINOR, (int32_t)r->minor, 0));
	}
	if (r->allow) {
		/* nothing left undecided: granted */
		emit(s,
		     EBPF_ALU32_IMM(BPF_AND, REG_LEFT, ~bpf_access(r->access)));
		emit(s, EBPF_JUMP_IMM(BPF_JNE, REG_LEFT, 0, 2));
		emit_return(s, 1);
	} else {
		emit(s, EBPF_MOV32(REG_TMP, REG_LEFT));
		emit(s,
		     EBPF_ALU32_IMM(BPF_AND, REG_TMP, bpf_access(r->access)));
		emit(s, EBPF_JUMP_IMM(BPF_JEQ, REG_TMP, 0, 2));
		emit_return(s, 0);
	}
	for (size_t i = 0; i < n_skips; i++)
		s->v[skips[i]].off = (int16_t)(s->n - skips[i] - 1);
}

int cgroup_devices_program(struct arena *a,
			   const struct cgroup_device_rule *rules, size_t n,
			   struct bpf_insn **ret_insns, size_t *ret_n,
			   struct err *err)
{
	struct assembler s = {.size = INSNS_PER_RULE * n + INSNS_FIXED};
	bool decided = false;
	int r = check_rules(rules, n, err);

	if (r < 0)
		return r;
	if (n > RULES_MAX)
		return err_set(err, E2BIG, "device rules: more than %d",
			       RULES_MAX);
	s.v = arena_array(a, struct bpf_insn, s.size);
	emit_prologue(&s);
	for (size_t i = n; i-- > 0 && !decided;) {
		decided = is_everything(&rules[i]);
		if (decided)
			emit_return(&s, rules[i].allow);
		else
			emit_rule(&s, &rules[i]);
	}
	if (!decided) /* the verifier refuses code that can't be reached */
		emit_return(&s, 0);
	*ret_insns = s.v;
	*ret_n = s.n;
	return 0;
}

/* ------------------------------------------------------------ v2 attach */

static int bpf(int cmd, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static int load_once(const struct bpf_insn *insns, size_t n)
{
	union bpf_attr attr = {0};

	attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = (uint32_t)n;
	attr.license = (uint64_t)(uintptr_t) "Apache-2.0";
	memcpy(attr.prog_name, "osh_devices", sizeof("osh_devices"));
	return bpf(BPF_PROG_LOAD, &attr);
}

/*
 * Kernels before 5.11 charge programs to RLIMIT_MEMLOCK: only where that is
 * the obstacle it is raised, and put back.
 */
static int load(const struct bpf_insn *insns, size_t n)
{
	struct rlimit old, more = {RLIM_INFINITY, RLIM_INFINITY};
	int fd = load_once(insns, n);

	if (fd != -EPERM || getrlimit(RLIMIT_MEMLOCK, &old) < 0 ||
	    old.rlim_cur == RLIM_INFINITY ||
	    setrlimit(RLIMIT_MEMLOCK, &more) < 0)
		return fd;
	fd = load_once(insns, n);
	setrlimit(RLIMIT_MEMLOCK, &old);
	return fd;
}

static int attached(int dir_fd, uint32_t ids[ATTACHED_MAX], uint32_t *ret_n)
{
	union bpf_attr attr = {0};
	int r;

	attr.query.target_fd = (uint32_t)dir_fd;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.prog_ids = (uint64_t)(uintptr_t)ids;
	attr.query.prog_cnt = ATTACHED_MAX;
	r = bpf(BPF_PROG_QUERY, &attr);
	*ret_n = r < 0 ? 0 : attr.query.prog_cnt;
	return r;
}

static int detach(int dir_fd, uint32_t id)
{
	union bpf_attr attr = {0};
	own_close int fd = -EBADF;

	attr.prog_id = id;
	fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd < 0)
		return fd;
	attr = (union bpf_attr){0};
	attr.target_fd = (uint32_t)dir_fd;
	attr.attach_bpf_fd = (uint32_t)fd;
	attr.attach_type = BPF_CGROUP_DEVICE;
	return bpf(BPF_PROG_DETACH, &attr);
}

/* The new one first: all must allow, so there is no moment without any. */
static int replace(int dir_fd, int prog_fd)
{
	uint32_t ids[ATTACHED_MAX], n = 0;
	union bpf_attr attr = {0};
	int r = attached(dir_fd, ids, &n);

	if (r < 0)
		return r;
	attr.target_fd = (uint32_t)dir_fd;
	attr.attach_bpf_fd = (uint32_t)prog_fd;
	attr.attach_type = BPF_CGROUP_DEVICE;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	r = bpf(BPF_PROG_ATTACH, &attr);
	for (uint32_t i = 0; r >= 0 && i < n; i++)
		r = detach(dir_fd, ids[i]);
	return r < 0 ? r : 0;
}

int cgroup_devices_attach(int dir_fd, const struct cgroup_device_rule *rules,
			  size_t n, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	own_close int read_fd = -EBADF;
	own_close int prog_fd = -EBADF;
	struct bpf_insn *insns = NULL;
	size_t n_insns = 0;
	int r = cgroup_devices_program(&a, rules, n, &insns, &n_insns, err);

	if (r < 0)
		return r;
	/* bpf(2) takes no O_PATH descriptor */
	read_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (read_fd < 0)
		return err_errno(err, errno, "open cgroup");
	prog_fd = load(insns, n_insns);
	if (prog_fd < 0)
		return err_errno(err, -prog_fd, "load BPF device program");
	r = replace(read_fd, prog_fd);
	if (r < 0)
		return err_errno(err, -r, "attach BPF device program");
	return 0;
}

/* ------------------------------------------------------------------- v1 */

struct v1_list {
	bool allow; /* the default */
	struct cgroup_device_rule *v;
	size_t n;
};

static bool covers(int64_t wide, int64_t narrow)
{
	return wide == ANY || wide == narrow;
}

static bool meets(int64_t a, int64_t b)
{
	return a == ANY || b == ANY || a == b;
}

/* Take from the exceptions what a rule that equals the default names. */
static int v1_remove(struct v1_list *l, const struct cgroup_device_rule *r,
		     struct err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		struct cgroup_device_rule *e = &l->v[i];

		if (e->type != r->type || !(e->access & r->access) ||
		    !meets(e->major, r->major) || !meets(e->minor, r->minor))
			continue;
		if (!covers(r->major, e->major) || !covers(r->minor, e->minor))
			return err_set(err, EINVAL,
				       "device rule %s %c %lld:%lld: cgroup v1 "
				       "can't have it inside a wider rule",
				       r->allow ? "allow" : "deny", r->type,
				       (long long)r->major,
				       (long long)r->minor);
		e->access &= ~r->access;
	}
	return 0;
}

static void v1_add(struct arena *a, struct v1_list *l,
		   const struct cgroup_device_rule *r)
{
	for (size_t i = 0; i < l->n; i++) {
		struct cgroup_device_rule *e = &l->v[i];

		if (e->type == r->type && e->major == r->major &&
		    e->minor == r->minor) {
			e->access |= r->access;
			return;
		}
	}
	l->v = arena_grow(a, l->v, l->n, sizeof(*l->v));
	l->v[l->n++] = *r;
}

static int v1_apply(struct arena *a, struct v1_list *l,
		    const struct cgroup_device_rule *rule, struct err *err)
{
	struct cgroup_device_rule r = *rule;
	/* the kernel's "a" ignores the rest of its line: both types instead */
	const char types[] = {rule->type == 'a' ? 'b' : rule->type, 'c'};
	size_t n = rule->type == 'a' ? 2 : 1;
	int ret = 0;

	if (is_everything(&r)) {
		l->allow = r.allow;
		l->n = 0;
		return 0;
	}
	for (size_t i = 0; ret == 0 && i < n; i++) {
		r.type = types[i];
		if (r.allow == l->allow)
			ret = v1_remove(l, &r, err);
		else
			v1_add(a, l, &r);
	}
	return ret;
}

static int v1_write(int fd, const struct cgroup_device_rule *r)
{
	char room[64];
	struct strbuf s = STRBUF_FIXED(room);

	strbuf_addf(&s, "%c ", r->type);
	if (r->major == ANY)
		strbuf_adds(&s, "*:");
	else
		strbuf_addf(&s, "%lld:", (long long)r->major);
	if (r->minor == ANY)
		strbuf_adds(&s, "* ");
	else
		strbuf_addf(&s, "%lld ", (long long)r->minor);
	if (r->access & CGROUP_DEV_READ)
		strbuf_addc(&s, 'r');
	if (r->access & CGROUP_DEV_WRITE)
		strbuf_addc(&s, 'w');
	if (r->access & CGROUP_DEV_MKNOD)
		strbuf_addc(&s, 'm');
	return write(fd, s.s, s.len) < 0 ? -errno : 0;
}

int cgroup_devices_write(int dir_fd, const struct cgroup_device_rule *rules,
			 size_t n, struct err *err)
{
	own_arena struct arena a = ARENA_INIT;
	own_close int allow_fd = -EBADF;
	own_close int deny_fd = -EBADF;
	struct v1_list l = {0};
	int r = check_rules(rules, n, err);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = v1_apply(&a, &l, &rules[i], err);
	if (r < 0)
		return r;
	allow_fd = openat(dir_fd, "devices.allow", O_WRONLY | O_CLOEXEC);
	if (allow_fd < 0)
		return err_errno(err, errno, "open devices.allow");
	deny_fd = openat(dir_fd, "devices.deny", O_WRONLY | O_CLOEXEC);
	if (deny_fd < 0)
		return err_errno(err, errno, "open devices.deny");
	if (write(l.allow ? allow_fd : deny_fd, "a", 1) < 0)
		return err_errno(err, errno, "write devices.%s = a",
				 l.allow ? "allow" : "deny");
	for (size_t i = 0; i < l.n; i++) {
		if (l.v[i].access == 0)
			continue;
		r = v1_write(l.allow ? deny_fd : allow_fd, &l.v[i]);
		if (r < 0)
			return err_errno(err, -r,
					 "write devices.%s, rule %c %lld:%lld",
					 l.allow ? "deny" : "allow",
					 l.v[i].type, (long long)l.v[i].major,
					 (long long)l.v[i].minor);
	}
	return 0;
}
