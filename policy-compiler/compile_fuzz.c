/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the compiler from the document on: whatever it accepts must load, and
 * must answer questions.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy-compiler/compile.h"
#include "policy-compiler/explain.h"
#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const char *text, const struct policy *p)
{
	const struct explain_source source = {
		.file = "fuzz",
		.text = text,
		.policy = p,
	};
	const struct explain_question question = {
		.dest = "api.github.com:443",
		.binary = "/usr/bin/curl",
		.ancestors = "/bin/sh,/bin/bash",
	};
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct err err;

	explain_summary(&sb, &source);
	if (explain_connect(&sb, &source, &source, &question, &err) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own_arena struct arena a = ARENA_INIT;
	struct compile_messages m;
	struct policy p;
	struct err err;
	void *compiled;
	size_t len;
	char *text;

	if (size > 1 << 16)
		return 0;
	text = arena_strndup(&a, (const char *)data, size);
	compile_messages_init(&m, &a, "fuzz");
	if (compile(&a, text, size, &m, &compiled, &len) < 0) {
		if (m.errors.n_errors == 0)
			abort();
		return 0;
	}
	if (policy_load(compiled, len, &p, &err) < 0)
		abort();
	ask(text, &p);
	return 0;
}
