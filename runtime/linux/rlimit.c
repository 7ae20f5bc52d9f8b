/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/rlimit.h"

#define ROW(name)           \
	{                   \
#name, name \
	}

static const struct {
	const char *name;
	int resource;
} rows[] = {
	ROW(RLIMIT_AS),	     ROW(RLIMIT_CORE),	   ROW(RLIMIT_CPU),
	ROW(RLIMIT_DATA),    ROW(RLIMIT_FSIZE),	   ROW(RLIMIT_LOCKS),
	ROW(RLIMIT_MEMLOCK), ROW(RLIMIT_MSGQUEUE), ROW(RLIMIT_NICE),
	ROW(RLIMIT_NOFILE),  ROW(RLIMIT_NPROC),	   ROW(RLIMIT_RSS),
	ROW(RLIMIT_RTPRIO),  ROW(RLIMIT_RTTIME),   ROW(RLIMIT_SIGPENDING),
	ROW(RLIMIT_STACK),
};
_Static_assert(N_ELEMENTS(rows) == RLIMIT_NLIMITS, "every limit has a row");

int rlimit_by_name(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (str_eq(name, rows[i].name))
			return rows[i].resource;
	return -1;
}

const char *rlimit_name(size_t i)
{
	return i < N_ELEMENTS(rows) ? rows[i].name : NULL;
}

static const char *name_of(int resource)
{
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (rows[i].resource == resource)
			return rows[i].name;
	return "unknown rlimit";
}

int rlimit_set(int resource, uint64_t soft, uint64_t hard, struct err *err)
{
	const struct {
		uint64_t cur, max; /* the kernel's rlimit64 */
	} r = {soft, hard};

	if (syscall(SYS_prlimit64, 0, resource, &r, NULL) < 0)
		return err_errno(err, errno, "set %s", name_of(resource));
	return 0;
}
