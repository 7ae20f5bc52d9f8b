/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks on the sandbox, from inside.
 *
 * One static program, `attack`, holds them all: each file here is one class
 * (a struct attack), each way of trying it one mode of that class.
 *
 *	attack CLASS MODE [KEY=VALUE...]
 *
 * An attack tries as hard as it can and then says what it believes, as exit
 * status and as one line on standard output. The judge is elsewhere: counters
 * in the target's network namespace must not have seen one packet.
 */
#ifndef OSH_ATTACK_H
#define OSH_ATTACK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum verdict {
	THROUGH = 0, /* the attack believes that it got through */
	REFUSED = 1,
	UNTRIED = 2, /* the machine lacks what the attack needs */
};

/*
 * What the attack is told. Addresses carry the port that belongs to them:
 * the targets `port`, the allowed ones `aport`.
 */
struct scene {
	struct sockaddr_in target4, allowed4;
	struct sockaddr_in6 target6, allowed6;
	struct sockaddr_in6 link6; /* the target as a neighbour, link-local */
	struct sockaddr_in own4; /* the sandbox's own addresses, port 0 */
	struct sockaddr_in6 own6;
	in_port_t closed_port; /* allowed by the policy, nobody listens there */
	const char *name; /* a name that the policy allows */
	const char *bait; /* a name whose answer the SSRF rules refuse */
	const char *secret; /* what is to be carried out */
	const char *permitted; /* a binary that the policy allows */
	const char *after; /* a file to wait for before, or halfway; or NULL */
	const char *halfway;
	unsigned int tries;
};

struct mode {
	const char *name; /* NULL ends the list */
	enum verdict (*run)(const struct scene *);
};

struct attack {
	const char *name;
	const struct mode *modes;
};

/* Print the verdict with its reason and return it. */
enum verdict say(enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* REFUSED with errno's text, or UNTRIED when errno says the kernel lacks it. */
enum verdict failed(const char *action);

/* A close-on-exec socket, or -1. A stuck receive ends after a second. */
int new_socket(int family, int type, int protocol);

/*
 * Does somebody answer on this connected stream? True when the answer is the
 * target's ("evil here"), not the allowed host's.
 */
bool stream_reaches(int fd, const char *whose);

/* Does an echo of the secret come back to this datagram socket? */
bool datagram_echoes(const struct scene *scene, int fd);

/* connect, then stream_reaches or datagram_echoes by the socket's type. */
enum verdict connect_to(const struct scene *scene, int fd, const void *addr,
			socklen_t len);

/* Ask for the allowed name, as every program does, and connect. */
enum verdict reach_allowed(const struct scene *scene);

/* Hold still until the file @path is there, thirty seconds at most; the
 * harness is told that it may act now. NULL: go on. */
void hold_until(const char *path);

bool same_peer(int fd, const struct sockaddr_in *addr);
unsigned int interface_index(void); /* of eth0 */

/* microseconds of a monotonic clock */
int64_t now_us(void);

/*
 * Ask @server for @name. Returns the response code, -1 for no answer (errno);
 * the first address of an answer goes to @ret_addr, else INADDR_ANY.
 */
int dns_ask(const struct sockaddr_in *server, int type, const char *name,
	    struct in_addr *ret_addr);

/* A query or an answer for @name as bytes; @addr NULL: a query. */
size_t dns_message(uint8_t *buf, size_t size, uint16_t id, const char *name,
		   const struct in_addr *addr);

/* The first nameserver of /etc/resolv.conf; false if there is none. */
bool dns_server(struct sockaddr_in *ret_addr);

extern const struct attack attack_swap, attack_dup2, attack_reconnect,
	attack_fastopen, attack_udp, attack_dns, attack_freebind, attack_mark,
	attack_raw, attack_packet, attack_family, attack_netlink, attack_ipv6,
	attack_multicast, attack_route, attack_uring, attack_i386, attack_x32,
	attack_namespace, attack_identity, attack_trace, attack_device,
	attack_inbound, attack_kernel, attack_plain;

#endif
