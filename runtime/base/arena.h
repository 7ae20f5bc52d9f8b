/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: memory that is freed as a whole. Documents, specs, plans and the
 * compiler's trees live in one each; nothing in them has a free function.
 *
 * Allocation never fails for the caller: when memory is out the program says
 * so and aborts (tools only; the long-lived workers allocate at start).
 */
#ifndef OSH_BASE_ARENA_H
#define OSH_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head; /* owned */
	size_t n_bytes;		  /* handed out, for limits and tests */
};

#define ARENA_INIT                                                             \
	{                                                                      \
		.head = NULL                                                   \
	}

#define own_arena __attribute__((cleanup(arena_done)))

void arena_init(struct arena *a);
/* Frees everything; @a may be used again. */
void arena_done(struct arena *a);

/* @size_bytes zeroed bytes, aligned for any type; 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t size_bytes)
	__attribute__((malloc, returns_nonnull));
/* @n elements of @size_bytes each; aborts on overflow. */
void *arena_calloc(struct arena *a, size_t n, size_t size_bytes)
	__attribute__((malloc, returns_nonnull));
char *arena_strdup(struct arena *a, const char *s)
	__attribute__((malloc, returns_nonnull));
/* Copies @n bytes and adds a NUL. */
char *arena_strndup(struct arena *a, const char *s, size_t n)
	__attribute__((malloc, returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n)                                                \
	((type *)arena_calloc((a), (n), sizeof(type)))

/*
 * Grow a vector of @n elements that lives in @a by one: returns the vector,
 * perhaps elsewhere, with room for element @n (zeroed). Capacity doubles at
 * powers of two, so that no capacity has to be stored.
 */
void *arena_grow(struct arena *a, void *v, size_t n, size_t size_bytes)
	__attribute__((returns_nonnull));

#endif
