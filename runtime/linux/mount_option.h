/* SPDX-License-Identifier: Apache-2.0 */
/* The table of mount options, and MS_* flags as MOUNT_ATTR_*. */
#ifndef OSH_LINUX_MOUNT_OPTION_H
#define OSH_LINUX_MOUNT_OPTION_H

#include <stddef.h>
#include <stdint.h>

struct mount_options;

enum mount_option_kind {
	MOUNT_OPTION_SET, /* .value: MS_* */
	MOUNT_OPTION_CLEAR, /* .value: MS_* */
	MOUNT_OPTION_PROPAGATION, /* .value: MS_* */
	MOUNT_OPTION_REC_SET, /* .value: MOUNT_ATTR_* */
	MOUNT_OPTION_REC_CLEAR, /* .value: MOUNT_ATTR_* */
	MOUNT_OPTION_BIND, /* .value: MS_REC or 0 */
	MOUNT_OPTION_COPY_UP,
	MOUNT_OPTION_IDMAP, /* .value: enum mount_idmap */
	MOUNT_OPTION_NOTHING,
	MOUNT_OPTION_KIND_N,
};

struct mount_option {
	const char *name;
	enum mount_option_kind kind;
	uint64_t value;
};

extern const struct mount_option mount_option_table[];
extern const size_t mount_option_n;

/* What mount_setattr has to change for @o, not recursively. */
void mount_option_attrs(const struct mount_options *o, uint64_t *ret_set,
			uint64_t *ret_clear);

#endif
