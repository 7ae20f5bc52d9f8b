/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a decision share: filter.c's and filter_serve.c's own. */
#ifndef OSH_SHIM_NOTIFY_STEP_H
#define OSH_SHIM_NOTIFY_STEP_H

#include "shim/notify/filter.h"
#include "shim/notify/task.h"

/* One call on its way through the steps. */
struct step {
	struct filter *f;
	struct sandbox *s;
	struct sandbox_ref ref;
	const struct seccomp_notif *n;
	int listener_fd, root_pid;
	struct call call;
	struct task_addr addr;
	struct task_socket sock;
	const char *name[SHIM_NAMES_PER_ADDR]; /* that led to addr */
	size_t n_names;
	bool identified;
	struct answer *ret;
};

bool step_is_tcp(const struct task_socket *s);
bool step_is_udp(const struct task_socket *s);

/* 0.0.0.0 or ::, which as a destination means the loopback address. */
bool step_is_unspecified(const struct match_ip *ip);
bool step_is_loopback(const struct match_ip *ip);
/* Is @ip one of the namespace's own addresses? */
bool step_is_local(const struct filter *f, const struct match_ip *ip);

/*
 * Read the address and duplicate the socket. False: the answer is given. An
 * address of another family, and a socket that is none of the internet's, go
 * on.
 */
bool step_read_call(struct step *st, enum log_kind kind, bool with_addr);
/* Is the task still waiting, so that all that was read was its own? */
bool step_still_waits(const struct step *st);
/* Read who calls, once. */
void step_identify(struct step *st);
/* 0 or a negative errno. */
int step_set_mark(struct step *st, uint32_t mark);

/*
 * One record on what was decided. @d may be NULL: then @reason and @detail
 * say all. Returns journal_write()'s result.
 */
int step_record(struct step *st, enum log_kind kind, enum log_verdict v,
		enum reason reason, const char *detail,
		const struct decision *d);
/* Record and answer EACCES. */
void step_refuse(struct step *st, enum log_kind kind, enum reason reason,
		 const char *detail, const struct decision *d);
/* Something of ours failed: nothing is allowed on that account. */
void step_fail(struct step *st, enum log_kind kind, const char *what,
	       int code);

/* Which container listens on @port, as far as is remembered; or NULL. */
struct sandbox *step_listener_on(struct filter *f, uint16_t port);
void step_remember_port(struct step *st, uint16_t port);

/* The calls that filter_serve.c decides. */
void step_listen(struct step *st);
void step_bind(struct step *st);
void step_socket(struct step *st);

#endif
