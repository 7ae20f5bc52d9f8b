/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "policy-compiler/base64.h"
#include "runtime/base/strbuf.h"

void base64_encode(struct strbuf *sb, const void *data, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const uint8_t *p = data;

	for (; n; p += 3) {
		size_t take = n < 3 ? n : 3;
		uint32_t v = (uint32_t)p[0] << 16;

		if (take > 1)
			v |= (uint32_t)p[1] << 8;
		if (take > 2)
			v |= p[2];
		for (size_t i = 0; i < 4; i++)
			strbuf_addc(sb, i <= take
						? digits[v >> (18 - 6 * i) & 63]
						: '=');
		n -= take;
	}
}
