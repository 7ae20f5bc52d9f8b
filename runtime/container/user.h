/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and groups as the container's own /etc/passwd and /etc/group have
 * them: read by the init after pivot_root, bounded, never through nsswitch.
 * passwd(5), group(5).
 */
#ifndef OSH_CONTAINER_USER_H
#define OSH_CONTAINER_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;

struct user_entry {
	uid_t uid;
	gid_t gid;
	char home[256];
};

/* By name or, when @name is NULL, by @uid. ENOENT when there is no such user
 * (or no file); another error when the file can't be read. */
int user_find(const char *name, uid_t uid, struct user_entry *ret,
	      struct err *err);
/* ENOENT when there is no such group. */
int user_find_group(const char *name, gid_t *ret_gid, struct err *err);

/* The same on a file's text, for tests: @text is modified. */
bool user_find_in(char *text, const char *name, uid_t uid,
		  struct user_entry *ret);

/*
 * Where a program is, as execvp(3) would find it: @name itself when it holds a
 * slash, else the first executable in @path ("a:b"; NULL or empty: nowhere).
 * The text of the error is runc's, since clients match on it:
 *	exec: "x": executable file not found in $PATH	(ENOENT)
 *	exec: "/x": permission denied			(EACCES)
 * Relative results are relative to the current directory.
 */
int user_find_program(const char *name, const char *path, char *ret,
		      size_t size, struct err *err);

#endif
