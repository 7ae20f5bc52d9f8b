/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts, ports and addresses of one endpoint. */
#include <errno.h>
#include <string.h>

#include "policy-compiler/check.h"
#include "policy-compiler/spec.h"
#include "runtime/base/err.h"
#include "runtime/base/num.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"
#include "runtime/policy/limits.h"
#include "runtime/policy/match.h"

enum policy_host check_host_kind(const char *host)
{
	struct match_ip ip;

	if (!host || !*host)
		return POLICY_HOST_NONE;
	if (match_ip_parse(host, &ip) == 0)
		return POLICY_HOST_LITERAL;
	return match_is_glob(host) ? POLICY_HOST_GLOB : POLICY_HOST_EXACT;
}

/* ----------------------------------------------------------------- hosts */

/* One label behind the first: a name's, or "*" alone. */
static bool later_label_ok(const char *label, size_t n)
{
	char text[64];

	if (n == 1 && label[0] == '*')
		return true;
	if (n >= sizeof(text))
		return false;
	memcpy(text, label, n);
	text[n] = '\0';
	return match_name_ok(text);
}

/* Why a host with "*" is refused, or NULL. */
static const char *glob_fault(const char *host)
{
	const char *dot = strchr(host, '.');
	size_t first = dot ? (size_t)(dot - host) : strlen(host);
	struct err err;

	if (str_eq(host, "*") || str_eq(host, "**"))
		return "it would be every host";
	if (!dot || !strchr(dot + 1, '.'))
		return "it would be a whole top-level domain; write "
		       "*.example.com";
	if (first > 2 && memmem(host, first, "**", 2))
		return "** must be the whole first label";
	if (match_glob_check(host, &err) < 0)
		return "it is no glob";
	while (dot) {
		const char *label = dot + 1;

		dot = strchr(label, '.');
		first = dot ? (size_t)(dot - label) : strlen(label);
		if (first == 2 && label[0] == '*' && label[1] == '*')
			return "** must be the whole first label";
		if (!later_label_ok(label, first))
			return "behind the first label, * must be a whole "
			       "label";
	}
	return NULL;
}

static const char *exact_fault(const char *host)
{
	size_t n = strlen(host);

	if (host[n - 1] == '.')
		return "no name that is asked for ends in a dot";
	if (strstr(host, "..") || host[0] == '.')
		return "it has an empty label";
	if (strchr(host, '/') || strchr(host, ':'))
		return "a host is a name or an address, without scheme, port "
		       "or path";
	return match_name_ok(host) ? NULL : "it is not a host name";
}

static void check_host(const struct spec_endpoint *e, struct doc_errors *errors)
{
	const struct doc_node *n = doc_get(e->node, "host");
	enum policy_host kind = check_host_kind(e->host);
	bool is_tcp = e->protocol == POLICY_PROTO_TCP;
	const char *fault = NULL;

	if (!e->host) {
		if (n)
			return; /* not a text: reported */
		if (is_tcp)
			doc_error_at(errors, e->node,
				     "protocol tcp needs a host");
		else if (!doc_get(e->node, "allowed_ips"))
			doc_error_at(errors, e->node,
				     "needs a host, or allowed_ips for any "
				     "host");
		else if (e->protocol == POLICY_PROTO_MCP)
			doc_error_at(errors, e->node,
				     "protocol mcp needs a host");
		return;
	}
	if (kind == POLICY_HOST_GLOB)
		fault = glob_fault(e->host);
	else if (kind == POLICY_HOST_EXACT)
		fault = exact_fault(e->host);
	else if (is_tcp)
		fault = "protocol tcp needs a host name, not an address";
	if (fault)
		doc_error_at(errors, n, "\"%.80s\" is refused: %s", e->host,
			     fault);
}

/* ----------------------------------------------------------------- ports */

static void check_ports(const struct spec_endpoint *e,
			struct doc_errors *errors)
{
	const struct doc_node *one = doc_get(e->node, "port");
	const struct doc_node *many = doc_get(e->node, "ports");
	uint64_t v;

	if (!one && !many)
		doc_error_at(errors, e->node, "needs a port");
	if (one && many)
		doc_error_at(errors, many, "port and ports exclude each other");
	if (!many)
		return;
	doc_for_each (it, many)
		if (it->kind == DOC_NUMBER && doc_u64(it, &v) == 0 &&
		    (v < 1 || v > 65535))
			doc_error_at(errors, it,
				     "%s is out of range (1 to 65535)",
				     it->text);
}

/* ------------------------------------------------------------- addresses */

int check_parse_net(const char *s, struct match_ip *ret_ip,
		    uint32_t *ret_prefix)
{
	const char *slash = strchr(s, '/');
	char address[MATCH_IP_TEXT];
	size_t n = slash ? (size_t)(slash - s) : strlen(s);
	bool dotted;

	if (n >= sizeof(address))
		return -EINVAL;
	memcpy(address, s, n);
	address[n] = '\0';
	if (match_ip_parse(address, ret_ip) < 0)
		return -EINVAL;
	dotted = !strchr(address, ':');
	*ret_prefix = 128;
	if (!slash)
		return 0;
	if (num_parse_u32(slash + 1, dotted ? 32 : 128, ret_prefix) < 0)
		return -EINVAL;
	if (dotted)
		*ret_prefix += 96;
	return 0;
}

static void check_allowed_ips(const struct spec_endpoint *e,
			      struct doc_errors *errors)
{
	const struct doc_node *list = doc_get(e->node, "allowed_ips");
	struct match_ip ip;
	uint32_t prefix;

	if (!list)
		return;
	doc_for_each (it, list) {
		if (it->kind != DOC_STRING)
			continue;
		if (check_parse_net(it->text, &ip, &prefix) < 0)
			doc_error_at(errors, it,
				     "\"%.80s\" is not an address or "
				     "ADDRESS/PREFIX",
				     it->text);
		else if (match_net_has_blocked(ip.b, prefix))
			doc_error_at(errors, it,
				     "%s holds addresses that are never "
				     "allowed (loopback, link-local or "
				     "multicast)",
				     it->text);
	}
}

void check_endpoint(const struct spec_endpoint *e, struct doc_errors *errors)
{
	check_host(e, errors);
	check_ports(e, errors);
	check_allowed_ips(e, errors);
}
