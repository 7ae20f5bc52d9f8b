/* SPDX-License-Identifier: Apache-2.0 */
/* What is legal, and probably not what its author means. */
#include "policy-compiler/check.h"
#include "policy-compiler/spec.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"
#include "runtime/policy/match.h"

/* OpenShell's: a network shorter than this is warned about. */
enum { PREFIX_WIDE = 16 };

static void warn_networks(const struct spec_endpoint *e,
			  struct doc_errors *warnings)
{
	const struct doc_node *list = doc_get(e->node, "allowed_ips");
	struct match_ip ip;
	uint32_t prefix;

	if (!list)
		return;
	doc_for_each (it, list) {
		if (check_parse_net(it->text, &ip, &prefix) < 0)
			continue;
		if (match_ip_is_v4(&ip) && prefix >= 96)
			prefix -= 96;
		if (prefix < PREFIX_WIDE)
			doc_warning_at(warnings, it,
				       "%s is wide: shorter than /%d", it->text,
				       PREFIX_WIDE);
	}
}

static void warn_host(const struct spec_endpoint *e,
		      struct doc_errors *warnings)
{
	const struct doc_node *n = doc_get(e->node, "host");
	struct match_ip ip;

	switch (check_host_kind(e->host)) {
	case POLICY_HOST_NONE:
		doc_warning_at(warnings, e->node,
			       "without host, every name may be asked for: "
			       "names themselves can carry data");
		break;
	case POLICY_HOST_LITERAL:
		match_ip_parse(e->host, &ip);
		if (match_ip_class(&ip) == MATCH_BLOCKED)
			doc_warning_at(warnings, n,
				       "%s is never allowed (loopback, "
				       "link-local or multicast)",
				       e->host);
		break;
	case POLICY_HOST_EXACT:
	case POLICY_HOST_GLOB:
	case POLICY_HOST_N:
		break;
	}
}

static void warn_port(const struct spec_endpoint *e, uint32_t port,
		      struct doc_errors *warnings)
{
	if (match_port_is_control_plane((uint16_t)port) &&
	    check_host_kind(e->host) != POLICY_HOST_GLOB)
		doc_warning_at(warnings, e->node,
			       "port %u is a control-plane port and is never "
			       "allowed to a host that is named",
			       port);
}

static void warn_endpoint(const struct spec_endpoint *e,
			  struct doc_errors *warnings)
{
	const struct doc_node *tls = doc_get(e->node, "tls");

	warn_host(e, warnings);
	if (e->port.set)
		warn_port(e, e->port.v, warnings);
	for (size_t i = 0; i < e->ports.n; i++)
		warn_port(e, e->ports.v[i], warnings);
	warn_networks(e, warnings);
	if (tls && e->tls != POLICY_TLS_SKIP && e->protocol <= POLICY_PROTO_TCP)
		doc_warning_at(warnings, tls,
			       "has no effect: TLS is terminated where a rule "
			       "needs it, and nowhere else");
	check_layer7_warnings(e, warnings);
}

static void warn_entry(const struct spec_entry *entry,
		       struct doc_errors *warnings)
{
	size_t i;

	if (entry->binaries.n == 0)
		doc_warning_at(warnings, entry->node,
			       "names no binaries, and so allows none: write "
			       "binaries: [{path: \"/**\"}] for any");
	if (entry->endpoints.n == 0)
		doc_warning_at(warnings, entry->node,
			       "has no endpoints, and so no effect");
	for (i = 0; i < entry->endpoints.n; i++)
		warn_endpoint(&entry->endpoints.v[i], warnings);
	for (i = 0; i < entry->binaries.n; i++) {
		const struct spec_binary *b = &entry->binaries.v[i];

		if (b->harness.set)
			doc_warning_at(warnings, doc_get(b->node, "harness"),
				       "has no meaning any more");
	}
}

static bool listed(const struct str_list *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->v[i], path))
			return true;
	return false;
}

static void warn_filesystem(const struct spec_filesystem *f,
			    struct doc_errors *warnings)
{
	const struct doc_node *rw = doc_get(f->node, "read_write");

	if (rw)
		doc_for_each (it, rw)
			if (listed(&f->read_only, it->text))
				doc_warning_at(warnings, it,
					       "%.80s is in read_only too: it "
					       "is writable",
					       it->text);
}

void check_warnings(const struct spec *s, struct doc_errors *warnings)
{
	size_t i;

	if (s->filesystem_policy)
		warn_filesystem(s->filesystem_policy, warnings);
	for (i = 0; i < s->network_policies.n; i++)
		warn_entry(&s->network_policies.v[i], warnings);
	for (i = 0; s->network && i < s->network->allow.n; i++) {
		const struct spec_short *row = &s->network->allow.v[i];

		warn_host(&row->endpoint, warnings);
		if (row->endpoint.port.set)
			warn_port(&row->endpoint, row->endpoint.port.v,
				  warnings);
	}
}
