/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "runtime/doc/suggest.h"

enum { WORD_BYTES = 64 }; /* the longest key of any table has 36 letters */

static bool fold(const char *s, char ret[WORD_BYTES])
{
	size_t n = 0;

	for (; *s; s++) {
		if (*s == '-' || *s == '_')
			continue;
		if (n + 1 == WORD_BYTES)
			return false;
		ret[n++] = (char)tolower((unsigned char)*s);
	}
	ret[n] = '\0';
	return n > 2;
}

bool suggest_is_near(const char *word, const char *known)
{
	char a[WORD_BYTES], b[WORD_BYTES];
	const char *x = a, *y = b;

	if (!fold(word, a) || !fold(known, b))
		return false;
	while (*x && *x == *y) {
		x++;
		y++;
	}
	if (!*x && !*y)
		return true;
	if (*x && *y && strcmp(x + 1, y + 1) == 0)
		return true; /* one wrong */
	if (*x && strcmp(x + 1, y) == 0)
		return true; /* one too many */
	if (*y && strcmp(x, y + 1) == 0)
		return true; /* one missing */
	return *x && *y && x[0] == y[1] && x[1] == y[0] &&
	       strcmp(x + 2, y + 2) == 0; /* swapped */
}
