/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of bind mounts that only the parent can prepare: with a user
 * namespace the container's root may not reach them (a storage folder of mode
 * 0700), and never may it map a filesystem's ids. They are cloned before the
 * init is, which inherits the descriptors and attaches them.
 */
#ifndef OSH_CONTAINER_LAUNCH_MOUNTS_H
#define OSH_CONTAINER_LAUNCH_MOUNTS_H

struct err;
struct fds;
struct launch;
struct oci_spec;

/* At most this many sources: a descriptor each, within RLIMIT_NOFILE. */
enum { LAUNCH_SOURCES_MAX = 768 };

/*
 * Fill .source_fd and .userns_fd of @l's mounts where they are needed. The
 * mounts of @l are those of @spec, in order. On failure too launch_mounts_close
 * has to be called.
 */
int launch_mounts_open(struct launch *l, const struct oci_spec *spec,
		       struct err *err);
void launch_mounts_close(struct launch *l);
/* What the init keeps of them. */
void launch_mounts_keep(const struct launch *l, struct fds *keep);

#endif
