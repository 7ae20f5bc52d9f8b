/* SPDX-License-Identifier: Apache-2.0 */
/* Signals by name and number. Source: signal(7). */
#ifndef OSH_LINUX_SIGNAL_H
#define OSH_LINUX_SIGNAL_H

/*
 * "TERM", "SIGTERM" (any case), "15", "SIGRTMIN+3", "RTMAX-1" -> the number,
 * or -EINVAL.
 */
int signal_by_name(const char *name);
/* "SIGTERM", or NULL where there is no name (real-time signals). */
const char *signal_name(int sig);

#endif
