/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a code and one line of text, on the stack of whoever can act.
 *
 * A function that can fail returns 0 or a negative errno and fills *err only
 * on failure. The text reads "action object: reason": lower case, no full
 * stop, no newline. Nothing is allocated, so that it works after fork, under
 * memory pressure, and goes through a pipe as it is: the container's init
 * sends the whole struct to its parent with one write().
 */
#ifndef OSH_BASE_ERR_H
#define OSH_BASE_ERR_H

struct err {
	int code;	/* positive errno */
	char text[480]; /* NUL-terminated, cut when too long */
};

#define ERR_INIT                                                               \
	{                                                                      \
		.code = 0                                                      \
	}

/*
 * Create an error whose text is the message alone. @code is a positive errno.
 * Returns -@code.
 */
int err_set(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Create an error "message: strerror(code)". @code is a positive errno.
 * Returns -@code.
 */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Prepend "message: " to an error that a callee made. Returns -err->code.
 */
int err_wrap(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The text for an errno, untranslated and the same in every libc that we link
 * ("ENOENT" is "no such file or directory"): static storage.
 */
const char *err_text(int code);

#endif
