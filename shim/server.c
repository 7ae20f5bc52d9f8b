/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/policy/decide.h"
#include "shim/nft/conntrack.h"
#include "shim/nft/elements.h"
#include "shim/nft/nflog.h"
#include "shim/nft/ruleset.h"
#include "shim/nft/sockdiag.h"
#include "shim/server.h"
#include "shim/server_conn.h"

enum {
	TICK_MS = 1000,
	DRAIN_TICK_MS = 200,
	/* A create that started this shim and died before ATTACH. */
	FIRST_ATTACH_MS = 5000,
};

/* ------------------------------------------------------------ packets */

/* Whose packet: its mark tells; without one, the only container's. */
static struct sandbox *owner_of(struct server *s, const struct nflog_packet *p)
{
	struct sandbox *first = NULL;

	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		struct sandbox *box = &s->sandboxes.sandbox[i];

		if (!box->used)
			continue;
		if (p->mark && p->mark >> 16 == box->number)
			return box;
		if (!first)
			first = box;
	}
	return first;
}

static void on_packet(void *ctx, const struct nflog_packet *p)
{
	struct server *s = ctx;
	struct sandbox *box = owner_of(s, p);
	const char *names[SHIM_NAMES_PER_ADDR];
	char ip[MATCH_IP_TEXT];
	struct decide_dest dest = { .port = p->dport,
				    .proto = p->proto,
				    .names = names };
	struct journal_record r = { .kind = LOG_PACKET,
				    .verdict = LOG_DENY,
				    .dest = { .ip = ip,
					      .port = p->dport,
					      .has_port = p->dport != 0 } };
	struct err err = ERR_INIT;
	struct decision d;

	/* the kernel's own, of interfaces that come up */
	if (!box || (!p->have_uid && (p->proto == IPPROTO_ICMPV6 ||
				      p->proto == IPPROTO_IGMP)))
		return;
	dest.ip = match_ip_v6(p->dst);
	dest.n_names = resolved_find(&s->resolved, p->dst, clock_now_ms(),
				     names, SHIM_NAMES_PER_ADDR,
				     &dest.was_resolved);
	decide_connect(&box->policy.view,
		       box->has_ceiling ? &box->ceiling.view : NULL, &dest,
		       NULL, &d);
	/* a rule may cover it, but no decision gave this socket its mark */
	r.reason = d.allow ? REASON_BINARY_UNKNOWN : d.reason;
	r.detail = "dropped: no decision allowed it";
	match_ip_text(&dest.ip, ip);
	r.dest.proto = p->proto == IPPROTO_TCP ? "tcp" :
		       p->proto == IPPROTO_UDP ? "udp" :
						 NULL;
	r.dest.host = dest.n_names ? names[0] : NULL;
	r.policy.digest = box->policy.digest;
	(void)journal_write(&box->journal, &r, &err);
}

static void on_packets(struct loop *loop, struct loop_ref ref, uint32_t events,
		       void *ctx, uint64_t arg)
{
	struct server *s = ctx;

	(void)loop;
	(void)ref;
	(void)events;
	(void)arg;
	nflog_read(&s->netns.packets, SHIM_NFLOG_BATCH, on_packet, s,
		   &s->n_packets_lost);
}

/* ------------------------------------------------------------ upstreams */

/* The elements of one set; containers of a pod mostly share theirs. */
struct upstreams {
	enum ruleset_set set;
	struct element e[ELEMENTS_MAX];
	size_t n;
	bool full;
};

static void add_upstream(struct upstreams *u, const struct shim_upstream *up,
			 uint8_t proto)
{
	struct element e = { .set = u->set, .proto = proto, .port = up->port };

	memcpy(e.addr, up->addr, 16);
	for (size_t i = 0; i < u->n; i++)
		if (u->e[i].proto == proto && u->e[i].port == e.port &&
		    memcmp(u->e[i].addr, e.addr, 16) == 0)
			return;
	if (u->n == ELEMENTS_MAX)
		u->full = true;
	else
		u->e[u->n++] = e;
}

static int set_upstreams(struct server *s, enum ruleset_set set,
			 struct err *err)
{
	struct upstreams u = { .set = set };

	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		const struct sandbox *b = &s->sandboxes.sandbox[i];

