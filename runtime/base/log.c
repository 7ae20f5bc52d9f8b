/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/json.h"
#include "runtime/base/log.h"
#include "runtime/base/strbuf.h"

static struct {
	int fd; /* -1: none */
	bool json;
} out = { .fd = -1 };

static const char *const level_name[] = {
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_ERROR] = "error",
};

int log_open(const char *path, bool json, struct err *err)
{
	out.json = json;
	if (!path)
		return 0;
	out.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
		      0644);
	if (out.fd < 0)
		return err_errno(err, errno, "open log file %s", path);
	return 0;
}

static void write_line(int fd, bool json, enum log_level level, const char *msg)
{
	char room[2048], when[32];
	struct strbuf sb = STRBUF_FIXED(room);
	struct timespec ts;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (json) {
		struct json j = json_to(&sb, false);

		json_object(&j, NULL);
		json_str(&j, "level", level_name[level]);
		json_str(&j, "msg", msg);
		json_str(&j, "time", when);
		json_end(&j);
	} else {
		strbuf_addf(&sb, "%s %s: %s", when, level_name[level], msg);
	}
	strbuf_addc(&sb, '\n');
	/* one write, so that lines of several processes do not mix */
	(void)!write(fd, sb.s, sb.len);
}

static __attribute__((format(printf, 2, 0))) void
vlog(enum log_level level, const char *fmt, va_list ap)
{
	char room[1024];
	struct strbuf sb = STRBUF_FIXED(room);
	int saved = errno;

	strbuf_vaddf(&sb, fmt, ap);
	if (out.fd >= 0)
		write_line(out.fd, out.json, level, sb.s);
	if (level == LOG_LEVEL_ERROR)
		dprintf(STDERR_FILENO, "osh-runtime: %s\n", sb.s);
	else if (out.fd < 0)
		dprintf(STDERR_FILENO, "osh-runtime: %s: %s\n",
			level_name[level], sb.s);
	errno = saved;
}

#define LOG_FUNCTION(name, level)                                              \
	void name(const char *fmt, ...)                                        \
	{                                                                      \
		va_list ap;                                                    \
                                                                               \
		va_start(ap, fmt);                                             \
		vlog(level, fmt, ap);                                          \
		va_end(ap);                                                    \
	}

LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
