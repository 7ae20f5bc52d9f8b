/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a command line program: for mains and cmd/ only; what is below
 * returns errors and lists of warnings instead.
 *
 * With a log file (--log), each line goes there in the chosen format, as
 * clients read it back from there; an error goes to stderr as well.
 */
#ifndef OSH_BASE_LOG_H
#define OSH_BASE_LOG_H

#include <stdbool.h>

struct err;

enum log_level { LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

/*
 * @path NULL: stderr only. @json: {"level","msg","time"} per line (the form of
 * runc and crun, which podman and containerd parse), else text.
 */
int log_open(const char *path, bool json, struct err *err);
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
