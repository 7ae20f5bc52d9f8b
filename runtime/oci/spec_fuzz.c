/* SPDX-License-Identifier: Apache-2.0 */
/* A config that is accepted is accepted again as it is written, and is then
 * written in the same way. */
#include <assert.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/errors.h"
#include "runtime/oci/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own_arena struct arena a = ARENA_INIT;
	own_strbuf struct strbuf one = STRBUF_HEAP, two = STRBUF_HEAP;
	struct json j = json_to(&one, false), k = json_to(&two, false);
	struct doc_errors errors;
	struct oci_spec *spec;

	doc_errors_init(&errors, &a, "fuzz");
	if (oci_spec_parse(&a, (const char *)data, size, &spec, &errors) < 0) {
		assert(errors.n_errors);
		return 0;
	}
	oci_spec_write(&j, NULL, spec);
	assert(oci_spec_parse(&a, one.s, one.len, &spec, &errors) == 0);
	oci_spec_write(&k, NULL, spec);
	assert(one.len == two.len && memcmp(one.s, two.s, one.len) == 0);
	return 0;
}
