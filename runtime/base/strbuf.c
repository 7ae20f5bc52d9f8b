/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/strbuf.h"

void strbuf_done(struct strbuf *sb)
{
	if (sb->heap)
		free(sb->s);
	sb->s = NULL;
	sb->len = sb->size = 0;
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	sb->cut = false;
	if (sb->s)
		sb->s[0] = '\0';
}

/* Make room for @n more bytes and a NUL; returns how many fit. */
static size_t room_for(struct strbuf *sb, size_t n)
{
	size_t want;

	if (sb->size > sb->len && sb->size - sb->len > n)
		return n;
	if (!sb->heap) {
		sb->cut = true;
		return sb->size > sb->len ? sb->size - sb->len - 1 : 0;
	}
	want = sb->size ? sb->size : 64;
	while (want - sb->len <= n)
		want *= 2;
	sb->s = realloc(sb->s, want);
	if (!sb->s) {
		fputs("osh: out of memory\n", stderr);
		abort();
	}
	sb->size = want;
	return n;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t n)
{
	n = room_for(sb, n);
	if (!sb->size)
		return;
	if (n)
		memcpy(sb->s + sb->len, data, n);
	sb->len += n;
	sb->s[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	size_t fit;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	assert(n >= 0);
	fit = room_for(sb, (size_t)n);
	if (!sb->size)
		return;
	vsnprintf(sb->s + sb->len, fit + 1, fmt, ap);
	sb->len += fit;
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_addhex(struct strbuf *sb, const void *data, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i++) {
		strbuf_addc(sb, digit[p[i] >> 4]);
		strbuf_addc(sb, digit[p[i] & 15]);
	}
}

char *strbuf_take(struct strbuf *sb)
{
	char *s;

	assert(sb->heap);
	strbuf_add(sb, "", 0);
	s = sb->s;
	sb->s = NULL;
	sb->len = sb->size = 0;
	return s;
}

bool str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src);
	bool fits = n < size;

	if (!size)
		return false;
	if (!fits)
		n = size - 1;
	memcpy(dst, src, n);
	dst[n] = '\0';
	return fits;
}

const char *str_after(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

void str_make_printable(char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)s[0];
		unsigned char next = (unsigned char)s[1];

		if (c < 0x20 || c == 0x7f)
			*s = '?';
		else if (c == 0xc2 && next >= 0x80 && next < 0xa0)
			s[0] = s[1] = '?';
	}
}
