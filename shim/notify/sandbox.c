/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/notify/grants.h"
#include "shim/notify/sandbox.h"

/* ------------------------------------------------------------ policies */

static int read_whole(void *data, size_t size, int fd)
{
	size_t at = 0;

	while (at < size) {
		ssize_t n = pread(fd, (char *)data + at, size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO; /* shorter than it was */
		at += (size_t)n;
	}
	return 0;
}

static void policy_close(struct sandbox_policy *p)
{
	binary_table_done(&p->binaries);
	if (p->data)
		munmap(p->data, p->size);
	p->data = NULL;
	p->fd = close_fd(p->fd);
}

/* Takes @fd over. */
static int policy_open(struct sandbox_policy *p, int fd, const char *what,
		       struct err *err)
{
	struct stat st;
	int r;

	p->fd = fd;
	p->data = NULL;
	p->binaries.n = 0;
	p->binaries.row = NULL;
	p->binaries.policy = NULL;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat %s", what);
	if (!S_ISREG(st.st_mode) || st.st_size < 1 ||
	    st.st_size > POLICY_FILE_BYTES_MAX)
		return err_set(err, EINVAL, "read %s: no compiled policy",
			       what);
	p->size = (size_t)st.st_size;
	p->data = mmap(NULL, p->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->data == MAP_FAILED) {
		p->data = NULL;
		return err_errno(err, errno, "read %s", what);
	}
	r = read_whole(p->data, p->size, fd);
	if (r < 0)
		return err_errno(err, -r, "read %s", what);
	if (mprotect(p->data, p->size, PROT_READ) < 0)
		return err_errno(err, errno, "protect %s", what);
	r = policy_load(p->data, p->size, &p->view, err);
	if (r < 0)
		return err_wrap(err, "load %s", what);
	policy_digest_text(&p->view, p->digest);
	return binary_table_init(&p->binaries, &p->view, err);
}

/* ------------------------------------------------------------ the table */

void sandboxes_init(struct sandboxes *all, struct grants *grants)
{
	all->grants = grants;
}

/* A place that may never have been used, made ready to be released. */
static void prepare(struct sandbox *s)
{
	s->used = true;
	s->policy.fd = s->ceiling.fd = -EBADF;
	s->journal.fd = s->journal.dir_fd = -EBADF;
	for (unsigned int k = 0; k < SANDBOX_RULESETS_MAX; k++)
		s->ruleset_fd[k] = -EBADF;
	s->generation = s->generation == UINT32_MAX ? 1 : s->generation + 1;
}

struct sandbox *sandbox_get(struct sandboxes *all, struct sandbox_ref ref)
{
	struct sandbox *s;

	if (!ref.generation || ref.index >= SHIM_CONTAINERS_MAX)
		return NULL;
	s = &all->sandbox[ref.index];
	return s->used && s->generation == ref.generation ? s : NULL;
}

struct sandbox *sandbox_find(struct sandboxes *all, const char *id,
			     struct sandbox_ref *ret_ref)
{
	for (uint32_t i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		struct sandbox *s = &all->sandbox[i];

		if (!s->used || !str_eq(s->id, id))
			continue;
		*ret_ref = (struct sandbox_ref){ i, s->generation };
		return s;
	}
	return NULL;
}

unsigned int sandboxes_count(const struct sandboxes *all)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++)
		n += all->sandbox[i].used;
	return n;
}

static bool number_taken(const struct sandboxes *all, uint32_t number)
{
	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++)
		if (all->sandbox[i].used && all->sandbox[i].number == number)
			return true;
	return false;
}

/* Each container its own, and none again before 32,766 others had theirs. */
static uint32_t next_number(struct sandboxes *all)
{
	do {
		all->last_number = all->last_number % GRANTS_NUMBER_MAX + 1;
	} while (number_taken(all, all->last_number));
	return all->last_number;
}

static struct sandbox *free_slot(struct sandboxes *all, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		if (all->sandbox[i].used)
			continue;
		*ret_index = i;
		return &all->sandbox[i];
	}
	return NULL;
}

