/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "tmpcopyup": a tmpfs starts with what the directory below it holds.
 *
 * Works on descriptors only and follows no link. Directories, regular files
 * and symlinks are copied with owner, mode and times; anything else is an
 * error, as is a tree deeper than 64 directories.
 */
#ifndef OSH_LINUX_MOUNT_COPYUP_H
#define OSH_LINUX_MOUNT_COPYUP_H

struct err;

/*
 * Copy what is in @from_fd (a directory, O_PATH) into @to_fd, and its owner
 * and mode onto it.
 */
int mount_copyup(int from_fd, int to_fd, struct err *err);

#endif
