/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/log/journal.h"
#include "shim/log/journal_file.h"

/* Body of the record that is being written; one thread, one at a time. */
static char body_room[DECISION_LOG_LINE_MAX - 1024];

/* Random, so that nobody can make records alike that aren't. */
static unsigned char hash_key[crypto_shorthash_KEYBYTES];

static const char suppressed[] =
	"denials in a flood were not recorded one by one";

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static bool decides(const struct journal_record *r)
{
	return r->kind != LOG_FINDING && r->kind != LOG_LIFECYCLE &&
	       r->kind != LOG_POLICY;
}

static void put_binary(struct json *j, const struct journal_record *r,
		       size_t *ret_pid_at, size_t *ret_pid_len)
{
	if (!r->binary.path && !r->binary.pid)
		return;
	json_object(j, "binary");
	if (r->binary.path)
		json_str(j, "path", r->binary.path);
	if (r->binary.sha256)
		json_str(j, "sha256", r->binary.sha256);
	if (r->binary.pid) {
		*ret_pid_at = j->sb->len;
		json_i64(j, "pid", r->binary.pid);
		*ret_pid_len = j->sb->len - *ret_pid_at;
	}
	if (r->binary.n_ancestors) {
		json_array(j, "ancestors");
		for (size_t i = 0; i < r->binary.n_ancestors; i++)
			json_str(j, NULL, r->binary.ancestors[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_dest(struct json *j, const struct journal_record *r)
{
	if (!r->dest.host && !r->dest.ip)
		return;
	json_object(j, "dest");
	if (r->dest.host)
		json_str(j, "host", r->dest.host);
	if (r->dest.ip)
		json_str(j, "ip", r->dest.ip);
	if (r->dest.has_port)
		json_u64(j, "port", r->dest.port);
	if (r->dest.proto)
		json_str(j, "proto", r->dest.proto);
	json_end(j);
}

static void put_policy(struct json *j, const struct journal_record *r)
{
	if (!r->policy.name && !r->policy.digest)
		return;
	json_object(j, "policy");
	if (r->policy.name)
		json_str(j, "name", r->policy.name);
	if (r->policy.rule)
		json_str(j, "rule", r->policy.rule);
	if (r->policy.line)
		json_u64(j, "line", r->policy.line);
	if (r->policy.digest)
		json_str(j, "digest", r->policy.digest);
	json_end(j);
}

/*
 * The members that make records alike, as an object. Its key leaves the pid
 * out: a thousand short-lived processes that do the same are one record.
 */
static uint64_t format_body(const struct journal_record *r, struct strbuf *sb)
{
	struct json j = json_to(sb, false);
	size_t pid_at = 0, pid_len = 0;
	uint64_t a, b;

	json_object(&j, NULL);
	json_str(&j, "kind", log_kind_name(r->kind));
	json_str(&j, "verdict", log_verdict_name(r->verdict));
	json_str(&j, "reason", reason_name(r->reason));
	if (r->detail)
		json_str(&j, "detail", r->detail);
	put_binary(&j, r, &pid_at, &pid_len);
	put_dest(&j, r);
	put_policy(&j, r);
	json_end(&j);
	crypto_shorthash((unsigned char *)&a, (unsigned char *)sb->s, pid_at,
			 hash_key);
	crypto_shorthash((unsigned char *)&b,
			 (unsigned char *)sb->s + pid_at + pid_len,
			 sb->len - pid_at - pid_len, hash_key);
	a = (a << 1 | a >> 63) ^ b;
	return a ? a : 1;
}

/* What is pending without its window: writes the count, frees the place. */
static int settle(struct journal *j, struct journal_pending *p,
		  struct err *err)
{
	int r = 0;

	if (p->n)
		r = journal_append(j, j->body[p - j->pending], p->len, p->first_us, p->n,
				   p->last_us, err);
	p->key = 0;
	j->n_pending--;
	return r;
}

static struct journal_pending *find_pending(struct journal *j, uint64_t key)
{
	for (unsigned int i = 0; i < SHIM_LOG_PENDING_MAX; i++)
		if (j->pending[i].key == key)
			return &j->pending[i];
	return NULL;
}

/*
 * True when the record was counted with one alike. Sets up a place for it
 * otherwise, if there is one.
 */
static bool coalesce(struct journal *j, uint64_t key, const struct strbuf *body,
		     uint64_t us)
{
	struct journal_pending *p = find_pending(j, key);
	uint64_t ms = clock_now_ms();

	if (p && ms - p->since_ms < SHIM_LOG_WINDOW_MS &&
	    p->len == body->len) {
		if (p->n++ == 0)
			p->first_us = us;
		p->last_us = us;
		return true;
	}
	if (p) {
		struct err err = ERR_INIT;

		if (settle(j, p, &err) < 0)
			j->n_lost += p->n;
	}
	if (!p)
		p = find_pending(j, 0);
	if (p && body->len <= JOURNAL_BODY_MAX) {
		p->key = key;
		j->n_pending++;
		p->since_ms = ms;
		p->n = 0;
		p->len = body->len;
		memcpy(j->body[p - j->pending], body->s, body->len);
	}
	return false;
}

/* A denial beyond the rate is only counted. */
static bool suppress(struct journal *j, const struct journal_record *r)
{
	uint64_t now = clock_now_ms() / 1000;
	uint64_t more = (now - j->second) * SHIM_LOG_PER_SECOND;

	if (!decides(r) || r->verdict == LOG_ALLOW)
		return false;
	j->second = now;
	j->n_tokens = more >= SHIM_LOG_BURST - j->n_tokens ?
			      SHIM_LOG_BURST :
			      j->n_tokens + (unsigned int)more;
	if (j->n_tokens) {
		j->n_tokens--;
		return false;
	}
	j->n_suppressed++;
	return true;
}

static int append_record(struct journal *j, const struct journal_record *r,
			 struct err *err)
{
	struct strbuf body = STRBUF_FIXED(body_room);
	uint64_t us = now_us(), key = format_body(r, &body);

	if (body.cut)
		return err_set(err, E2BIG, "write the decision log: record "
					   "too long");
	if (decides(r) && r->count <= 1 && coalesce(j, key, &body, us))
		return 0;
	if (suppress(j, r))
		return 0;
	return journal_append(j, body.s, body.len, us,
			      r->count > 1 ? r->count : 0, us, err);
}

static int report(struct journal *j, uint64_t *n, const char *what,
		  struct err *err)
{
	char detail[128];
	struct journal_record r = { .kind = LOG_FINDING,
				    .verdict = LOG_DENY,
				    .reason = REASON_LIMIT,
				    .detail = detail };
	int e;

	if (!*n)
		return 0;
	snprintf(detail, sizeof(detail), "%llu %s", (unsigned long long)*n,
		 what);
	e = append_record(j, &r, err);
	if (e == 0)
		*n = 0;
	return e;
}

/* ------------------------------------------------------------ findings */

static bool is_unlisted(const struct journal_record *r)
{
	if (r->verdict != LOG_DENY || !decides(r))
		return false;
	return r->reason == REASON_HOST_NOT_IN_ALLOWLIST ||
	       r->reason == REASON_NAME_NOT_ALLOWED ||
	       r->reason == REASON_LITERAL_ADDRESS ||
	       r->reason == REASON_ADDRESS_NOT_RESOLVED;
}

/* Remembers the host; true when it is the one that makes the finding. */
static bool third_host(struct journal *j, const struct journal_record *r)
{
	const char *host = r->dest.host ? r->dest.host : r->dest.ip;

	if (j->told || !j->read_outside || !host || !is_unlisted(r))
		return false;
	for (unsigned int i = 0; i < j->n_hosts; i++)
		if (str_eq(j->host[i], host))
			return false;
	(void)str_copy(j->host[j->n_hosts++], JOURNAL_HOST_BYTES, host);
	return j->n_hosts == JOURNAL_HOSTS;
}

static int find(struct journal *j, const struct journal_record *r,
		struct err *err)
{
	char room[JOURNAL_HOSTS * JOURNAL_HOST_BYTES + 128];
	struct strbuf detail = STRBUF_FIXED(room);
	struct journal_record f = { .kind = LOG_FINDING,
				    .verdict = LOG_DENY,
				    .reason = r->reason,
				    .binary = r->binary };

	if (r->kind == LOG_CONNECT && r->verdict == LOG_ALLOW)
		j->read_outside = true;
	if (r->reason == REASON_BINARY_CHANGED && decides(r)) {
		f.detail = "a permitted binary's content changed";
		return append_record(j, &f, err);
	}
	if (!third_host(j, r))
		return 0;
	j->told = true;
	strbuf_adds(&detail, "denials to distinct unlisted hosts after a read "
			     "from outside:");
	for (unsigned int i = 0; i < j->n_hosts; i++)
		strbuf_addf(&detail, " %s", j->host[i]);
	f.detail = room;
	return append_record(j, &f, err);
}

/* ------------------------------------------------------------ interface */

int journal_write(struct journal *j, const struct journal_record *r,
		  struct err *err)
{
	int e;

	if (decides(r)) {
		if (r->verdict == LOG_ALLOW)
			j->n_allowed++;
		else
			j->n_denied++;
	}
	e = report(j, &j->n_lost,
		   "records could not be written; what they were about was "
		   "denied",
		   err);
	if (e == 0)
		e = append_record(j, r, err);
	if (e < 0) {
		j->n_lost++;
		return e;
	}
	/* the decision itself is on file */
	return find(j, r, err);
}

void journal_tick(struct journal *j)
{
	uint64_t ms = clock_now_ms();
	struct err err = ERR_INIT;

	for (unsigned int i = 0; i < SHIM_LOG_PENDING_MAX; i++) {
		struct journal_pending *p = &j->pending[i];
		uint64_t n = p->n;

		if (p->key && ms - p->since_ms >= SHIM_LOG_WINDOW_MS &&
		    settle(j, p, &err) < 0)
			j->n_lost += n;
	}
	(void)report(j, &j->n_suppressed, suppressed, &err);
}

void journal_set_anchor(struct journal *j, int anchor_fd)
{
	j->anchor_fd = anchor_fd;
}

bool journal_is_idle(const struct journal *j)
{
	return j->n_pending == 0 && j->n_suppressed == 0;
}

int journal_open(struct journal *j, int dir_fd, const char *id,
		 uint64_t max_bytes, struct err *err)
{
	int r;

	if (sodium_is_zero(hash_key, sizeof(hash_key)))
		crypto_shorthash_keygen(hash_key);
	memset(j, 0, offsetof(struct journal, body));
	j->fd = -EBADF;
	j->dir_fd = dir_fd;
	j->anchor_fd = -EBADF;
	j->n_tokens = SHIM_LOG_BURST;
	j->second = clock_now_ms() / 1000;
	j->max_bytes = max_bytes ? max_bytes : SHIM_LOG_FILE_BYTES;
	if (!str_copy(j->id, sizeof(j->id), id))
		r = err_set(err, EINVAL, "open decision log: long id");
	else
		r = journal_file_open(j, err);
	if (r < 0)
		j->dir_fd = close_fd(j->dir_fd);
	return r;
}

void journal_flush(struct journal *j)
{
	struct err err = ERR_INIT;

	for (unsigned int i = 0; i < SHIM_LOG_PENDING_MAX; i++) {
		uint64_t n = j->pending[i].n;

		if (j->pending[i].key && settle(j, &j->pending[i], &err) < 0)
			j->n_lost += n;
	}
	(void)report(j, &j->n_suppressed, suppressed, &err);
}

void journal_close(struct journal *j)
{
	if (j->fd < 0)
		return;
	journal_flush(j);
	j->fd = close_fd(j->fd);
	j->dir_fd = close_fd(j->dir_fd);
}
