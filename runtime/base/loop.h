/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of the long-lived workers: level-triggered epoll over a
 * fixed pool of sources, single-threaded.
 *
 * A source is named by a handle {index, generation}; epoll carries handles,
 * never pointers. An event for a source that was removed earlier in the same
 * batch has an old generation and is dropped, so a callback may remove any
 * source, its own included. Nothing is allocated after loop_init().
 *
 *	static struct loop_source room[64];
 *	struct loop loop;
 *	loop_init(&loop, room, N_ELEMENTS(room), &err);
 *	loop_add(&loop, fd, EPOLLIN, on_input, ctx, 0, NULL, &err);
 *	while (!loop.stopped && loop_once(&loop, -1, &err) == 0)
 *		;
 */
#ifndef OSH_BASE_LOOP_H
#define OSH_BASE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;

/* Generation 0 is no source: a zeroed handle is valid and names nothing. */
struct loop_ref {
	uint32_t index, generation;
};

/*
 * @events are epoll's. @arg is what loop_add() was given: an index into the
 * caller's own pool, say.
 */
typedef void loop_fn(struct loop *loop, struct loop_ref ref, uint32_t events,
		     void *ctx, uint64_t arg);

/* What stands behind a source; a timer's descriptor is the loop's own. */
enum loop_kind {
	LOOP_PLAIN,
	LOOP_TIMER,
};

/* Storage of one source; the fields are the loop's. */
struct loop_source {
	loop_fn *fn; /* NULL: free */
	void *ctx;
	uint64_t arg;
	uint32_t generation;
	uint32_t next_free;
	int fd;		     /* owned unless LOOP_PLAIN */
	enum loop_kind kind;
};

struct loop {
	struct loop_source *source; /* borrowed */
	uint32_t n_sources, first_free;
	int epoll_fd; /* owned */
	bool stopped; /* by loop_stop() */
};

/* @source stays the caller's and must outlive the loop. */
int loop_init(struct loop *l, struct loop_source *source, size_t n_sources,
	      struct err *err);
/* Removes every source, closing those that the loop owns. */
void loop_done(struct loop *l);

/*
 * Watch @fd (borrowed: remove the source before closing it). @ret_ref may be
 * NULL. A full pool is -ENOSPC.
 */
int loop_add(struct loop *l, int fd, uint32_t events, loop_fn *fn, void *ctx,
	     uint64_t arg, struct loop_ref *ret_ref, struct err *err);
/* Watch for other events. A stale handle does nothing. */
void loop_set_events(struct loop *l, struct loop_ref ref, uint32_t events);
/* Forget the source. A stale or zero handle does nothing. */
void loop_remove(struct loop *l, struct loop_ref ref);

/*
 * A timer (timerfd, CLOCK_MONOTONIC), not armed. The loop owns the descriptor
 * and has read it before it calls @fn.
 */
int loop_add_timer(struct loop *l, loop_fn *fn, void *ctx, uint64_t arg,
		   struct loop_ref *ret_ref, struct err *err);
/* Fire after @delay_ms, then each @every_ms; 0 and 0 disarms. */
void loop_arm(struct loop *l, struct loop_ref timer, uint64_t delay_ms,
	      uint64_t every_ms);

/* Wait once, at most @timeout_ms (-1: for ever), and dispatch. */
int loop_once(struct loop *l, int timeout_ms, struct err *err);
/* Nothing more is dispatched, not even the rest of this batch. */
void loop_stop(struct loop *l);

#endif
