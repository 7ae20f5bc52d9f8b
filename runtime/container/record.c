/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/record.h"
#include "runtime/container/store.h"
#include "runtime/linux/cgroup_procs.h"
#include "runtime/linux/process.h"

enum { RECORD_STATE_MAX = 1 << 20, RECORD_MAGIC = 0x6f736863 /* "oshc" */ };

/*
 * The file "cgroup": this header, then n_dirs structs as they are in memory.
 * Written and read by the same program version only (magic and size differ
 * otherwise); cgroup_check() looks at every member.
 */
struct cgroup_file {
	uint32_t magic, dir_bytes, n_dirs, unused;
	struct digest digest; /* of the structs */
};

int record_save_cgroup(const struct store_entry *e, const char *file,
		       const struct cgroup *cg, struct err *err)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	size_t size = cg->n_dirs * sizeof(cg->dir[0]);
	struct cgroup_file head = { .magic = RECORD_MAGIC,
				    .dir_bytes = sizeof(cg->dir[0]),
				    .n_dirs = cg->n_dirs };

	digest_of(&head.digest, cg->dir, size);
	strbuf_add(&sb, &head, sizeof(head));
	strbuf_add(&sb, cg->dir, size);
	return io_replace_file(e->dir_fd, file, sb.s, sb.len, err);
}

int record_load_cgroup(struct arena *a, const struct store_entry *e,
		       const char *file, struct cgroup *ret, struct err *err)
{
	struct cgroup_file head;
	struct digest d;
	char *data;
	size_t len, size;
	int r = io_read_file(a, e->dir_fd, file, sizeof(head) + sizeof(*ret),
			     &data, &len, err);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	if (len < sizeof(head))
		return err_set(err, EINVAL, "read %s/%s: damaged", e->path,
			       file);
	memcpy(&head, data, sizeof(head));
	if (head.magic != RECORD_MAGIC ||
	    head.dir_bytes != sizeof(ret->dir[0]) ||
	    head.n_dirs > CGROUP_DIRS_MAX ||
	    len != sizeof(head) + head.n_dirs * sizeof(ret->dir[0]))
		return err_set(err, EINVAL,
			       "read %s/%s: of another version, or damaged",
			       e->path, file);
	size = head.n_dirs * sizeof(ret->dir[0]);
	digest_of(&d, data + sizeof(head), size);
	if (memcmp(&d, &head.digest, sizeof(d)) != 0)
		return err_set(err, EINVAL, "read %s/%s: damaged", e->path,
			       file);
	ret->n_dirs = head.n_dirs;
	memcpy(ret->dir, data + sizeof(head), size);
	return ret->n_dirs ? cgroup_check(ret, err) : 0;
}

int record_load(struct arena *a, const struct store_entry *e,
		struct record *ret, struct err *err)
{
	const char *file = arena_printf(a, "%s/state.json", e->path);
	char *text;
	size_t len;
	int r;

	*ret = (struct record){ .cgroup = arena_new(a, struct cgroup) };
	r = io_read_file(a, e->dir_fd, "state.json", RECORD_STATE_MAX, &text,
			 &len, err);
	if (r < 0)
		return r;
	r = oci_state_parse(a, file, text, len, &ret->state, err);
	if (r < 0)
		return r;
	r = record_load_cgroup(a, e, "cgroup", ret->cgroup, err);
	return r == -ENOENT ? 0 : r;
}

int record_save_state(const struct store_entry *e, const struct oci_state *s,
		      struct err *err)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;

	oci_state_write(&sb, s);
	return io_replace_file(e->dir_fd, "state.json", sb.s, sb.len, err);
}

enum oci_status record_status(const struct store_entry *e,
			      const struct record *r)
{
	const struct oci_state *s = r->state;

	if (s->pid == 0)
		return OCI_CREATING;
	if (!process_is_alive(s->pid, s->pid_start))
		return OCI_STOPPED;
	if (faccessat(e->dir_fd, "start", F_OK, 0) == 0)
		return OCI_CREATED;
	return r->cgroup->n_dirs && cgroup_is_frozen(r->cgroup) ? OCI_PAUSED :
								  OCI_RUNNING;
}

int record_open_init(const struct record *r, int *ret_pidfd, struct err *err)
{
	const struct oci_state *s = r->state;

	if (s->pid == 0 || !process_is_alive(s->pid, s->pid_start) ||
	    process_open(s->pid, s->pid_start, ret_pidfd, err) < 0)
		return err_set(err, ESRCH, "container %s: container not "
					   "running",
			       s->id);
	return 0;
}

const char *record_hook_state(struct arena *a, const struct oci_state *s,
			      enum oci_status status)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);

	oci_state_report(&j, s, status, true);
	return arena_strndup(a, sb.s, sb.len);
}
