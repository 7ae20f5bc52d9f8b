/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/match.h"
#include "runtime/policy/policy.h"
#include "shim/notify/hashes.h"
#include "shim/notify/identity.h"

/* ------------------------------------------------------------ files */

struct file_id file_id_of(const struct stat *st)
{
	return (struct file_id){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = st->st_mtim.tv_sec * 1000000000L +
			    st->st_mtim.tv_nsec,
		.ctime_ns = st->st_ctim.tv_sec * 1000000000L +
			    st->st_ctim.tv_nsec,
	};
}

static bool same_file(const struct file_id *a, const struct file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return same_file(a, b) && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

/* ------------------------------------------------------------ tables */

int binary_table_init(struct binary_table *t, const struct policy *p,
		      struct err *err)
{
	size_t bytes = p->n_binaries * sizeof(*t->row);

	t->policy = p;
	t->n = 0;
	t->n_pins = 0;
	t->row = NULL;
	if (!bytes)
		return 0;
	t->row = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->row == MAP_FAILED) {
		t->row = NULL;
		return err_errno(err, errno, "keep %u binaries",
				 p->n_binaries);
	}
	t->n = p->n_binaries;
	return 0;
}

void binary_table_done(struct binary_table *t)
{
	if (t->row)
		munmap(t->row, t->n * sizeof(*t->row));
	t->row = NULL;
	t->n = 0;
	t->policy = NULL;
}

/* ------------------------------------------------------------ matching */

static bool hash(struct identity *id, struct process *p)
{
	if (!p->has_sum)
		p->has_sum = hashes_of_exe(id->proc_fd, p->pid, &p->file,
					   SHIM_HASH_BYTES_MAX, &p->sum);
	return p->has_sum;
}

/*
 * Is @p's content what was pinned as @pinned, @sum? The state of the file may
 * have changed (a chmod) and the content not: then the new state is kept.
 */
static bool still_same(struct identity *id, struct process *p,
		       struct file_id *pinned, bool has_sum,
		       const struct digest *sum)
{
	if (file_id_equal(&p->file, pinned))
		return true;
	if (has_sum && hash(id, p) &&
	    memcmp(&p->sum, sum, sizeof(*sum)) == 0) {
		*pinned = p->file;
		return true;
	}
	id->changed = true;
	return false;
}

/* The first use of a resolved binary: from now on this is its content. */
static bool first_use(struct identity *id, struct process *p,
		      struct binary_row *row, const struct digest *path_sum)
{
	/* the change time can't be set back, as the other times can */
	if (row->has_stat && !file_id_equal(&row->file, &p->file)) {
		id->changed = true; /* written to since create */
		return false;
	}
	row->has_sum = hash(id, p);
	if (row->has_sum)
		row->sum = p->sum;
	row->file = p->file;
	row->path_sum = *path_sum;
	row->pinned = true;
	return true;
}

static bool match_resolved(struct identity *id, struct process *p,
			   struct binary_row *row, const char *written)
{
	struct digest path_sum;

	digest_of(&path_sum, p->path, strlen(p->path));
	if (same_file(&p->file, &row->file))
		return row->pinned ?
			       still_same(id, p, &row->file, row->has_sum,
					  &row->sum) :
			       first_use(id, p, row, &path_sum);
	/* another file: by its name it would be this binary */
	if (row->pinned && memcmp(&row->path_sum, &path_sum,
				  sizeof(path_sum)) == 0)
		return still_same(id, p, &row->file, row->has_sum, &row->sum);
	if (str_eq(p->path, written))
		id->changed = true;
	return false;
}

static bool match_path_of(struct identity *id, struct process *p,
			  struct binary_table *t, uint32_t binary)
{
	const struct policy_binary *b = &t->policy->binary[binary];
	const char *written = policy_text(t->policy, b->path);
	struct digest path_sum;
	struct binary_pin *pin;

	if (b->glob ? !match_path(written, p->path) :
		      !str_eq(written, p->path))
		return false;
	digest_of(&path_sum, p->path, strlen(p->path));
	for (unsigned int i = 0; i < t->n_pins; i++) {
		pin = &t->pin[i];
		if (memcmp(&pin->path_sum, &path_sum, sizeof(path_sum)) == 0)
			return still_same(id, p, &pin->file, pin->has_sum,
					  &pin->sum);
	}
	if (t->n_pins == SHIM_PINS_MAX) {
		id->full = true;
		return false;
	}
	pin = &t->pin[t->n_pins++];
	*pin = (struct binary_pin){ .path_sum = path_sum, .file = p->file };
	pin->has_sum = hash(id, p);
	if (pin->has_sum)
		pin->sum = p->sum;
	return true;
}

