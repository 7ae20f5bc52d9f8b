/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program never runs from a file that the container could write
 * (CVE-2019-5736): a command that enters a container first executes itself
 * again from a sealed memory copy. /proc/PID/exe of such a process is the
 * copy, whatever the container does with it.
 *
 * memfd_create(2), F_ADD_SEALS in fcntl(2).
 */
#ifndef OSH_CONTAINER_SELF_H
#define OSH_CONTAINER_SELF_H

struct err;
struct arena;

/*
 * Execute @argv again from a sealed copy; returns 0 when this process is that
 * copy already, otherwise only on failure.
 */
int self_protect(char **argv, struct err *err);

/*
 * Open a program that belongs to us (osh-shim, ...): beside the file that this
 * program was started from, in that prefix's libexec, else in the libexec
 * folder of the build. It must belong to root or to us and be writable for
 * nobody else. Owned descriptor, O_CLOEXEC.
 */
int self_open_program(const char *name, int *ret_fd, struct err *err);

#endif
