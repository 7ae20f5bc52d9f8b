/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "policy-compiler/check.h"
#include "policy-compiler/spec.h"
#include "runtime/base/err.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/doc.h"
#include "runtime/doc/errors.h"
#include "runtime/policy/limits.h"
#include "runtime/policy/match.h"

/* ------------------------------------------------------------- the forms */

static void check_form(const struct spec *s, struct doc_errors *errors)
{
	static const char *const full_only[] = {"network_policies",
						"network_middlewares"};
	bool is_short = doc_get(s->node, "network") != NULL;

	for (size_t i = 0; is_short && i < N_ELEMENTS(full_only); i++) {
		const struct doc_node *n = doc_get(s->node, full_only[i]);

		if (n)
			doc_error_at(errors, n,
				     "the short form, which has \"network\", "
				     "can't have this as well");
	}
	if (!is_short && !doc_get(s->node, "version"))
		doc_error_at(errors, s->node, "missing key \"version\"");
}

/* ------------------------------------------------------------ filesystem */

static bool has_dot_dot(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

static bool is_root(const char *path)
{
	return path[0] == '/' && path[strspn(path, "/")] == '\0';
}

static void check_path(const struct doc_node *n, bool writable,
		       struct doc_errors *errors)
{
	if (n->kind != DOC_STRING)
		return;
	if (n->len > POLICY_PATH_BYTES_MAX)
		doc_error_at(errors, n, "longer than %d bytes",
			     POLICY_PATH_BYTES_MAX);
	if (n->text[0] != '/')
		doc_error_at(errors, n, "\"%.80s\" is not an absolute path",
			     n->text);
	if (has_dot_dot(n->text))
		doc_error_at(errors, n, "\"%.80s\" must not hold \"..\"",
			     n->text);
	if (writable && is_root(n->text))
		doc_error_at(errors, n,
			     "all of the root can't be writable: name the "
			     "folders that have to be");
}

static void check_filesystem(const struct spec_filesystem *f,
			     struct doc_errors *errors)
{
	const struct doc_node *ro = doc_get(f->node, "read_only");
	const struct doc_node *rw = doc_get(f->node, "read_write");
	size_t n = (ro ? ro->n : 0) + (rw ? rw->n : 0);

	if (ro)
		doc_for_each (it, ro)
			check_path(it, false, errors);
	if (rw)
		doc_for_each (it, rw)
			check_path(it, true, errors);
	if (n > POLICY_PATHS_MAX)
		doc_error_at(errors, f->node, "%zu paths, more than %d", n,
			     POLICY_PATHS_MAX);
}

/* --------------------------------------------------------------- process */

static void check_identity(const struct spec_process *p, const char *key,
			   const char *value, struct doc_errors *errors)
{
	uint32_t id;

	if (!value || str_eq(value, "sandbox"))
		return;
	/* the last number is (uid_t)-1, "no change" to setresuid */
	if (num_parse_u32(value, UINT32_MAX - 1, &id) < 0)
		doc_error_at(errors, doc_get(p->node, key),
			     "must be \"sandbox\" or a number from 1 to "
			     "4294967294, not \"%.80s\"",
			     value);
	else if (id == 0)
		doc_error_at(errors, doc_get(p->node, key),
			     "0 is root, which a policy can't choose");
}

static void check_process(const struct spec_process *p,
			  struct doc_errors *errors)
{
	check_identity(p, "run_as_user", p->run_as_user, errors);
	check_identity(p, "run_as_group", p->run_as_group, errors);
}

/* --------------------------------------------------------------- entries */

/* May some executable have this path, or is it a glob of one? */
static bool is_binary_path(const char *path)
{
	return path[0] == '/' || (path[0] == '*' && path[1] == '*');
}

static void check_binary(const struct doc_node *n, const char *path,
			 struct doc_errors *errors)
{
	struct err err;

	if (!path || !n)
		return;
	if (!is_binary_path(path))
		doc_error_at(errors, n,
			     "\"%.80s\" is not an absolute path, and so no "
			     "binary's",
			     path);
	if (n->len > POLICY_PATH_BYTES_MAX)
		doc_error_at(errors, n, "longer than %d bytes",
			     POLICY_PATH_BYTES_MAX);
	if (match_is_glob(path) && match_glob_check(path, &err) < 0)
		doc_error_at(errors, n, "\"%.80s\" is not a glob: %s", path,
			     err.text);
}

/* Counted over the whole document. */
struct totals {
	size_t endpoints, ports, cidrs, globs, hostless, binaries;
};

static void count(struct totals *t, const struct spec_endpoint *e)
{
	enum policy_host kind = check_host_kind(e->host);

	t->endpoints++;
	t->ports += e->ports.n + 1;
	t->cidrs += e->allowed_ips.n;
	t->globs += kind == POLICY_HOST_GLOB;
	t->hostless += kind == POLICY_HOST_NONE;
}

static void check_totals(const struct totals *t, const struct doc_node *node,
			 struct doc_errors *errors)
{
	const struct {
		size_t n, max;
		const char *what;
	} rows[] = {
		{t->endpoints, POLICY_ENDPOINTS_MAX, "endpoints"},
		{t->ports, POLICY_PORTS_MAX, "ports"},
		{t->cidrs, POLICY_CIDRS_MAX, "allowed_ips"},
		{t->globs, POLICY_HOST_GLOBS_MAX, "hosts with wildcards"},
		{t->hostless, POLICY_HOSTLESS_MAX, "endpoints without host"},
		{t->binaries, POLICY_BINARY_REFS_MAX, "binaries"},
	};

	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (rows[i].n > rows[i].max)
			doc_error_at(errors, node,
				     "%zu %s in all, more than %zu", rows[i].n,
				     rows[i].what, rows[i].max);
}

static void check_entry(const struct spec_entry *entry, struct totals *t,
			struct doc_errors *errors)
{
	size_t i;

	for (i = 0; i < entry->endpoints.n; i++) {
		const struct spec_endpoint *e = &entry->endpoints.v[i];

		if (!e->node)
			continue;
		check_endpoint(e, errors);
		check_layer7(e, errors);
		count(t, e);
	}
	for (i = 0; i < entry->binaries.n; i++) {
		const struct spec_binary *b = &entry->binaries.v[i];

		check_binary(doc_get(b->node, "path"), b->path, errors);
	}
	t->binaries += entry->binaries.n;
}

static void check_short(const struct spec_short *row, struct totals *t,
			struct doc_errors *errors)
{
	const struct doc_node *n = doc_get(row->endpoint.node, "binaries");

	/* without a host, the table has said so */
	if (!row->endpoint.node || !row->endpoint.host)
		return;
	check_endpoint(&row->endpoint, errors);
	if (n)
		doc_for_each (it, n)
			if (it->kind == DOC_STRING)
				check_binary(it, it->text, errors);
	count(t, &row->endpoint);
	t->binaries += row->binaries.n;
}

void check_policy(struct arena *a, const struct spec *s,
		  struct doc_errors *errors)
{
	struct totals t = {0};
	size_t i;

	check_form(s, errors);
	if (s->filesystem_policy)
		check_filesystem(s->filesystem_policy, errors);
	if (s->process)
		check_process(s->process, errors);
	for (i = 0; i < s->network_policies.n; i++)
		check_entry(&s->network_policies.v[i], &t, errors);
	for (i = 0; s->network && i < s->network->allow.n; i++)
		check_short(&s->network->allow.v[i], &t, errors);
	check_totals(&t, s->node, errors);
	check_middlewares(s, errors);
	check_ambiguity(a, s, errors);
}
