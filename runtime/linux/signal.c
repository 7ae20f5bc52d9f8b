/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <strings.h>

#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/signal.h"

#define ROW(name)           \
	{                   \
#name, name \
	}

/* aliases come after the name that signal_name gives */
static const struct {
	const char *name;
	int sig;
} rows[] = {
	ROW(SIGHUP),	     ROW(SIGINT),	  ROW(SIGQUIT),
	ROW(SIGILL),	     ROW(SIGTRAP),	  ROW(SIGABRT),
	ROW(SIGBUS),	     ROW(SIGFPE),	  ROW(SIGKILL),
	ROW(SIGUSR1),	     ROW(SIGSEGV),	  ROW(SIGUSR2),
	ROW(SIGPIPE),	     ROW(SIGALRM),	  ROW(SIGTERM),
	ROW(SIGSTKFLT),	     ROW(SIGCHLD),	  ROW(SIGCONT),
	ROW(SIGSTOP),	     ROW(SIGTSTP),	  ROW(SIGTTIN),
	ROW(SIGTTOU),	     ROW(SIGURG),	  ROW(SIGXCPU),
	ROW(SIGXFSZ),	     ROW(SIGVTALRM),	  ROW(SIGPROF),
	ROW(SIGWINCH),	     ROW(SIGIO),	  ROW(SIGPWR),
	ROW(SIGSYS),	     {"SIGIOT", SIGABRT}, {"SIGPOLL", SIGIO},
	{"SIGCLD", SIGCHLD},
};

/* "RTMIN", "RTMIN+3", "RTMAX-1" */
static int real_time(const char *s)
{
	int sign = strncasecmp(s, "RTMIN", 5) == 0   ? 1
		   : strncasecmp(s, "RTMAX", 5) == 0 ? -1
						     : 0;
	int sig = sign > 0 ? SIGRTMIN : SIGRTMAX;
	uint32_t off = 0;

	if (sign == 0)
		return -EINVAL;
	s += 5;
	if (*s != '\0') {
		if (*s != (sign > 0 ? '+' : '-'))
			return -EINVAL;
		if (num_parse_u32(s + 1, (uint32_t)(SIGRTMAX - SIGRTMIN),
				  &off) < 0)
			return -EINVAL;
	}
	return sig + sign * (int)off;
}

int signal_by_name(const char *name)
{
	const char *bare = strncasecmp(name, "SIG", 3) == 0 ? name + 3 : name;
	uint32_t n;

	if (num_parse_u32(name, (uint32_t)SIGRTMAX, &n) == 0)
		return n > 0 ? (int)n : -EINVAL;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (strcasecmp(bare, rows[i].name + 3) == 0)
			return rows[i].sig;
	return real_time(bare);
}

const char *signal_name(int sig)
{
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (rows[i].sig == sig)
			return rows[i].name;
	return NULL;
}
