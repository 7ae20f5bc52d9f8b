/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths beneath a root that somebody else fills: the root filesystem of a
 * container, whose every symlink, and every rename while we look, may be
 * hostile.
 *
 * What is promised: a name is resolved by the kernel with openat2(2) as if
 * the root's descriptor were "/" (RESOLVE_IN_ROOT), never through a magic
 * link of procfs (RESOLVE_NO_MAGICLINKS), and what comes back is a
 * descriptor. The object is then used through this descriptor alone: names
 * are never looked up twice, so nothing can be swapped in between
 * (CVE-2021-30465, CVE-2024-45310, CVE-2026-41579). ".." and absolute links
 * stay inside, a leading "/" makes no difference.
 *
 * What is missing is created step by step: mkdirat beneath the descriptor of
 * the parent, opened again without following. A symlink that leads to nothing
 * is followed beneath the root, as users' images need it (/etc/resolv.conf).
 */
#ifndef OSH_BASE_PATH_H
#define OSH_BASE_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

enum {
	PATH_FD_NAME = 32, /* room for "/proc/self/fd/2147483647" */
};

/*
 * Open @path beneath @root_fd. @flags as for open(2); O_CLOEXEC and O_NOCTTY
 * are added. The result is the caller's.
 */
int path_open_in(int root_fd, const char *path, int flags, int *ret_fd,
		 struct err *err);

/* The same without text, for callers to whom absence is no error. */
int path_try_in(int root_fd, const char *path, int flags);

/*
 * As path_open_in, but a symlink anywhere in @path is refused (ELOOP): for
 * /proc and /sys (CVE-2019-19921, CVE-2023-27561).
 */
int path_open_plain_in(int root_fd, const char *path, int flags, int *ret_fd,
		       struct err *err);

/*
 * The directory @path beneath @root_fd as an O_PATH descriptor; directories
 * that are missing are created with @mode (the umask applies).
 */
int path_mkdirs_in(int root_fd, const char *path, mode_t mode, int *ret_fd,
		   struct err *err);

/*
 * The target of a mount as an O_PATH descriptor: what is there already,
 * otherwise a new directory (@dir) or a new empty file, and the directories
 * that lead to it (0755; files 0644, less the umask). *ret_made (may be NULL)
 * tells which.
 */
int path_target_in(int root_fd, const char *path, bool dir, int *ret_fd,
		   bool *ret_made, struct err *err);

/*
 * The parent directory of @path (created when missing) and the last component,
 * which points into @path: for mknodat, symlinkat, unlinkat beneath it. @path
 * must have a last component that is not "." or "..", and no trailing slash.
 */
int path_parent_in(int root_fd, const char *path, int *ret_dir_fd,
		   const char **ret_name, struct err *err);

/*
 * Make @path (beneath @root_fd) the working directory and check that it is
 * reachable from the root of this process (CVE-2024-21626).
 */
int path_chdir_in(int root_fd, const char *path, struct err *err);
/* -ENOENT with text when the working directory lies outside the root. */
int path_check_cwd(struct err *err);

/*
 * "/proc/self/fd/N" for the system calls that take a name only. Valid as long
 * as the /proc of this process is the host's: see path_proc_fd.
 */
const char *path_fd_name(int fd, char ret_name[PATH_FD_NAME]);

/*
 * /proc as a directory descriptor, checked to be the root of a procfs
 * (CVE-2025-52881).
 */
int path_proc_fd(int *ret_fd, struct err *err);
/*
 * Open "/proc/@sub" such that nothing mounted over procfs and no link can
 * redirect it. @proc_fd from path_proc_fd, or -EBADF to open it here.
 */
int path_open_proc(int proc_fd, const char *sub, int flags, int *ret_fd,
		   struct err *err);

/*
 * 0 when the filesystem behind @fd has @magic (linux/magic.h), otherwise
 * -EINVAL. @what names the object in the text.
 */
int path_check_fs(int fd, uint64_t magic, const char *what, struct err *err);

/*
 * Lexical: @path without empty and "." components, with ".." applied, always
 * with a leading "/": "//a/./b/../c/" is "/a/c". For comparing names of a
 * configuration with one another, never for opening. Returns 0, -EINVAL when
 * @path is not absolute, -ENAMETOOLONG.
 */
int path_clean(const char *path, char *ret, size_t size);

#endif
