/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of a container between commands: state.json (oci/state.h)
 * and, because its struct is fixed-size and checked by its own layer, the
 * cgroups that create made (file "cgroup").
 */
#ifndef OSH_CONTAINER_RECORD_H
#define OSH_CONTAINER_RECORD_H

#include <stdbool.h>

#include "runtime/linux/cgroup.h"
#include "runtime/oci/state.h"

struct arena;
struct err;
struct store_entry;

struct record {
	struct oci_state *state;
	struct cgroup *cgroup; /* in the arena; n_dirs 0: none */
};

int record_load(struct arena *a, const struct store_entry *e,
		struct record *ret, struct err *err);
int record_save_state(const struct store_entry *e, const struct oci_state *s,
		      struct err *err);
int record_save_cgroup(const struct store_entry *e, const char *file,
		       const struct cgroup *cg, struct err *err);
/* ENOENT: there is none. */
int record_load_cgroup(struct arena *a, const struct store_entry *e,
		       const char *file, struct cgroup *ret, struct err *err);

/*
 * creating: no init yet; created: the init waits at its FIFO; stopped: it is
 * gone, or a zombie; paused: its cgroup is frozen.
 */
enum oci_status record_status(const struct store_entry *e,
			      const struct record *r);

/* A pidfd of the init, which must be alive: ESRCH "container not running". */
int record_open_init(const struct record *r, int *ret_pidfd, struct err *err);

/* The state as hooks read it. In the arena. */
const char *record_hook_state(struct arena *a, const struct oci_state *s,
			      enum oci_status status);

#endif
