/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a log that somebody edited; what is printed is safe to print. */
#include <assert.h>

#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/decision_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decision_log_verify v = { .id = "c" };
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	const char *line = (const char *)data;
	struct err err = ERR_INIT;

	if (decision_log_text(line, size, &sb, &err) == 0)
		for (size_t i = 0; i < sb.len; i++)
			assert(sb.s[i] >= ' ' && sb.s[i] < 0x7f);
	(void)decision_log_verify(&v, line, size, &err);
	return 0;
}
