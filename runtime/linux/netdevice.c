/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/netdevice.h"

/* An address, as much of it as has to be said again. */
struct address {
	struct ifaddrmsg head;
	size_t n_bytes; /* 4 or 16 */
	unsigned char local[16];
	unsigned char peer[16];
	unsigned char broadcast[16];
	bool has_local;
	bool has_broadcast;
};

struct addresses {
	size_t n;
	struct address v[NETDEVICE_ADDRESSES_MAX];
};

/* ---------------------------------------------------------------- messages */

struct message {
	struct nlmsghdr head;
	char body[512];
};

static void *begin(struct message *m, unsigned short type, unsigned int flags,
		   size_t n_bytes)
{
	*m = (struct message){
		.head =
			{
				.nlmsg_len =
					(unsigned int)NLMSG_LENGTH(n_bytes),
				.nlmsg_type = type,
				.nlmsg_flags =
					(unsigned short)(NLM_F_REQUEST | flags),
			},
	};
	return NLMSG_DATA(&m->head);
}

static void add(struct message *m, unsigned short type, const void *data,
		size_t n)
{
	size_t at = NLMSG_ALIGN(m->head.nlmsg_len);
	struct rtattr *a = (struct rtattr *)(void *)((char *)m + at);

	assert(at + RTA_LENGTH(n) <= sizeof(*m));
	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(n);
	memcpy(RTA_DATA(a), data, n);
	m->head.nlmsg_len = (unsigned int)(at + RTA_LENGTH(n));
}

static int open_socket(int *ret_fd, struct err *err)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return err_errno(err, errno, "open a netlink socket");
	*ret_fd = fd;
	return 0;
}

static int send_message(int fd, const struct message *m)
{
	return send(fd, m, m->head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Send, and wait for the kernel's word. Returns 0 or a negative errno. */
static int talk(int fd, struct message *m)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr e;
		char rest[4096];
	} reply;
	ssize_t n;
	int r;

	m->head.nlmsg_flags |= NLM_F_ACK;
	r = send_message(fd, m);
	if (r < 0)
		return r;
	do {
		n = recv(fd, &reply, sizeof(reply), 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n < NLMSG_LENGTH(sizeof(reply.e)) ||
	    reply.head.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return reply.e.error;
}

/* --------------------------------------------------------------- addresses */

static void take(struct rtattr *a, size_t n, unsigned char *ret, bool *ret_has)
{
	if (RTA_PAYLOAD(a) != n)
		return;
	memcpy(ret, RTA_DATA(a), n);
	*ret_has = true;
}

/* True when @head is an address that has to move with device @index. */
static bool read_address(struct nlmsghdr *head, int index, struct address *ret)
{
	struct ifaddrmsg *msg = NLMSG_DATA(head);
	unsigned int left = (unsigned int)IFA_PAYLOAD(head);
	unsigned int flags = msg->ifa_flags;
	bool has_peer = false;

	if (msg->ifa_index != (unsigned int)index ||
	    msg->ifa_scope != RT_SCOPE_UNIVERSE)
		return false;
	*ret = (struct address){
		.head = *msg,
		.n_bytes = msg->ifa_family == AF_INET ? 4 : 16,
	};
	for (struct rtattr *a = IFA_RTA(msg); RTA_OK(a, (int)left);
	     a = RTA_NEXT(a, left)) {
		if (a->rta_type == IFA_LOCAL)
			take(a, ret->n_bytes, ret->local, &ret->has_local);
		else if (a->rta_type == IFA_ADDRESS)
			take(a, ret->n_bytes, ret->peer, &has_peer);
		else if (a->rta_type == IFA_BROADCAST)
			take(a, ret->n_bytes, ret->broadcast,
			     &ret->has_broadcast);
		else if (a->rta_type == IFA_FLAGS &&
			 RTA_PAYLOAD(a) == sizeof(flags))
			memcpy(&flags, RTA_DATA(a), sizeof(flags));
	}
	return has_peer && flags & IFA_F_PERMANENT;
}

/* One datagram of a dump. Returns 1 at its end, 0, or a negative errno. */
static int read_datagram(char *buf, size_t n, int index, struct addresses *ret)
{
	unsigned int left = (unsigned int)n;

	for (struct nlmsghdr *h = (struct nlmsghdr *)(void *)buf;
	     NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
		struct address a;

		if (h->nlmsg_type == NLMSG_DONE)
			return 1;
		if (h->nlmsg_type == NLMSG_ERROR)
			return -EPROTO;
		if (h->nlmsg_type != RTM_NEWADDR || !read_address(h, index, &a))
			continue;
		if (ret->n == NETDEVICE_ADDRESSES_MAX)
			return -E2BIG;
		ret->v[ret->n++] = a;
	}
	return 0;
}

static int read_addresses(int fd, int index, struct addresses *ret)
{
	_Alignas(struct nlmsghdr) char buf[8192];
	struct message m;
	int r;

	begin(&m, RTM_GETADDR, NLM_F_DUMP, sizeof(struct ifaddrmsg));
	ret->n = 0;
	r = send_message(fd, &m);
	while (r == 0) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPROTO;
		r = read_datagram(buf, (size_t)n, index, ret);
	}
	return r < 0 ? r : 0;
}

static int write_address(int fd, int index, const struct address *a)
{
	struct message m;
	struct ifaddrmsg *msg = begin(
		&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*msg));

	*msg = a->head;
	msg->ifa_flags = IFA_F_PERMANENT;
	msg->ifa_index = (unsigned int)index;
	if (a->has_local)
		add(&m, IFA_LOCAL, a->local, a->n_bytes);
	add(&m, IFA_ADDRESS, a->peer, a->n_bytes);
	if (a->has_broadcast)
		add(&m, IFA_BROADCAST, a->broadcast, a->n_bytes);
	return talk(fd, &m);
}

