/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each message is a row: its size, how many descriptors it brings, what is
 * done. What fits no row ends the connection, and an uncommitted container
 * with it. Requests are answered at once, but for ATTACH, which waits for the
 * resolver; nothing more is read from its connection meanwhile.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/packet.h"
#include "shim/server.h"
#include "shim/server_conn.h"

enum {
	/* One that asks for nothing. A create may take what time it needs: it
	 * holds its container by the connection itself. */
	IDLE_MS = 60000,
	/* For the resolver to take a policy. */
	ATTACH_MS = 20000,
};

union request {
	uint32_t op;
	struct shim_attach attach;
	struct shim_binaries binaries;
	struct shim_binary binary;
	struct shim_request rq;
};

static void close_connection(struct server *s, struct connection *c)
{
	struct sandbox *box = sandbox_get(&s->sandboxes, c->creates);

	loop_remove(&s->loop, c->source);
	c->fd = close_fd(c->fd);
	/* a create that attaches holds the lock: see try_end() */
	s->visited = true;
	if (box && !box->committed)
		server_forget(s, c->creates);
	c->creates = (struct sandbox_ref){ 0, 0 };
	if (!s->accepting) {
		loop_set_events(&s->loop, s->accept_source, EPOLLIN);
		s->accepting = true;
	}
}

static void reply(struct server *s, struct connection *c,
		  struct shim_reply *r, const int *fds)
{
	if (packet_send(c->fd, r, sizeof(*r), fds, r->n_fds) < 0)
		close_connection(s, c);
}

static void reply_result(struct server *s, struct connection *c, uint32_t op,
			 const struct err *why)
{
	struct shim_reply r = { .op = op };

	if (why && why->code)
		r.err = *why;
	reply(s, c, &r, NULL);
}

/* ------------------------------------------------------------ requests */

/*
 * Each takes what it wants of @fds with take_fd(), and answers itself or
 * returns an error, which is then the answer.
 */
typedef int request_fn(struct server *s, struct connection *c,
		       union request *m, int *fds, size_t n_fds,
		       struct err *err);

static struct sandbox *find_box(struct server *s, char id[SHIM_ID_BYTES],
				struct sandbox_ref *ret_ref, struct err *err)
{
	struct sandbox *box = NULL;

	if (memchr(id, '\0', SHIM_ID_BYTES))
		box = sandbox_find(&s->sandboxes, id, ret_ref);
	if (!box)
		err_set(err, ENOENT, "find container: it is not attached");
	return box;
}

static bool attach_ok(const struct shim_attach *a)
{
	return memchr(a->id, '\0', sizeof(a->id)) && a->id[0] &&
	       memchr(a->source, '\0', sizeof(a->source)) &&
	       a->inbound <= SHIM_INBOUND_NONE &&
	       a->on_death <= SHIM_ON_DEATH_KILL &&
	       a->n_upstreams <= SHIM_UPSTREAMS_MAX;
}

static void note_attached(struct server *s, struct sandbox *box)
{
	sandbox_note(box, LOG_LIFECYCLE, REASON_ALLOWED,
		     "attached: policy from %s%s%s%s%s%s", box->source,
		     box->has_ceiling ? ", under the operator's ceiling" : "",
		     box->deny_all ? ", no policy: nothing is allowed" : "",
		     box->inbound == SHIM_INBOUND_NONE ? ", no inbound flows" :
							 "",
		     s->netns.fast_open_off ? "" :
					      ", tcp_fastopen is not ours to "
					      "turn off",
		     s->syslog_fd < 0 ? ", no syslog to anchor the log in" : "");
}

static int on_attach(struct server *s, struct connection *c, union request *m,
		     int *fds, size_t n_fds, struct err *err)
{
	const struct shim_attach *a = &m->attach;
	struct sandbox *old;
	struct sandbox_ref ref;
	int r;

	if (a->version != SHIM_PROTO_VERSION)
		return err_set(err, EPROTO,
			       "attach: protocol %u is not %d: osh-runtime and "
			       "osh-shim are of different versions",
			       a->version, SHIM_PROTO_VERSION);
	if (!attach_ok(a) || sandbox_get(&s->sandboxes, c->creates))
		return err_set(err, EINVAL, "attach: malformed request");
	/* one of that name that has ended gives way to its successor */
	old = sandbox_find(&s->sandboxes, a->id, &ref);
	if (old && old->ended)
		server_forget(s, ref);
	r = sandbox_attach(&s->sandboxes, a, take_fd(&fds[0]),
			   take_fd(&fds[1]),
			   n_fds > 2 ? take_fd(&fds[2]) : -EBADF, &ref, err);
	if (r < 0)
		return r;
	journal_set_anchor(&sandbox_get(&s->sandboxes, ref)->journal,
			   s->syslog_fd);
	note_attached(s, sandbox_get(&s->sandboxes, ref));
	r = server_set_upstreams(s, err);
	if (r == 0)
		r = dnslink_add(&s->dns, ref, err);
	if (r < 0) {
		server_forget(s, ref);
		return r;
	}
	c->creates = ref;
	c->waits = true;
	c->deadline_ms = clock_now_ms() + ATTACH_MS;
	loop_set_events(&s->loop, c->source, 0);
	return 0;
}

