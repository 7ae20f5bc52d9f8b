/* SPDX-License-Identifier: Apache-2.0 */
/* Time that only goes forward, for deadlines. Source: clock_gettime(2). */
#ifndef OSH_BASE_CLOCK_H
#define OSH_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t clock_now_ms(void);
/* About that long; a signal ends it early. */
void clock_sleep_ms(uint64_t ms);

#endif