static void release(struct sandbox *s)
{
	journal_close(&s->journal);
	policy_close(&s->policy);
	policy_close(&s->ceiling);
	for (unsigned int i = 0; i < SANDBOX_RULESETS_MAX; i++)
		s->ruleset_fd[i] = close_fd(s->ruleset_fd[i]);
	s->used = false;
}

static int fill(struct sandbox *s, const struct shim_attach *a, int *policy_fd,
		int *log_dir_fd, int *ceiling_fd, struct err *err)
{
	int r;

	s->committed = s->ended = false;
	s->inbound = (enum shim_inbound)a->inbound;
	s->deny_all = a->deny_all;
	s->has_ceiling = *ceiling_fd >= 0;
	s->n_rulesets = 0;
	s->n_listeners = 0;
	s->init_pid = 0;
	s->pidns_dev = s->pidns_ino = 0;
	s->n_upstreams = a->n_upstreams;
	memcpy(s->upstream, a->upstream, sizeof(s->upstream));
	memset(s->live, 0, sizeof(s->live));
	(void)str_copy(s->id, sizeof(s->id), a->id);
	(void)str_copy(s->source, sizeof(s->source), a->source);
	r = policy_open(&s->policy, take_fd(policy_fd), "the policy", err);
	if (r == 0 && s->has_ceiling)
		r = policy_open(&s->ceiling, take_fd(ceiling_fd),
				"the ceiling", err);
	if (r < 0)
		return r;
	return journal_open(&s->journal, take_fd(log_dir_fd), s->id,
			    a->log_max_bytes, err);
}

int sandbox_attach(struct sandboxes *all, const struct shim_attach *a,
		   int policy_fd, int log_dir_fd, int ceiling_fd,
		   struct sandbox_ref *ret_ref, struct err *err)
{
	own_close int policy = policy_fd, log_dir = log_dir_fd,
		      ceiling = ceiling_fd;
	struct sandbox *s;
	uint32_t index;
	int r;

	if (sandbox_find(all, a->id, ret_ref))
		return err_set(err, EEXIST, "attach %s: it is attached",
			       a->id);
	s = free_slot(all, &index);
	if (!s)
		return err_set(err, ENOSPC,
			       "attach %s: %d containers share the network "
			       "namespace already",
			       a->id, SHIM_CONTAINERS_MAX);
	prepare(s);
	r = fill(s, a, &policy, &log_dir, &ceiling, err);
	if (r < 0) {
		release(s);
		return err_wrap(err, "attach %s", a->id);
	}
	s->number = next_number(all);
	*ret_ref = (struct sandbox_ref){ index, s->generation };
	return 0;
}

static bool is_live(const void *ctx, uint32_t endpoint)
{
	return sandbox_is_live(ctx, endpoint);
}

void sandbox_detach(struct sandboxes *all, struct sandbox_ref ref)
{
	struct sandbox *s = sandbox_get(all, ref);
	struct err err = ERR_INIT;

	if (!s)
		return;
	/* what can't be taken back now ends with the table */
	if (grants_revoke(all->grants, s->number, s->policy.view.n_endpoints,
			  is_live, s, &err) < 0)
		sandbox_note(s, LOG_FINDING, REASON_SHIM_ERROR, "%s",
			     err.text);
	journal_flush(&s->journal);
	sandbox_note(s, LOG_LIFECYCLE, REASON_ALLOWED,
		     "detached: %llu allowed, %llu denied",
		     (unsigned long long)s->journal.n_allowed,
		     (unsigned long long)s->journal.n_denied);
	release(s);
}

void sandbox_note(struct sandbox *s, enum log_kind kind, enum reason reason,
		  const char *fmt, ...)
{
	char detail[512];
	struct journal_record r = {
		.kind = kind,
		.verdict = reason == REASON_ALLOWED ? LOG_ALLOW : LOG_DENY,
		.reason = reason,
		.detail = detail,
		.policy = { .digest = s->policy.digest },
	};
	struct err err = ERR_INIT;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	/* a record that is lost is counted by the journal */
	(void)journal_write(&s->journal, &r, &err);
}
