/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer 4 decision, pure: osh-shim asks it for every notified call, and
 * `osh-policy explain` asks the same functions. No allocation, no system call.
 *
 * decide_connect() looks at every endpoint that the destination leads to
 *	- through a name which the resolver gave this address out for,
 *	- because its host is this literal address,
 *	- because it has no host and its allowed_ips hold the address,
 * and asks of each, in this order: its port, the caller's binary, its address
 * rules. One endpoint that passes all three allows; reported is the one whose
 * entry has the smallest name. If none does, reported is the reason of the
 * endpoint that came furthest, which is the line somebody would edit:
 *
 *	protocol		not TCP (no policy can allow it)
 *	blocked-address		no endpoint, the address is always blocked
 *	host-not-in-allowlist	no endpoint, names lead here
 *	address-not-resolved	no endpoint, names led here once (was_resolved)
 *	literal-address		no endpoint, the resolver never gave it out
 *	port-not-allowed	an endpoint, but none with this port
 *	binary-unknown		port too, but the caller has no identity
 *	binary-not-allowed	port too, but none for this binary
 *	blocked-address		binary too, the address is always blocked
 *	private-address		binary too, the address isn't declared
 *	blocked-port		binary too, a control-plane port
 *	ceiling			this policy allows, the operator's doesn't
 *
 * Address rules (OpenShell's order, the first that applies):
 *	allowed_ips	the address is in one of them
 *	literal host	it is that address
 *	exact host	any, internal ones too: the author named the host
 *	glob host	public addresses only
 * Always-blocked addresses are never allowed. Control-plane ports are refused
 * in all modes but the last.
 *
 * When any endpoint that passes needs inspection, the flow does: a plain
 * endpoint beside it must not open a way around its rules.
 */
#ifndef OSH_POLICY_DECIDE_H
#define OSH_POLICY_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/policy/match.h"
#include "runtime/policy/reason.h"

struct policy;

struct decide_dest {
	struct match_ip ip;
	uint16_t port; /* host order */
	uint8_t proto; /* IPPROTO_TCP, ... */
	/* The resolver gave the address out, but for nothing that is still
	 * in @names: tells address-not-resolved from literal-address. */
	bool was_resolved;
	const char *const *names; /* of the resolver's table; borrowed */
	size_t n_names;
};

/*
 * Who calls. @matches says whether policy binary number @binary (of @p, which
 * is the policy or the ceiling) is the caller's executable or one of its
 * ancestors'. NULL: the caller could not be identified. The rest is text for
 * `detail`, and may be NULL.
 */
struct decide_caller {
	bool (*matches)(const struct decide_caller *c, const struct policy *p,
			uint32_t binary);
	const char *exe;
	const char *const *ancestors; /* paths, nearest first */
	size_t n_ancestors;
};

/* A `matches` that goes by the paths alone: exact, or glob. */
bool decide_by_path(const struct decide_caller *c, const struct policy *p,
		    uint32_t binary);

enum { DECIDE_DETAIL_BYTES = 512 };

struct decision {
	bool allow;
	bool inspect; /* allowed, through the gateway only */
	enum reason reason;
	/* Whose entry and endpoint: the ceiling when it refused. */
	const struct policy *policy;
	uint32_t entry, endpoint; /* POLICY_NONE when there is none */
	/* of the document: the endpoint's, else that of the section which
	 * lists none; 0 when it has no such section */
	uint32_t line;
	const char *host; /* the name that led to the endpoint (borrowed from
			   * dest), or NULL: the address itself did */
	char detail[DECIDE_DETAIL_BYTES];
};

/* @ceiling may be NULL. Fills all of *ret. */
void decide_connect(const struct policy *p, const struct policy *ceiling,
		    const struct decide_dest *dest,
		    const struct decide_caller *caller, struct decision *ret);

/*
 * May the sandbox resolve @name: does any endpoint's host cover it, whatever
 * the port and the binary, and the ceiling's too? Otherwise the reason is
 * name-not-allowed or ceiling.
 */
void decide_name(const struct policy *p, const struct policy *ceiling,
		 const char *name, struct decision *ret);

/*
 * May @ip be given out in an answer for @name? Yes when some endpoint that
 * covers the name accepts the address on some port, and the ceiling's too.
 */
bool decide_answer(const struct policy *p, const struct policy *ceiling,
		   const char *name, const struct match_ip *ip);

/*
 * The endpoints whose host covers @name, exact ones first: up to @max of them
 * in ret_endpoint. Returns how many there are (maybe more than @max).
 */
size_t decide_endpoints_of(const struct policy *p, const char *name,
			   uint32_t *ret_endpoint, size_t max);

#endif