static void learn_pidns(struct server *s, struct sandbox *box)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "%d/ns/pid", box->init_pid);
	if (fstatat(s->filter.proc_fd, path, &st, 0) < 0)
		return;
	box->pidns_dev = st.st_dev;
	box->pidns_ino = st.st_ino;
}

static int on_binaries(struct server *s, struct connection *c,
		       union request *m, int *fds, size_t n_fds,
		       struct err *err)
{
	struct sandbox_ref ref;
	struct sandbox *box = find_box(s, m->binaries.id, &ref, err);

	(void)fds;
	(void)n_fds;
	if (!box)
		return -err->code;
	if (m->binaries.init_pid <= 0)
		return err_set(err, EINVAL, "learn binaries: no init");
	box->init_pid = m->binaries.init_pid;
	learn_pidns(s, box);
	c->n_rows = m->binaries.n;
	c->rows_of = ref;
	if (c->n_rows == 0)
		reply_result(s, c, SHIM_OP_BINARIES, NULL);
	return 0;
}

static int take_row(struct server *s, struct connection *c,
		    const struct shim_binary *b, struct err *err)
{
	struct sandbox *box = sandbox_get(&s->sandboxes, c->rows_of);
	struct binary_table *t;
	struct binary_row *row;

	if (!box || (b->ceiling && !box->has_ceiling))
		return err_set(err, EINVAL, "learn binaries: no such policy");
	t = b->ceiling ? &box->ceiling.binaries : &box->policy.binaries;
	if (b->binary >= t->n)
		return err_set(err, EINVAL,
			       "learn binaries: number %u of %u", b->binary,
			       t->n);
	row = &t->row[b->binary];
	row->resolved = true;
	row->file = (struct file_id){ .dev = b->dev,
				      .ino = b->ino,
				      .size = b->size,
				      .mtime_ns = b->mtime_ns,
				      .ctime_ns = b->ctime_ns };
	row->has_stat = b->ctime_ns != 0;
	return 0;
}

static int on_binary(struct server *s, struct connection *c, union request *m,
		     int *fds, size_t n_fds, struct err *err)
{
	int r;

	(void)fds;
	(void)n_fds;
	if (c->n_rows == 0)
		return -EPROTO; /* not announced: the connection ends */
	r = take_row(s, c, &m->binary, err);
	c->n_rows = r < 0 ? 0 : c->n_rows - 1;
	if (r < 0 || c->n_rows == 0)
		reply_result(s, c, SHIM_OP_BINARIES, r < 0 ? err : NULL);
	return 0;
}

static int on_rulesets(struct server *s, struct connection *c,
		       union request *m, int *fds, size_t n_fds,
		       struct err *err)
{
	struct sandbox_ref ref;
	struct sandbox *box = find_box(s, m->rq.id, &ref, err);

	if (!box)
		return -err->code;
	if (box->n_rulesets)
		return err_set(err, EEXIST, "keep rulesets: there are some");
	for (size_t i = 0; i < n_fds; i++)
		box->ruleset_fd[i] = take_fd(&fds[i]);
	box->n_rulesets = (uint32_t)n_fds;
	reply_result(s, c, m->op, NULL);
	return 0;
}

static int on_get_rulesets(struct server *s, struct connection *c,
			   union request *m, int *fds, size_t n_fds,
			   struct err *err)
{
	struct sandbox_ref ref;
	struct sandbox *box = find_box(s, m->rq.id, &ref, err);
	struct shim_reply r = { .op = m->op };

	(void)fds;
	(void)n_fds;
	if (!box)
		return -err->code;
	r.n_fds = box->n_rulesets;
	reply(s, c, &r, box->ruleset_fd);
	return 0;
}

static int on_listener(struct server *s, struct connection *c,
		       union request *m, int *fds, size_t n_fds,
		       struct err *err)
{
	struct sandbox_ref ref;
	struct sandbox *box = find_box(s, m->rq.id, &ref, err);
	int r;

