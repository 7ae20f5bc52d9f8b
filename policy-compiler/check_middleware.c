/* SPDX-License-Identifier: Apache-2.0 */
/* network_middlewares: their order, their selectors, and what they see. */
#include <string.h>

#include "policy-compiler/check.h"
#include "policy-compiler/overlap.h"
#include "policy-compiler/spec.h"
#include "runtime/base/err.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"
#include "runtime/policy/limits.h"
#include "runtime/policy/match.h"

enum { CONFIG_DEPTH_MAX = 16 };

static const char *pattern_fault(const char *p)
{
	const char *label = p;
	struct err err;

	if (!*p)
		return "it is empty";
	if (strlen(p) > POLICY_HOST_BYTES_MAX)
		return "it is too long";
	if (strpbrk(p, " \t\r\n"))
		return "it holds a blank";
	if (strpbrk(p, "{}"))
		return "alternatives in braces are not for selectors: list "
		       "each host";
	while (label) {
		size_t n = strcspn(label, ".");

		if (n == 0)
			return "it has an empty label";
		if (n > 2 && memmem(label, n, "**", 2))
			return "** must be a whole label";
		label = label[n] ? label + n + 1 : NULL;
	}
	return match_glob_check(p, &err) < 0 ? "it is no glob" : NULL;
}

static void check_patterns(const struct doc_node *list,
			   struct doc_errors *errors)
{
	if (!list || list->kind != DOC_LIST)
		return;
	doc_for_each (it, list) {
		const char *fault =
			it->kind == DOC_STRING ? pattern_fault(it->text) : NULL;

		if (fault)
			doc_error_at(errors, it, "\"%.80s\" is refused: %s",
				     it->text, fault);
	}
}

static bool in_selector(const struct str_list *list, const char *host)
{
	for (size_t i = 0; i < list->n; i++)
		if (match_host(list->v[i], host) ||
		    match_casecmp(list->v[i], host) == 0)
			return true;
	return false;
}

/* May the middleware see something of this endpoint? */
static bool selects(const struct spec_middleware *m,
		    const struct spec_endpoint *e)
{
	const struct spec_selector *s = m->endpoints;
	bool exact = check_host_kind(e->host) != POLICY_HOST_GLOB;

	if (!s)
		return false;
	if (e->host && exact)
		return in_selector(&s->include, e->host) &&
		       !in_selector(&s->exclude, e->host);
	for (size_t i = 0; i < s->include.n; i++)
		if (s->include.v[i] && overlap_hosts(s->include.v[i], e->host))
			return true;
	return false;
}

const char *check_middleware_of(const struct spec *s,
				const struct spec_endpoint *e)
{
	for (size_t i = 0; i < s->network_middlewares.n; i++)
		if (selects(&s->network_middlewares.v[i], e))
			return s->network_middlewares.v[i].key;
	return NULL;
}

/* config is carried as a tree: as deep as the compiled policy can hold. */
static bool is_deeper(const struct doc_node *n, unsigned int depth)
{
	if (n->kind != DOC_LIST && n->kind != DOC_MAP)
		return false;
	if (depth == 0)
		return true;
	doc_for_each (it, n)
		if (is_deeper(it, depth - 1))
			return true;
	return false;
}

/* What must be seen, and can't be, would never be allowed. */
static void check_skipped_tls(const struct spec *s,
			      const struct spec_middleware *m,
			      struct doc_errors *errors)
{
	size_t i, j;

	for (i = 0; i < s->network_policies.n; i++) {
		const struct spec_entry *entry = &s->network_policies.v[i];

		for (j = 0; j < entry->endpoints.n; j++) {
			const struct spec_endpoint *e = &entry->endpoints.v[j];

			if (e->node && e->tls == POLICY_TLS_SKIP &&
			    selects(m, e))
				doc_error_at(errors, doc_get(e->node, "tls"),
					     "skips the TLS that middleware "
					     "%s has to see into",
					     m->key);
		}
	}
}

void check_middlewares(const struct spec *s, struct doc_errors *errors)
{
	for (size_t i = 0; i < s->network_middlewares.n; i++) {
		const struct spec_middleware *m = &s->network_middlewares.v[i];
		const struct doc_node *order = doc_get(m->node, "order");
		const struct spec_selector *sel = m->endpoints;

		if (!m->node)
			continue;
		for (size_t k = 0; k < i; k++)
			if (s->network_middlewares.v[k].node &&
			    s->network_middlewares.v[k].order == m->order)
				doc_error_at(errors, order ? order : m->node,
					     "order %d is that of %s already",
					     m->order,
					     s->network_middlewares.v[k].key);
		if (m->config && is_deeper(m->config, CONFIG_DEPTH_MAX))
			doc_error_at(errors, m->config, "nested too deep");
		if (!sel)
			continue;
		check_patterns(doc_get(sel->node, "include"), errors);
		check_patterns(doc_get(sel->node, "exclude"), errors);
		if (sel->include.n + sel->exclude.n > POLICY_SELECTORS_MAX)
			doc_error_at(errors, sel->node,
				     "%zu patterns, more than %d",
				     sel->include.n + sel->exclude.n,
				     POLICY_SELECTORS_MAX);
		if (!m->fail_open)
			check_skipped_tls(s, m, errors);
	}
}