/* ------------------------------------------------------------------ moving */

static int move_link(int fd, int index, const char *name, int ns_fd)
{
	struct message m;
	struct ifinfomsg *msg = begin(&m, RTM_NEWLINK, 0, sizeof(*msg));

	msg->ifi_index = index;
	add(&m, IFLA_NET_NS_FD, &ns_fd, sizeof(ns_fd));
	add(&m, IFLA_IFNAME, name, strlen(name) + 1);
	return talk(fd, &m);
}

static int set_up(int fd, int index)
{
	struct message m;
	struct ifinfomsg *msg = begin(&m, RTM_NEWLINK, 0, sizeof(*msg));

	msg->ifi_index = index;
	msg->ifi_flags = IFF_UP;
	msg->ifi_change = IFF_UP;
	return talk(fd, &m);
}

/* In the other namespace. */
static int restore(const char *name, const struct addresses *addresses,
		   struct err *err)
{
	own_close int fd = -EBADF;
	int index = (int)if_nametoindex(name);
	int r = open_socket(&fd, err);

	if (r < 0)
		return r;
	if (!index)
		return err_errno(err, errno, "find it as %s", name);
	for (size_t i = 0; i < addresses->n; i++) {
		r = write_address(fd, index, &addresses->v[i]);
		if (r < 0)
			return err_errno(err, -r, "give it its addresses");
	}
	r = set_up(fd, index);
	return r < 0 ? err_errno(err, -r, "set it up") : 0;
}

static int restore_in(const char *name, const struct addresses *addresses,
		      int ns_fd, struct err *err)
{
	own_close int own_fd =
		openat(AT_FDCWD, "/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r;

	if (own_fd < 0)
		return err_errno(err, errno, "open /proc/self/ns/net");
	if (setns(ns_fd, CLONE_NEWNET) < 0)
		return err_errno(err, errno, "join the network namespace");
	r = restore(name, addresses, err);
	if (setns(own_fd, CLONE_NEWNET) < 0)
		return err_errno(err, errno, "leave the network namespace");
	return r;
}

static int move_one(int fd, const struct netdevice *d, int ns_fd,
		    struct err *err)
{
	const char *name = d->new_name ? d->new_name : d->name;
	struct addresses addresses;
	int index = (int)if_nametoindex(d->name);
	int r;

	if (!index)
		return err_errno(err, errno, "find it");
	if (!*name || strlen(name) >= IF_NAMESIZE)
		return err_errno(err, EINVAL, "name it %s", name);
	r = read_addresses(fd, index, &addresses);
	if (r < 0)
		return err_errno(err, -r, "read its addresses");
	r = move_link(fd, index, name, ns_fd);
	if (r < 0)
		return err_errno(err, -r, "move it as %s", name);
	return restore_in(name, &addresses, ns_fd, err);
}

int netdevice_move(const struct netdevice *v, size_t n, int ns_fd,
		   struct err *err)
{
	own_close int fd = -EBADF;
	int r = n ? open_socket(&fd, err) : 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = move_one(fd, &v[i], ns_fd, err);
		if (r < 0)
			err_wrap(err, "network device %s", v[i].name);
	}
	return r;
}
