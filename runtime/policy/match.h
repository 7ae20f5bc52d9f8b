/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pure matching: hosts, paths, addresses. No allocation, no system calls, and
 * time that is bounded by pattern length times text length, because the texts
 * come from the agent.
 *
 * The globs are those of globset 0.4.9 with literal_separator, which is what
 * OpenShell's engine uses; the table of facts in match_test.c is the contract.
 *	?	one character, not the separator
 *	*	any run of characters without the separator
 *	**	as a whole component: any number of components. At the end it
 *		needs one ("/a" + "/" + "**" matches "/a/" and "/a/b", not
 *		"/a"); elsewhere none will do. Not a whole component: as "*".
 *	[a-z]	one of the class; [!a-z] and [^a-z] one that isn't in it
 *	{a,b}	either pattern; empty ones are ignored
 *	\x	x itself
 * A character is a byte, as it is there. Only "*" makes a text a glob: without
 * one it is taken literally, whatever else it holds.
 */
#ifndef OSH_POLICY_MATCH_H
#define OSH_POLICY_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Has @s a "*"? */
bool match_is_glob(const char *s);

/*
 * Is @pattern a glob that match_path and match_host take? Errors: EINVAL with
 * the reason (an open class or brace, an inverted range, a trailing
 * backslash, too long). The text does not repeat the pattern.
 */
int match_glob_check(const char *pattern, struct err *err);

/*
 * Match @path (absolute, as the kernel gives it) against @pattern with "/" as
 * the separator. A pattern that match_glob_check refuses matches nothing.
 */
bool match_path(const char *pattern, const char *path);

/*
 * Match host @name against @pattern with "." as the separator, any case.
 * Nothing matches a name that is not well-formed (match_name_ok). Stricter
 * than the engine in one place: "**.example.com" needs one label at least.
 */
bool match_host(const char *pattern, const char *name);

/*
 * Could @name be asked for? 1 to 253 characters, labels of 1 to 63 (no empty
 * ones, so no trailing dot either), each of letters, digits, "-" and "_".
 */
bool match_name_ok(const char *name);

/* ASCII only, any locale. */
int match_casecmp(const char *a, const char *b);

/* ------------------------------------------------------------ addresses */

/* An IPv6 address, or an IPv4 one as v4-mapped (::ffff:a.b.c.d): to the
 * kernel the two forms are one destination, so they are here. */
struct match_ip {
	uint8_t b[16];
};

enum match_class {
	MATCH_PUBLIC,
	/* private, shared, documentation, benchmark, broadcast, unique local:
	 * only where a policy declares it */
	MATCH_INTERNAL,
	/* loopback, link-local, unspecified, multicast: never */
	MATCH_BLOCKED,
};

struct match_ip match_ip_v4(const uint8_t address[4]);
struct match_ip match_ip_v6(const uint8_t address[16]);
/* Text of either family, nothing around it. 0 or -EINVAL. */
int match_ip_parse(const char *s, struct match_ip *ret);
bool match_ip_is_v4(const struct match_ip *ip);
enum { MATCH_IP_TEXT = 46 }; /* INET6_ADDRSTRLEN */
/* Dotted for IPv4, RFC 5952 otherwise. */
void match_ip_text(const struct match_ip *ip, char ret_text[MATCH_IP_TEXT]);

/*
 * OpenShell's classes, and for addresses that carry an IPv4 address inside
 * (v4-mapped, 64:ff9b::/96 RFC 6052, 2002::/16 RFC 3056) the inner one's.
 * Stricter than OpenShell: all of 0.0.0.0/8, multicast, ::/96 are blocked,
 * 240.0.0.0/4 and fec0::/10 are internal.
 */
enum match_class match_ip_class(const struct match_ip *ip);

/*
 * Is @ip within @net/@prefix_bits? IPv4 networks are v4-mapped, so their
 * prefix is 96 more than it is in dotted form.
 */
bool match_ip_within(const struct match_ip *ip, const uint8_t net[16],
		     uint32_t prefix_bits);

/* Does @net/@prefix_bits hold some address that is always blocked? */
bool match_net_has_blocked(const uint8_t net[16], uint32_t prefix_bits);

/* 2379, 2380 (etcd), 6443 (Kubernetes), 10250, 10255 (kubelet) */
bool match_port_is_control_plane(uint16_t port);

#endif
