/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "runtime/base/clock.h"

uint64_t clock_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void clock_sleep_ms(uint64_t ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000),
			      .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}