	(void)n_fds;
	if (!box)
		return -err->code;
	if (box->ended)
		return err_set(err, ESRCH, "serve a listener: container %s "
					   "has ended",
			       box->id);
	r = listeners_add(&s->listeners, take_fd(&fds[0]), ref, m->rq.pid,
			  err);
	if (r == 0)
		reply_result(s, c, m->op, NULL);
	return r;
}

static int on_commit(struct server *s, struct connection *c, union request *m,
		     int *fds, size_t n_fds, struct err *err)
{
	struct sandbox_ref ref;
	struct sandbox *box = find_box(s, m->rq.id, &ref, err);

	(void)fds;
	(void)n_fds;
	if (!box)
		return -err->code;
	if (box->n_listeners == 0)
		return err_set(err, EINVAL, "commit %s: it has no listener",
			       box->id);
	box->committed = true;
	reply_result(s, c, m->op, NULL);
	return 0;
}

/*
 * While a task lives that we filter, the table stays: whoever calls may have
 * another container in mind (one of the same name in another state folder), or
 * not have ended all processes. The last listener's end is then the
 * container's. A create may take its own back.
 */
static bool may_detach(const struct server *s, const struct connection *c,
		       const struct sandbox *box, struct sandbox_ref ref)
{
	if (c->creates.index == ref.index &&
	    c->creates.generation == ref.generation)
		return true;
	return box->committed && !listeners_live(&s->listeners, ref);
}

static int on_detach(struct server *s, struct connection *c, union request *m,
		     int *fds, size_t n_fds, struct err *err)
{
	struct shim_reply r = { .op = m->op };
	struct sandbox_ref ref;
	struct sandbox *box;

	(void)fds;
	(void)n_fds;
	/* one whose last process has ended is forgotten already */
	box = find_box(s, m->rq.id, &ref, err);
	if (box && may_detach(s, c, box, ref))
		server_forget(s, ref);
	/* how many are left: a delete awaits the end of an empty shim */
	r.n_listeners = (uint32_t)sandboxes_count(&s->sandboxes);
	reply(s, c, &r, NULL);
	return 0;
}

static int on_status(struct server *s, struct connection *c, union request *m,
		     int *fds, size_t n_fds, struct err *err)
{
	struct sandbox_ref ref;
	struct sandbox *box = find_box(s, m->rq.id, &ref, err);
	struct shim_reply r = { .op = m->op };

	(void)fds;
	(void)n_fds;
	if (!box)
		return -err->code;
	r.resolver_alive = s->dns.state == DNSLINK_READY;
	r.n_listeners = box->n_listeners;
	r.n_records = box->journal.seq;
	r.n_allowed = box->journal.n_allowed;
	r.n_denied = box->journal.n_denied;
	reply(s, c, &r, NULL);
	return 0;
}

struct request_row {
	size_t size;
	size_t min_fds, max_fds;
	request_fn *fn;
};

static const struct request_row rows[SHIM_OP_N] = {
	[SHIM_OP_ATTACH] = { sizeof(struct shim_attach), 2, 3, on_attach },
	[SHIM_OP_BINARIES] = { sizeof(struct shim_binaries), 0, 0,
			       on_binaries },
	[SHIM_OP_BINARY] = { sizeof(struct shim_binary), 0, 0, on_binary },
	[SHIM_OP_RULESETS] = { sizeof(struct shim_request), 0,
			       SANDBOX_RULESETS_MAX, on_rulesets },
	[SHIM_OP_GET_RULESETS] = { sizeof(struct shim_request), 0, 0,
				   on_get_rulesets },
	[SHIM_OP_LISTENER] = { sizeof(struct shim_request), 1, 1,
			       on_listener },
	[SHIM_OP_COMMIT] = { sizeof(struct shim_request), 0, 0, on_commit },
	[SHIM_OP_DETACH] = { sizeof(struct shim_request), 0, 0, on_detach },
	[SHIM_OP_STATUS] = { sizeof(struct shim_request), 0, 0, on_status },
};

/* ------------------------------------------------------------ transport */

static const struct request_row *find_row(const union request *m, size_t n,
					  size_t n_fds)
{
	const struct request_row *row;

	if (n < sizeof(m->op) || m->op >= SHIM_OP_N)
		return NULL;
	row = &rows[m->op];
	return row->fn && n == row->size && n_fds >= row->min_fds &&
			       n_fds <= row->max_fds ?
		       row :
		       NULL;
}

