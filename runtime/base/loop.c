/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/loop.h"
#include "runtime/base/own.h"

/*
 * Events taken per wait. More would only delay the re-check of sources that
 * a callback removed; the rest stays ready in the kernel.
 */
enum { EVENTS_PER_WAIT = 64, NO_SOURCE = UINT32_MAX };

static uint64_t pack(struct loop_ref ref)
{
	return (uint64_t)ref.generation << 32 | ref.index;
}

static struct loop_ref unpack(uint64_t v)
{
	return (struct loop_ref){ .index = (uint32_t)v,
				  .generation = (uint32_t)(v >> 32) };
}

static struct loop_source *find(struct loop *l, struct loop_ref ref)
{
	struct loop_source *s;

	if (!ref.generation || ref.index >= l->n_sources)
		return NULL;
	s = &l->source[ref.index];
	return s->fn && s->generation == ref.generation ? s : NULL;
}

int loop_init(struct loop *l, struct loop_source *source, size_t n_sources,
	      struct err *err)
{
	assert(n_sources > 0 && n_sources < NO_SOURCE);
	*l = (struct loop){ .source = source,
			    .n_sources = (uint32_t)n_sources,
			    .first_free = 0 };
	for (uint32_t i = 0; i < l->n_sources; i++)
		source[i] = (struct loop_source){
			.generation = 1,
			.fd = -EBADF,
			.next_free = i + 1 < l->n_sources ? i + 1 : NO_SOURCE,
		};
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		return err_errno(err, errno, "create an epoll set");
	return 0;
}

void loop_done(struct loop *l)
{
	for (uint32_t i = 0; i < l->n_sources; i++)
		loop_remove(l, (struct loop_ref){
				       i, l->source[i].generation });
	l->epoll_fd = close_fd(l->epoll_fd);
}

static int add(struct loop *l, int fd, enum loop_kind kind, uint32_t events,
	       loop_fn *fn, void *ctx, uint64_t arg, struct loop_ref *ret_ref,
	       struct err *err)
{
	uint32_t i = l->first_free;
	struct loop_source *s;
	struct epoll_event ev = { .events = events };
	struct loop_ref ref;

	assert(fn && fd >= 0);
	if (i == NO_SOURCE)
		return err_set(err, ENOSPC,
			       "watch a descriptor: all %u sources are in use",
			       l->n_sources);
	s = &l->source[i];
	ref = (struct loop_ref){ i, s->generation };
	ev.data.u64 = pack(ref);
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return err_errno(err, errno, "watch a descriptor");
	l->first_free = s->next_free;
	s->fn = fn;
	s->ctx = ctx;
	s->arg = arg;
	s->fd = fd;
	s->kind = kind;
	if (ret_ref)
		*ret_ref = ref;
	return 0;
}

int loop_add(struct loop *l, int fd, uint32_t events, loop_fn *fn, void *ctx,
	     uint64_t arg, struct loop_ref *ret_ref, struct err *err)
{
	return add(l, fd, LOOP_PLAIN, events, fn, ctx, arg, ret_ref, err);
}

void loop_set_events(struct loop *l, struct loop_ref ref, uint32_t events)
{
	struct loop_source *s = find(l, ref);
	struct epoll_event ev = { .events = events, .data.u64 = pack(ref) };

	int r;

	if (!s)
		return;
	r = epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, s->fd, &ev);
	assert(r == 0); /* its owner closed the descriptor too early */
}

void loop_remove(struct loop *l, struct loop_ref ref)
{
	struct loop_source *s = find(l, ref);

	if (!s)
		return;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	if (s->kind != LOOP_PLAIN)
		close_fd(s->fd);
	s->fn = NULL;
	s->fd = -EBADF;
	s->generation = s->generation == UINT32_MAX ? 1 : s->generation + 1;
	s->next_free = l->first_free;
	l->first_free = ref.index;
}

int loop_add_timer(struct loop *l, loop_fn *fn, void *ctx, uint64_t arg,
		   struct loop_ref *ret_ref, struct err *err)
{
	own_close int fd = timerfd_create(CLOCK_MONOTONIC,
					  TFD_CLOEXEC | TFD_NONBLOCK);
	int r;

	if (fd < 0)
		return err_errno(err, errno, "create a timer");
	r = add(l, fd, LOOP_TIMER, EPOLLIN, fn, ctx, arg, ret_ref, err);
	if (r == 0)
		take_fd(&fd);
	return r;
}

static struct timespec timespec_ms(uint64_t ms)
{
	return (struct timespec){ .tv_sec = (time_t)(ms / 1000),
				  .tv_nsec = (long)(ms % 1000) * 1000000 };
}

void loop_arm(struct loop *l, struct loop_ref timer, uint64_t delay_ms,
	      uint64_t every_ms)
{
	struct loop_source *s = find(l, timer);
	struct itimerspec t = { .it_value = timespec_ms(delay_ms),
				.it_interval = timespec_ms(every_ms) };
	int r;

	if (!s)
		return;
	/* an it_value of zero would disarm: "at once" is one nanosecond */
	if (delay_ms == 0 && every_ms != 0)
		t.it_value.tv_nsec = 1;
	r = timerfd_settime(s->fd, 0, &t, NULL);
	assert(r == 0);
}

static void dispatch(struct loop *l, struct loop_ref ref, uint32_t events)
{
	struct loop_source *s = find(l, ref);
	uint64_t ticks;

	if (!s)
		return;
	/* a timer disarmed or armed anew since the event was queued */
	if (s->kind == LOOP_TIMER &&
	    read(s->fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		return;
	s->fn(l, ref, events, s->ctx, s->arg);
}

int loop_once(struct loop *l, int timeout_ms, struct err *err)
{
	struct epoll_event ev[EVENTS_PER_WAIT];
	int n = epoll_wait(l->epoll_fd, ev, N_ELEMENTS(ev), timeout_ms);

	if (n < 0 && errno != EINTR)
		return err_errno(err, errno, "wait for events");
	for (int i = 0; i < n && !l->stopped; i++)
		dispatch(l, unpack(ev[i].data.u64), ev[i].events);
	return 0;
}

void loop_stop(struct loop *l)
{
	l->stopped = true;
}
