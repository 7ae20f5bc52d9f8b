/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A string under construction. Two kinds share one type:
 *
 *	char room[64];
 *	struct strbuf sb = STRBUF_FIXED(room);	never allocates; what does not
 *						fit is cut and sets .cut
 *	struct strbuf sb = STRBUF_HEAP;		grows; strbuf_done() frees
 *
 * .s is always NUL-terminated (for STRBUF_HEAP once something was added).
 * A cut string is never used as a path or an identity: check .cut.
 */
#ifndef OSH_BASE_STRBUF_H
#define OSH_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct strbuf {
	char *s;     /* owned when heap */
	size_t len;  /* without the NUL */
	size_t size; /* of the storage */
	bool heap;
	bool cut; /* something did not fit */
};

#define STRBUF_FIXED(room)                                                     \
	{                                                                      \
		.s = ((room)[0] = '\0', (room)), .size = sizeof(room)          \
	}
#define STRBUF_HEAP                                                            \
	{                                                                      \
		.heap = true                                                   \
	}
#define own_strbuf __attribute__((cleanup(strbuf_done)))

void strbuf_done(struct strbuf *sb);
void strbuf_reset(struct strbuf *sb);
void strbuf_add(struct strbuf *sb, const void *data, size_t n);
void strbuf_adds(struct strbuf *sb, const char *s);
void strbuf_addc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Hexadecimal of @n bytes, lower case. */
void strbuf_addhex(struct strbuf *sb, const void *data, size_t n);
/* Give the heap string away; never NULL. The caller frees it. */
char *strbuf_take(struct strbuf *sb);

/* Copy @src into @dst of @size bytes. Returns false when it does not fit
 * (then @dst is cut, and NUL-terminated all the same). */
bool str_copy(char *dst, size_t size, const char *src);

/*
 * Replace control characters (C0, DEL, C1 as UTF-8 has them) by '?': texts of
 * strangers in messages must not drive a terminal or make a second line.
 */
void str_make_printable(char *s);

static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
/* If @s starts with @prefix: what follows it, otherwise NULL. */
const char *str_after(const char *s, const char *prefix);

#endif
