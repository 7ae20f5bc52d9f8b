/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/self/mountinfo (proc_pid_mountinfo(5)), line by line, in place. */
#ifndef OSH_LINUX_MOUNTINFO_H
#define OSH_LINUX_MOUNTINFO_H

#include <stdbool.h>
#include <sys/types.h>

struct arena;
struct err;

struct mountinfo {
	char *root;
	char *mountpoint;
	char *type;
	char *super; /* the filesystem's own options */
	dev_t dev; /* st_dev of what is seen through it */
};

/* The whole text, in @a. */
int mountinfo_read(struct arena *a, char **ret_text, struct err *err);

/*
 * The next line of *@text, which moves on and is modified. Lines that cannot
 * be read are skipped. False at the end.
 */
bool mountinfo_next(char **text, struct mountinfo *ret);

/* Whether the mount is seen at its place: not if another one covers it. */
bool mountinfo_is_visible(const struct mountinfo *m);

#endif
