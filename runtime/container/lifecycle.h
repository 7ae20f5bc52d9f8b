/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to a container that exists: start, kill, delete, pause, resume,
 * update, ps, state. Each opens the container by id, takes its lock where it
 * changes something, and leaves no descriptor behind.
 */
#ifndef OSH_CONTAINER_LIFECYCLE_H
#define OSH_CONTAINER_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runtime/container/record.h"
#include "runtime/container/store.h"

struct arena;
struct err;

struct container {
	struct store store;	  /* owned */
	struct store_entry entry; /* owned */
	struct record record;
};

#define CONTAINER_INIT                                                         \
	{                                                                      \
		.store = STORE_INIT, .entry = STORE_ENTRY_INIT                 \
	}
#define own_container __attribute__((cleanup(container_done)))

/* ENOENT: "container X does not exist". */
int container_open(struct arena *a, const char *root, const char *id, bool lock,
		   struct container *ret, struct err *err);
void container_done(struct container *c);

/* Let the init go on; then the poststart hooks. */
int container_start(struct arena *a, const char *root, const char *id,
		    void (*note)(const char *fmt, ...), struct err *err);

/* @all: every process in the container's cgroup. */
int container_kill(struct arena *a, const char *root, const char *id, int sig,
		   bool all, struct err *err);

/*
 * Remove what create made. Without @force the container must have stopped (one
 * that was created and never started is killed); with it, a container that
 * does not exist is no error. Runs the poststop hooks.
 */
int container_delete(struct arena *a, const char *root, const char *id,
		     bool force, void (*note)(const char *fmt, ...),
		     struct err *err);

/* Freeze or thaw. */
int container_pause(struct arena *a, const char *root, const char *id,
		    bool pause, struct err *err);

struct cgroup_resources;
int container_update(struct arena *a, const char *root, const char *id,
		     const struct cgroup_resources *res, struct err *err);

/* The processes in the container's cgroup. In the arena. */
int container_pids(struct arena *a, const char *root, const char *id,
		   pid_t **ret_pids, size_t *ret_n, struct err *err);

#endif
