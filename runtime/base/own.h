/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership in the type of a local variable.
 *
 *	own_close int fd = -EBADF;	closed when the scope ends
 *	*ret_fd = take_fd(&fd);		given away
 *	own_free char *s = NULL;	freed when the scope ends
 *	return take_ptr(&s);
 *
 * A plain `int fd` parameter is borrowed, always.
 */
#ifndef OSH_BASE_OWN_H
#define OSH_BASE_OWN_H

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define own_close __attribute__((cleanup(own_close_fn)))
#define own_free  __attribute__((cleanup(own_free_fn)))
#define own_dir	  __attribute__((cleanup(own_dir_fn)))
#define own_file  __attribute__((cleanup(own_file_fn)))

/* Close @fd if it is one, keeping errno. Returns -EBADF: fd = close_fd(fd). */
static inline int close_fd(int fd)
{
	if (fd >= 0) {
		int saved = errno;

		close(fd);
		errno = saved;
	}
	return -EBADF;
}

static inline int take_fd(int *fd)
{
	int v = *fd;

	*fd = -EBADF;
	return v;
}

#define take_ptr(p)                                                            \
	({                                                                     \
		__typeof__(p) take_p_ = (p);                                   \
		__typeof__(*take_p_) take_v_ = *take_p_;                       \
		*take_p_ = NULL;                                               \
		take_v_;                                                       \
	})

static inline void own_close_fn(int *fd)
{
	*fd = close_fd(*fd);
}

static inline void own_free_fn(void *p)
{
	int saved = errno;

	free(*(void **)p);
	errno = saved;
}

static inline void own_dir_fn(DIR **d)
{
	if (*d)
		closedir(*d);
}

static inline void own_file_fn(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

/* The struct whose @member @ptr points to; const is the caller's affair. */
#define container_of(ptr, type, member)                                        \
	((type *)((uintptr_t)(ptr)-offsetof(type, member)))

#endif