		for (uint32_t k = 0; b->used && k < b->n_upstreams; k++) {
			struct match_ip ip = match_ip_v6(b->upstream[k].addr);

			if (match_ip_is_v4(&ip) != (set == SET_UPSTREAM4))
				continue;
			add_upstream(&u, &b->upstream[k], IPPROTO_UDP);
			add_upstream(&u, &b->upstream[k], IPPROTO_TCP);
		}
	}
	if (u.full)
		return err_set(err, ENOSPC,
			       "allow nameservers: more than %d in one network "
			       "namespace",
			       ELEMENTS_MAX / 2);
	return elements_replace(&s->netns.nft, set, u.e, u.n, err);
}

int server_set_upstreams(struct server *s, struct err *err)
{
	int r = set_upstreams(s, SET_UPSTREAM4, err);

	return r < 0 ? r : set_upstreams(s, SET_UPSTREAM6, err);
}

/* ------------------------------------------------------------ life */

static struct sockdiag_which sockets_of(const struct server *s,
					const struct sandbox *box)
{
	return (struct sockdiag_which){
		.number = box->number,
		.last = sandboxes_count(&s->sandboxes) == 1,
	};
}

/*
 * What is still open would outlive the rules that bind it: a segment that was
 * dropped is sent again, by a socket that nobody owns any more.
 */
static void abort_sockets(struct server *s, struct sandbox *box)
{
	struct err err = ERR_INIT;

	if (sockdiag_destroy(&s->netns.diag, sockets_of(s, box), &err) < 0) {
		s->keep_table = true;
		sandbox_note(box, LOG_FINDING, REASON_SHIM_ERROR,
			     "the table stays: %s", err.text);
	}
}

void server_forget(struct server *s, struct sandbox_ref ref)
{
	struct sandbox *box = sandbox_get(&s->sandboxes, ref);
	struct err err = ERR_INIT;

	if (!box)
		return;
	/* what was dropped or asked before is this container's to record */
	dnslink_drain(&s->dns);
	nflog_read(&s->netns.packets, SHIM_NFLOG_LAST, on_packet, s,
		   &s->n_packets_lost);
	abort_sockets(s, box);
	listeners_drop(&s->listeners, ref);
	askers_forget(&s->filter.askers, ref);
	dnslink_remove(&s->dns, ref);
	sandbox_detach(&s->sandboxes, ref);
	/* fewer is all this can be: what stays is only the resolver's */
	(void)server_set_upstreams(s, &err);
}

/* Once its sockets have sent what they had, or have had their time. */
static void forget_when_sent(struct server *s, struct sandbox_ref ref)
{
	struct sandbox *box = sandbox_get(&s->sandboxes, ref);
	struct err err = ERR_INIT;

	if (sockdiag_busy(&s->netns.diag, sockets_of(s, box), &err) == 0 ||
	    clock_now_ms() - box->ended_ms >= SHIM_DRAIN_MS)
		server_forget(s, ref);
}

static void on_last_listener(void *ctx, struct sandbox_ref ref)
{
	struct server *s = ctx;
	struct sandbox *box = sandbox_get(&s->sandboxes, ref);

	box->ended = true;
	box->ended_ms = clock_now_ms();
	forget_when_sent(s, ref);
}

static void forget_ended(struct server *s)
{
	for (uint32_t i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		struct sandbox *box = &s->sandboxes.sandbox[i];

		if (box->used && box->ended)
			forget_when_sent(s, (struct sandbox_ref){
						    i, box->generation });
	}
}

static bool in_use(const struct server *s)
{
	for (unsigned int i = 0; i < SHIM_CONNECTIONS_MAX; i++)
		if (s->connection[i].fd >= 0)
			return true;
	return sandboxes_count(&s->sandboxes) > 0;
}

/*
 * With nobody left: whoever gets the folder's lock knows that no create is on
 * its way (shim_proto.h). True when everything is removed.
 */
