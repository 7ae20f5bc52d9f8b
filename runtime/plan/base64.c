/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/plan/base64.h"

static int value_of(char c)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "abcdefghijklmnopqrstuvwxyz"
				       "0123456789+/";
	const char *p = c ? strchr(alphabet, c) : NULL;

	return p ? (int)(p - alphabet) : -1;
}

/* Four characters of which the last @pad are '='. */
static int decode_group(const char *text, size_t pad, char *out)
{
	uint32_t v = 0;

	for (size_t i = 0; i < 4; i++) {
		int digit = i < 4 - pad ? value_of(text[i]) : 0;

		if (digit < 0)
			return -EINVAL;
		v = v << 6 | (uint32_t)digit;
	}
	/* bits beyond the last byte must be zero: one text for one value */
	if (v & ((UINT32_C(1) << 8 * pad) - 1))
		return -EINVAL;
	for (size_t i = 0; i < 3 - pad; i++)
		out[i] = (char)(v >> (16 - 8 * i));
	return 0;
}

int base64_decode(struct arena *a, const char *text, size_t len,
		  char **ret_data, size_t *ret_len)
{
	size_t pad = 0, n = 0;
	char *out;

	if (len % 4)
		return -EINVAL;
	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	out = arena_alloc(a, len / 4 * 3 + 1);
	for (size_t i = 0; i < len; i += 4) {
		size_t here = i + 4 == len ? pad : 0;

		if (decode_group(text + i, here, out + n) < 0)
			return -EINVAL;
		n += 3 - here;
	}
	*ret_data = out;
	*ret_len = n;
	return 0;
}
