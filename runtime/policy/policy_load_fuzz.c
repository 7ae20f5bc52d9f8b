/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the loader behind its digest: the input is sealed first, so that the
 * fuzzer need not find SHA-256. Whatever loads is then used.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/policy/decide.h"
#include "runtime/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct policy *p)
{
	static const char *const names[] = {"api.example.com", "a.b.c"};
	const struct decide_caller caller = {
		.matches = decide_by_path,
		.exe = "/usr/bin/curl",
	};
	struct decide_dest dest = {
		.port = 443,
		.proto = IPPROTO_TCP,
		.names = names,
		.n_names = N_ELEMENTS(names),
	};
	struct decision d;

	for (uint32_t i = 0; i < p->n_endpoints; i++) {
		const struct policy_endpoint *e = &p->endpoint[i];

		memcpy(dest.ip.b, e->literal, sizeof(dest.ip.b));
		dest.port = p->port[e->first_port];
		decide_connect(p, p, &dest, &caller, &d);
		decide_name(p, NULL, policy_text(p, e->host), &d);
		policy_node_member(p, e->layer7, "rules");
	}
	decide_answer(p, p, names[0], &dest.ip);
	policy_find_program(p, POLICY_PROGRAM_PLAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { COVERED = offsetof(struct policy_header, version) };
	own_free uint8_t *copy = malloc(size + 1);
	struct policy p;
	struct digest d;
	struct err err;

	if (!copy || size > 1 << 16)
		return 0;
	memcpy(copy, data, size);
	if (size >= sizeof(struct policy_header)) {
		memcpy(copy, POLICY_MAGIC, POLICY_MAGIC_BYTES);
		digest_of(&d, copy + COVERED, size - COVERED);
		memcpy(copy + POLICY_MAGIC_BYTES, d.b, sizeof(d.b));
	}
	if (policy_load(copy, size, &p, &err) == 0)
		use(&p);
	return 0;
}
