/* SPDX-License-Identifier: Apache-2.0 */
#include "policy-compiler/lower.h"
#include "policy-compiler/spec.h"
#include "runtime/doc/doc.h"
#include "runtime/policy/build.h"

static void lower_identity(struct policy_build *b, const struct spec_process *p,
			   const char *key, const char *value,
			   uint32_t *ret_text, uint32_t *ret_line)
{
	if (!value)
		return;
	*ret_text = policy_build_text(b, value);
	*ret_line = doc_get(p->node, key)->pos.line;
}

void lower_process(struct policy_build *b, const struct spec *s)
{
	const struct spec_process *p = s->process;

	if (!p)
		return;
	lower_identity(b, p, "run_as_user", p->run_as_user, &b->header.user,
		       &b->header.user_line);
	lower_identity(b, p, "run_as_group", p->run_as_group, &b->header.group,
		       &b->header.group_line);
}