static bool try_end(struct server *s)
{
	struct err err = ERR_INIT;
	char folder[32];

	if (in_use(s) || flock(s->dir_fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	if (!dnslink_end(&s->dns)) {
		flock(s->dir_fd, LOCK_UN);
		return false;
	}
	netns_close_listening(&s->netns);
	if (!s->keep_table && ruleset_delete(&s->netns.nft, &err) < 0) {
		/* a table that can't be removed keeps the namespace shut */
		flock(s->dir_fd, LOCK_UN);
		return false;
	}
	snprintf(folder, sizeof(folder), "../%016llx",
		 (unsigned long long)s->netns.cookie);
	(void)unlinkat(s->dir_fd, "sock", 0);
	(void)unlinkat(s->dir_fd, folder, AT_REMOVEDIR);
	return true;
}

static bool is_idle(const struct server *s)
{
	if (!in_use(s) || s->n_packets_lost ||
	    !askers_idle(&s->filter.askers))
		return false;
	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++)
		if (s->sandboxes.sandbox[i].used &&
		    (s->sandboxes.sandbox[i].ended ||
		     !journal_is_idle(&s->sandboxes.sandbox[i].journal)))
			return false;
	for (unsigned int i = 0; i < SHIM_CONNECTIONS_MAX; i++)
		if (s->connection[i].fd >= 0)
			return false;
	return true;
}

static void tick(struct server *s)
{
	for (unsigned int i = 0; i < SHIM_CONTAINERS_MAX; i++) {
		struct sandbox *box = &s->sandboxes.sandbox[i];

		if (!box->used)
			continue;
		if (s->n_packets_lost)
			sandbox_note(box, LOG_FINDING, REASON_LIMIT,
				     "a flood: the kernel told of more dropped "
				     "packets than could be recorded (%llu "
				     "times)",
				     (unsigned long long)s->n_packets_lost);
		journal_tick(&box->journal);
	}
	s->n_packets_lost = 0;
	askers_tick(&s->filter.askers);
	server_conn_tick(s);
}

static int loop(struct server *s, struct err *err)
{
	uint64_t second_ms = clock_now_ms(), drain_ms = second_ms;

	for (;;) {
		uint64_t now;
		int r = loop_once(&s->loop, is_idle(s) ? -1 : DRAIN_TICK_MS,
				  err);

		if (r < 0)
			return r;
		now = clock_now_ms();
		if (now - drain_ms >= DRAIN_TICK_MS) {
			drain_ms = now;
			forget_ended(s);
		}
		if (now - second_ms >= TICK_MS) {
			second_ms = now;
			tick(s);
		}
		if ((s->visited || now - s->started_ms >= FIRST_ATTACH_MS) &&
		    try_end(s))
			return 0;
	}
}

static int start_table(struct server *s, struct err *err)
{
	const struct ruleset_config config = { .resolver_port =
						       s->netns.port };
	int r = ruleset_load(&s->netns.nft, &config, err);

	/* what flowed before would be `established` to the table */
	return r < 0 ? r : conntrack_flush(&s->netns.nft, err);
}

static int start_parts(struct server *s, int resolver_fd, struct err *err)
{
	uint8_t key[16];
	int r;

	randombytes_buf(key, sizeof(key));
	grants_init(&s->grants, &s->netns.nft, key);
	resolved_init(&s->resolved, key);
	sandboxes_init(&s->sandboxes, &s->grants);
	s->filter.probe4_fd = s->netns.probe4_fd;
	s->filter.probe6_fd = s->netns.probe6_fd;
	s->filter.netns_cookie = s->netns.cookie;
	s->filter.resolved = &s->resolved;
	s->filter.grants = &s->grants;
	s->filter.sandboxes = &s->sandboxes;
	r = listeners_init(&s->listeners, &s->loop, &s->filter, &s->sandboxes,
			   err);
	if (r < 0)
		return r;
	s->listeners.on_last = on_last_listener;
	s->listeners.ctx = s;
	s->dns = (struct dnslink){ .loop = &s->loop,
				   .netns = &s->netns,
				   .maker_fd = s->filter.maker_fd,
				   .program_fd = resolver_fd,
				   .sandboxes = &s->sandboxes,
				   .resolved = &s->resolved,
				   .record = { &s->sandboxes,
					       &s->filter.askers },
				   .on_policy = server_conn_on_policy,
				   .ctx = s };
	return dnslink_init(&s->dns, err);
}

int server_run(struct server *s, int resolver_fd, struct err *err)
{
	int r;

	s->started_ms = clock_now_ms();
	r = loop_init(&s->loop, s->source, N_ELEMENTS(s->source), err);
	if (r == 0)
		r = start_table(s, err);
	if (r == 0)
		r = start_parts(s, resolver_fd, err);
	if (r == 0)
		r = loop_add(&s->loop, netlink_fd(&s->netns.packets), EPOLLIN,
			     on_packets, s, 0, NULL, err);
	if (r == 0)
		r = server_conn_init(s, err);
	return r < 0 ? r : loop(s, err);
}
