/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/err.h"
#include "runtime/base/loop.h"
#include "runtime/base/own.h"

struct seen {
	unsigned int n;
	uint32_t events;
	uint64_t arg;
	struct loop_ref other; /* removed by the first call */
};

static void on_event(struct loop *l, struct loop_ref ref, uint32_t events,
		     void *ctx, uint64_t arg)
{
	struct seen *s = ctx;

	(void)ref;
	s->n++;
	s->events = events;
	s->arg = arg;
	loop_remove(l, s->other);
}

static void test_stale_event_is_dropped(void **state)
{
	struct loop_source room[4];
	struct err err = ERR_INIT;
	struct seen a = { 0 }, b = { 0 };
	struct loop_ref ra, rb;
	struct loop l;
	int p[2], q[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(pipe(q), 0);
	assert_int_equal(loop_init(&l, room, 4, &err), 0);
	assert_int_equal(
		loop_add(&l, p[0], EPOLLIN, on_event, &a, 7, &ra, &err), 0);
	assert_int_equal(
		loop_add(&l, q[0], EPOLLIN, on_event, &b, 8, &rb, &err), 0);
	a.other = rb;
	b.other = ra;
	assert_int_equal(write(p[1], "x", 1), 1);
	assert_int_equal(write(q[1], "x", 1), 1);
	assert_int_equal(loop_once(&l, 1000, &err), 0);
	/* both were ready; whichever ran first removed the other */
	assert_int_equal(a.n + b.n, 1);
	assert_true(a.n ? a.arg == 7 : b.arg == 8);
	loop_done(&l);
	for (int i = 0; i < 2; i++) {
		close(p[i]);
		close(q[i]);
	}
}

static void test_handles_are_not_reused(void **state)
{
	struct loop_source room[1];
	struct err err = ERR_INIT;
	struct seen a = { 0 };
	struct loop_ref first, second;
	struct loop l;
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(loop_init(&l, room, 1, &err), 0);
	assert_int_equal(
		loop_add(&l, p[0], EPOLLIN, on_event, &a, 0, &first, &err), 0);
	assert_int_equal(
		loop_add(&l, p[1], EPOLLOUT, on_event, &a, 0, NULL, &err),
		-ENOSPC);
	loop_remove(&l, first);
	assert_int_equal(
		loop_add(&l, p[0], EPOLLIN, on_event, &a, 0, &second, &err),
		0);
	assert_int_equal(second.index, first.index);
	assert_int_not_equal(second.generation, first.generation);
	loop_remove(&l, first); /* stale: must not touch the second */
	assert_int_equal(write(p[1], "x", 1), 1);
	assert_int_equal(loop_once(&l, 1000, &err), 0);
	assert_int_equal(a.n, 1);
	loop_done(&l);
	close(p[0]);
	close(p[1]);
}

static void test_timer(void **state)
{
	struct loop_source room[1];
	struct err err = ERR_INIT;
	struct seen timer = { 0 };
	struct loop_ref ref;
	struct loop l;

	(void)state;
	assert_int_equal(loop_init(&l, room, 1, &err), 0);
	assert_int_equal(loop_add_timer(&l, on_event, &timer, 0, &ref, &err),
			 0);
	assert_int_equal(loop_once(&l, 0, &err), 0);
	assert_int_equal(timer.n, 0);
	loop_arm(&l, ref, 1, 0);
	assert_int_equal(loop_once(&l, 10000, &err), 0);
	assert_int_equal(timer.n, 1);
	loop_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stale_event_is_dropped),
		cmocka_unit_test(test_handles_are_not_reused),
		cmocka_unit_test(test_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
