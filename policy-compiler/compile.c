/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "policy-compiler/check.h"
#include "policy-compiler/compile.h"
#include "policy-compiler/lower.h"
#include "policy-compiler/spec.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/policy/build.h"
#include "runtime/policy/limits.h"

void compile_messages_init(struct compile_messages *m, struct arena *a,
			   const char *name)
{
	doc_errors_init(&m->errors, a, name);
	doc_errors_init(&m->warnings, a, name);
}

static int read_spec(struct arena *a, const char *text, size_t len,
		     struct doc_errors *errors, struct spec *ret)
{
	const struct doc_node *root;

	if (len > POLICY_DOCUMENT_BYTES_MAX) {
		doc_error(errors, (struct doc_pos){0, 0},
			  "larger than %d bytes", POLICY_DOCUMENT_BYTES_MAX);
		return -EINVAL;
	}
	if (doc_parse(a, text, len, DOC_AUTO, &root, errors) < 0)
		return -EINVAL;
	if (root->kind == DOC_MAP && root->n == 0) {
		doc_error(errors, root->pos, "the policy is empty");
		return -EINVAL;
	}
	spec_decode(a, root, ret, errors);
	/* the checks find more, whatever the tables found */
	if (ret->node)
		check_policy(a, ret, errors);
	return errors->n_errors ? -EINVAL : 0;
}

/* Tables and checks find things in their own order; people read from above. */
static void sort(struct doc_errors *e)
{
	for (size_t i = 1; i < e->n; i++) {
		struct doc_message m = e->v[i];
		size_t k = i;

		for (; k > 0; k--) {
			struct doc_pos at = e->v[k - 1].pos;

			if (at.line < m.pos.line ||
			    (at.line == m.pos.line && at.col <= m.pos.col))
				break;
			e->v[k] = e->v[k - 1];
		}
		e->v[k] = m;
	}
}

static void carry_warnings(struct policy_build *b, const struct doc_errors *w)
{
	for (size_t i = 0; i < w->n; i++)
		policy_build_warning(b, w->v[i].text, w->v[i].pos.line,
				     w->v[i].pos.col);
}

int compile(struct arena *a, const char *text, size_t len,
	    struct compile_messages *m, void **ret_data, size_t *ret_len)
{
	struct policy_build b;
	struct digest digest;
	struct spec spec;
	struct err err;

	if (read_spec(a, text, len, &m->errors, &spec) < 0) {
		sort(&m->errors);
		return -EINVAL;
	}
	check_warnings(&spec, &m->warnings);
	sort(&m->warnings);

	policy_build_init(&b, a);
	digest_of(&digest, text, len);
	memcpy(b.header.document_digest, digest.b, sizeof(digest.b));
	if (!spec.network)
		b.header.flags |= POLICY_FULL_FORM;
	lower_network(&b, &spec);
	lower_filesystem(&b, &spec);
	lower_process(&b, &spec);
	lower_seccomp(&b);
	carry_warnings(&b, &m->warnings);
	if (policy_build_finish(&b, ret_data, ret_len, &err) < 0) {
		doc_error(&m->errors, (struct doc_pos){0, 0}, "%s", err.text);
		return -EINVAL;
	}
	return 0;
}
