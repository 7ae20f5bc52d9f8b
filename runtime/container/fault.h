/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --fault: make create fail, or die, after one of its steps, so that tests can
 * show that nothing is left (hack/HACKING.md). Without it nothing happens.
 */
#ifndef OSH_CONTAINER_FAULT_H
#define OSH_CONTAINER_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct fault {
	uint32_t step; /* 0: none */
	bool die;      /* by SIGKILL, instead of failing */
};

/*
 * "7" or "7:kill", without sign or leading zeros; NULL is no fault. -EINVAL
 * for anything else. Whether there is such a step, create.c knows.
 */
int fault_parse(const char *text, struct fault *ret);

/* After @step: ECANCELED (or the end), if that is the one. */
int fault_inject(const struct fault *f, uint32_t step, struct err *err);

#endif