static void on_connection(struct loop *loop, struct loop_ref ref,
			  uint32_t events, void *ctx, uint64_t arg)
{
	struct server *s = ctx;
	struct connection *c = &s->connection[arg];
	const struct request_row *row;
	struct err err = ERR_INIT;
	int fds[SHIM_FDS_MAX];
	union request m;
	size_t n_fds;
	ssize_t n;
	int r;

	(void)loop;
	(void)ref;
	if (c->waits) { /* only its end can be told now */
		if (events & (EPOLLHUP | EPOLLERR))
			close_connection(s, c);
		return;
	}
	n = packet_recv(c->fd, &m, sizeof(m), fds, SHIM_FDS_MAX, &n_fds,
			MSG_DONTWAIT);
	if (n == -EAGAIN)
		return;
	row = n > 0 ? find_row(&m, (size_t)n, n_fds) : NULL;
	if (!row) {
		packet_close(fds, n_fds);
		close_connection(s, c);
		return;
	}
	r = row->fn(s, c, &m, fds, n_fds, &err);
	packet_close(fds, n_fds);
	if (r < 0 && err.code)
		reply_result(s, c, m.op, &err);
	else if (r < 0)
		close_connection(s, c);
}

void server_conn_on_policy(void *server, struct sandbox_ref ref,
			   const struct err *why)
{
	struct server *s = server;

	for (unsigned int i = 0; i < SHIM_CONNECTIONS_MAX; i++) {
		struct connection *c = &s->connection[i];

		if (c->fd < 0 || !c->waits ||
		    c->creates.index != ref.index ||
		    c->creates.generation != ref.generation)
			continue;
		c->waits = false;
		c->deadline_ms = UINT64_MAX;
		loop_set_events(&s->loop, c->source, EPOLLIN);
		if (why) {
			server_forget(s, ref);
			c->creates = (struct sandbox_ref){ 0, 0 };
		}
		reply_result(s, c, SHIM_OP_ATTACH, why);
		return;
	}
	if (why && sandbox_get(&s->sandboxes, ref))
		sandbox_note(sandbox_get(&s->sandboxes, ref), LOG_FINDING,
			     REASON_SHIM_ERROR, "no names: %s", why->text);
}

static struct connection *free_connection(struct server *s, uint64_t *ret_i)
{
	for (uint64_t i = 0; i < SHIM_CONNECTIONS_MAX; i++) {
		if (s->connection[i].fd >= 0)
			continue;
		*ret_i = i;
		return &s->connection[i];
	}
	return NULL;
}

static bool is_operator(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
	       peer.uid == geteuid();
}

static void on_accept(struct loop *loop, struct loop_ref ref, uint32_t events,
		      void *ctx, uint64_t arg)
{
	struct server *s = ctx;
	struct err err = ERR_INIT;
	own_close int fd = -EBADF;
	struct connection *c;
	uint64_t i;

	(void)ref;
	(void)events;
	(void)arg;
	c = free_connection(s, &i);
	if (!c) {
		/* they wait in the queue until one ends */
		loop_set_events(loop, s->accept_source, 0);
		s->accepting = false;
		return;
	}
	fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || !is_operator(fd))
		return;
	*c = (struct connection){ .fd = -EBADF,
				  .deadline_ms = clock_now_ms() + IDLE_MS };
	if (loop_add(loop, fd, EPOLLIN, on_connection, s, i, &c->source,
		     &err) == 0)
		c->fd = take_fd(&fd);
}

void server_conn_tick(struct server *s)
{
	uint64_t now = clock_now_ms();

	for (unsigned int i = 0; i < SHIM_CONNECTIONS_MAX; i++) {
		struct connection *c = &s->connection[i];
		struct err err = ERR_INIT;

		if (c->fd < 0 || now < c->deadline_ms)
			continue;
		if (c->waits) {
			err_set(&err, ETIMEDOUT,
				"attach: osh-resolver does not answer");
			server_conn_on_policy(s, c->creates, &err);
		} else {
			close_connection(s, c);
		}
	}
}

int server_conn_init(struct server *s, struct err *err)
{
	for (unsigned int i = 0; i < SHIM_CONNECTIONS_MAX; i++)
		s->connection[i].fd = -EBADF;
	s->accepting = true;
	/* create made the socket; from the second listen(2) on its peers see
	 * our pid (SO_PEERCRED, unix(7)), and a delete can await our end */
	if (listen(s->listen_fd, SHIM_CONNECTIONS_MAX) < 0)
		return err_errno(err, errno, "listen");
	return loop_add(&s->loop, s->listen_fd, EPOLLIN, on_accept, s, 0,
			&s->accept_source, err);
}