static bool match_process(struct identity *id, struct process *p,
			  struct binary_table *t, uint32_t binary)
{
	struct binary_row *row = &t->row[binary];

	if (!p->known)
		return false;
	if (row->resolved)
		return match_resolved(
			id, p, row,
			policy_text(t->policy,
				    t->policy->binary[binary].path));
	return match_path_of(id, p, t, binary);
}

static int parent_of(struct identity *id, int pid);

/*
 * The chain up to process[n] as it is now: pids are reused, so each link must
 * still be there after what it led to was read.
 */
static bool chain_holds(struct identity *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (parent_of(id, id->process[i].pid) !=
		    id->process[i + 1].pid)
			return false;
	return true;
}

static bool matches(const struct decide_caller *c, const struct policy *p,
		    uint32_t binary)
{
	/* only identity_read() hands this function out */
	struct identity *id = (struct identity *)(uintptr_t)c;
	struct binary_table *t = id->table[0];

	if (t->policy != p)
		t = id->table[1];
	if (!t || t->policy != p || binary >= t->n)
		return false;
	if (match_process(id, &id->process[0], t, binary))
		return true;
	identity_walk(id);
	for (size_t i = 1; i < id->n; i++)
		if (match_process(id, &id->process[i], t, binary))
			return chain_holds(id, i);
	return false;
}

/* ------------------------------------------------------------ /proc */

static bool read_exe(struct identity *id, int pid, struct process *ret)
{
	struct stat st;
	char path[32];
	ssize_t n;

	ret->pid = pid;
	ret->has_sum = false;
	ret->known = false;
	ret->path[0] = '\0';
	snprintf(path, sizeof(path), "%d/exe", pid);
	if (fstatat(id->proc_fd, path, &st, 0) < 0)
		return false;
	n = readlinkat(id->proc_fd, path, ret->path, sizeof(ret->path));
	if (n <= 0 || (size_t)n >= sizeof(ret->path)) {
		ret->path[0] = '\0';
		return false;
	}
	ret->path[n] = '\0';
	ret->file = file_id_of(&st);
	ret->known = true;
	return true;
}

/* The parent's pid; 0 when there is none or it can't be told. */
static int parent_of(struct identity *id, int pid)
{
	char path[32], buf[512];
	const char *p;
	ssize_t n;
	int ppid;

	snprintf(path, sizeof(path), "%d/stat", pid);
	n = io_read_str(id->proc_fd, path, buf, sizeof(buf));
	if (n <= 0)
		return 0;
	/* "pid (comm) state ppid": comm may hold anything, so from the end */
	p = strrchr(buf, ')');
	if (!p || sscanf(p, ") %*c %d", &ppid) != 1)
		return 0;
	return ppid;
}

static bool in_pid_namespace(const struct identity *id, int pid)
{
	struct stat st;
	char path[32];

	if (!id->pidns_ino)
		return true;
	snprintf(path, sizeof(path), "%d/ns/pid", pid);
	return fstatat(id->proc_fd, path, &st, 0) == 0 &&
	       st.st_ino == id->pidns_ino && st.st_dev == id->pidns_dev;
}

bool identity_read(struct identity *id, int tid)
{
	id->decide = (struct decide_caller){ .matches = matches };
	id->changed = id->full = id->walked = false;
	id->n = 1;
	if (!read_exe(id, tid, &id->process[0]))
		return false;
	id->decide.exe = id->process[0].path;
	return true;
}

void identity_walk(struct identity *id)
{
	int pid = id->process[0].pid;
	size_t n = 0;

	if (id->walked)
		return;
	id->walked = true;
	while (pid != id->init_pid && pid != id->root_pid &&
	       id->n <= SHIM_ANCESTORS_MAX) {
		struct process *p = &id->process[id->n];

		pid = parent_of(id, pid);
		if (pid <= 1 || !in_pid_namespace(id, pid))
			break;
		/* one without an executable (a zombie) is still a link */
		(void)read_exe(id, pid, p);
		id->n++;
		id->ancestor[n++] = p->path;
	}
	id->decide.ancestors = id->ancestor;
	id->decide.n_ancestors = n;
}

const char *identity_sum(struct identity *id, bool must,
			 char ret_hex[DIGEST_HEX])
{
	struct process *p = &id->process[0];

	if (!p->known)
		return NULL;
	if (!p->has_sum)
		p->has_sum = hashes_of_exe(id->proc_fd, p->pid, &p->file,
					   must ? SHIM_HASH_BYTES_MAX :
						  SHIM_HASH_LOG_BYTES_MAX,
					   &p->sum);
	if (!p->has_sum)
		return NULL;
	digest_hex(&p->sum, ret_hex);
	return ret_hex;
}
