/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container that the shim serves: its policy, its log, what it was
 * granted. They live in a fixed table; a handle is {index, generation}, so
 * that nothing that is still on its way for a container that is gone reaches
 * the next one in its place.
 */
#ifndef OSH_SHIM_NOTIFY_SANDBOX_H
#define OSH_SHIM_NOTIFY_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/policy/policy.h"
#include "runtime/policy/shim_proto.h"
#include "shim/log/journal.h"
#include "shim/notify/identity.h"

struct err;
struct grants;

enum { SANDBOX_RULESETS_MAX = 2 };

struct sandbox_ref {
	uint32_t index, generation; /* generation 0: none */
};

/* A compiled policy in memory of the shim's own: nobody else can write it. */
struct sandbox_policy {
	void *data; /* owned (mmap) */
	size_t size;
	int fd; /* owned: a resolver that is started again gets it */
	struct policy view;
	char digest[POLICY_DIGEST_TEXT];
	struct binary_table binaries;
};

struct sandbox {
	bool used, committed;
	/* Its last task is gone; its sockets may still have what to send. */
	bool ended;
	uint64_t ended_ms;
	uint32_t generation;
	char id[SHIM_ID_BYTES];
	char source[SHIM_TEXT_BYTES];
	enum shim_inbound inbound;
	bool deny_all, has_ceiling;
	struct sandbox_policy policy, ceiling;
	uint32_t n_upstreams;
	struct shim_upstream upstream[SHIM_UPSTREAMS_MAX];
	uint32_t number; /* in its marks */
	uint8_t live[POLICY_ENDPOINTS_MAX / 8]; /* bit: mark is in the set */
	int ruleset_fd[SANDBOX_RULESETS_MAX];	/* owned */
	uint32_t n_rulesets;
	int init_pid;
	uint64_t pidns_dev, pidns_ino;
	unsigned int n_listeners;
	struct journal journal;
};

struct sandboxes {
	struct sandbox sandbox[SHIM_CONTAINERS_MAX];
	struct grants *grants; /* borrowed */
	uint32_t last_number;
};

/* @all is zeroed storage; what is never used of it costs nothing. */
void sandboxes_init(struct sandboxes *all, struct grants *grants);

/*
 * Take a container in. The descriptors are taken over, on failure too;
 * @ceiling_fd may be negative. Errors: EEXIST (its id is attached), ENOSPC,
 * what the policy's loader or the journal says.
 */
int sandbox_attach(struct sandboxes *all, const struct shim_attach *a,
		   int policy_fd, int log_dir_fd, int ceiling_fd,
		   struct sandbox_ref *ret_ref, struct err *err);
/* Forget it: flows, elements, descriptors, log. A stale handle is nothing. */
void sandbox_detach(struct sandboxes *all, struct sandbox_ref ref);

/* NULL when the handle is stale. */
struct sandbox *sandbox_get(struct sandboxes *all, struct sandbox_ref ref);
/* By id; NULL when there is none. */
struct sandbox *sandbox_find(struct sandboxes *all, const char *id,
			     struct sandbox_ref *ret_ref);
unsigned int sandboxes_count(const struct sandboxes *all);

/* A record of what happened to the container itself. */
void sandbox_note(struct sandbox *s, enum log_kind kind, enum reason reason,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static inline bool sandbox_is_live(const struct sandbox *s, uint32_t endpoint)
{
	return s->live[endpoint / 8] & 1u << endpoint % 8;
}

#endif
