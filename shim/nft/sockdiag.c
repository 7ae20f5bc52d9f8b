/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/nft/netlink.h"
#include "shim/nft/ruleset.h"
#include "shim/nft/sockdiag.h"

#define STATE(s) (1u << (s))

enum {
	/* FIN_WAIT2 and TIME_WAIT have sent all that they had */
	BUSY = STATE(TCP_ESTABLISHED) | STATE(TCP_SYN_SENT) |
	       STATE(TCP_SYN_RECV) | STATE(TCP_FIN_WAIT1) |
	       STATE(TCP_CLOSE_WAIT) | STATE(TCP_LAST_ACK) |
	       STATE(TCP_CLOSING),
	OPEN = BUSY | STATE(TCP_FIN_WAIT2),

	/* Taken from one dump; more than these are met by the next. */
	FOUND_MAX = 64,
	ROUNDS_MAX = 1024,
};

struct found {
	uint8_t family;
	struct inet_diag_sockid id;
};

struct walk {
	struct sockdiag_which which;
	struct found found[FOUND_MAX];
	unsigned int n, total;
	int code; /* the kernel's error */
	bool done;
};

static int on_attribute(const struct nlattr *a, void *data)
{
	uint32_t *mark = data;

	if (mnl_attr_get_type(a) == INET_DIAG_MARK &&
	    mnl_attr_get_payload_len(a) == sizeof(*mark))
		*mark = mnl_attr_get_u32(a);
	return MNL_CB_OK;
}

static bool is_meant(const struct sockdiag_which *which, uint32_t mark,
		     const struct inet_diag_msg *m)
{
	if (mark >> 16 == which->number)
		return true;
	return which->last &&
	       (mark == MARK_LISTENER || m->idiag_state == TCP_SYN_SENT ||
		(mark == 0 && m->id.idiag_dport == htons(53)));
}

static void take_socket(struct walk *w, const struct nlmsghdr *h)
{
	const struct inet_diag_msg *m = mnl_nlmsg_get_payload(h);
	uint32_t mark = 0;

	if (mnl_nlmsg_get_payload_len(h) < sizeof(*m))
		return;
	(void)mnl_attr_parse(h, sizeof(*m), on_attribute, &mark);
	if (!is_meant(&w->which, mark, m))
		return;
	w->total++;
	if (w->n < FOUND_MAX)
		w->found[w->n++] = (struct found){ .family = m->idiag_family,
						   .id = m->id };
}

static void take_message(struct walk *w, const struct nlmsghdr *h)
{
	const struct nlmsgerr *e;

	switch (h->nlmsg_type) {
	case SOCK_DIAG_BY_FAMILY:
		take_socket(w, h);
		break;
	case NLMSG_ERROR:
		e = mnl_nlmsg_get_payload(h);
		w->code = mnl_nlmsg_get_payload_len(h) >= sizeof(*e) &&
					  e->error < 0 ?
				  -e->error :
				  EIO;
		w->done = true;
		break;
	case NLMSG_DONE:
		w->done = true;
		break;
	}
}

static int dump(struct netlink *nl, uint8_t family, uint32_t states,
		struct walk *w, struct err *err)
{
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct inet_diag_req_v2 *rq;

	h->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	h->nlmsg_seq = nl->seq++;
	rq = mnl_nlmsg_put_extra_header(h, sizeof(*rq));
	rq->sdiag_family = family;
	rq->sdiag_protocol = IPPROTO_TCP;
	rq->idiag_states = states;
	if (mnl_socket_sendto(nl->sock, h, h->nlmsg_len) < 0)
		return err_errno(err, errno, "list sockets");
	for (w->done = false; !w->done;) {
		ssize_t r = recv(netlink_fd(nl), buf, sizeof(buf), 0);
		int len = (int)r;

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_errno(err, errno, "list sockets");
		for (h = (struct nlmsghdr *)(void *)buf; mnl_nlmsg_ok(h, len);
		     h = mnl_nlmsg_next(h, &len))
			take_message(w, h);
	}
	return w->code ? err_errno(err, w->code, "list sockets") : 0;
}

static int walk(struct netlink *nl, uint32_t states, struct walk *w,
		struct err *err)
{
	int r = dump(nl, AF_INET, states, w, err);

	if (r < 0)
		return r;
	r = dump(nl, AF_INET6, states, w, err);
	return r == -ENOENT ? 0 : r; /* a kernel without IPv6 */
}

int sockdiag_busy(struct netlink *nl, struct sockdiag_which which,
		  struct err *err)
{
	struct walk w = { .which = which };
	int r = walk(nl, BUSY, &w, err);

	return r < 0 ? r : (int)w.total;
}

static int destroy(struct netlink *nl, const struct found *f, struct err *err)
{
	char buf[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct inet_diag_req_v2 *rq;
	int r;

	h->nlmsg_type = SOCK_DESTROY;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	h->nlmsg_seq = nl->seq++;
	rq = mnl_nlmsg_put_extra_header(h, sizeof(*rq));
	rq->sdiag_family = f->family;
	rq->sdiag_protocol = IPPROTO_TCP;
	rq->idiag_states = OPEN;
	rq->id = f->id;
	r = netlink_talk(nl, h, h->nlmsg_len, "abort a socket", err);
	/* it has ended by itself meanwhile */
	return r == -ENOENT ? 0 : r;
}

int sockdiag_destroy(struct netlink *nl, struct sockdiag_which which,
		     struct err *err)
{
	for (unsigned int round = 0; round < ROUNDS_MAX; round++) {
		struct walk w = { .which = which };
		int r = walk(nl, OPEN, &w, err);

		if (r < 0 || w.n == 0)
			return r;
		for (unsigned int i = 0; i < w.n; i++) {
			r = destroy(nl, &w.found[i], err);
			if (r < 0)
				return r;
		}
	}
	return err_set(err, EAGAIN, "abort sockets: there are ever more");
}
