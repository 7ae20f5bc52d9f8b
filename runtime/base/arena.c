/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

enum { ARENA_BLOCK_BYTES = 16384, ARENA_ALIGN = 16 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

static __attribute__((noreturn)) void out_of_memory(void)
{
	fputs("osh: out of memory\n", stderr);
	abort();
}

void arena_init(struct arena *a)
{
	*a = (struct arena)ARENA_INIT;
}

void arena_done(struct arena *a)
{
	struct arena_block *b = a->head;

	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
	arena_init(a);
}

void *arena_alloc(struct arena *a, size_t size_bytes)
{
	struct arena_block *b = a->head;
	size_t need;
	void *p;

	if (size_bytes > SIZE_MAX / 2)
		out_of_memory();
	need = (size_bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (need == 0)
		need = ARENA_ALIGN;

	if (!b || b->size - b->used < need) {
		size_t size = need > ARENA_BLOCK_BYTES ? need :
							 ARENA_BLOCK_BYTES;

		b = calloc(1, sizeof(*b) + size);
		if (!b)
			out_of_memory();
		b->size = size;
		b->next = a->head;
		a->head = b;
	}
	p = b->data + b->used;
	b->used += need;
	a->n_bytes += need;
	return p;
}

void *arena_calloc(struct arena *a, size_t n, size_t size_bytes)
{
	size_t total;

	if (__builtin_mul_overflow(n, size_bytes, &total))
		out_of_memory();
	return arena_alloc(a, total);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory();
	p = arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void *arena_grow(struct arena *a, void *v, size_t n, size_t size_bytes)
{
	void *p;

	/* room for n + 1 is there unless n is 0 or a power of two */
	if (n != 0 && (n & (n - 1)) != 0)
		return v;
	p = arena_calloc(a, n ? 2 * n : 1, size_bytes);
	if (n)
		memcpy(p, v, n * size_bytes);
	return p;
}
