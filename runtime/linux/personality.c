/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/personality.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/personality.h"

static const struct {
	const char *name;
	unsigned long value;
} rows[] = {
	{"LINUX", PER_LINUX},
	{"LINUX32", PER_LINUX32},
};

int personality_set(const char *domain, struct err *err)
{
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		if (!str_eq(domain, rows[i].name))
			continue;
		if (personality(rows[i].value) < 0)
			return err_errno(err, errno, "set personality %s",
					 domain);
		return 0;
	}
	return err_set(err, EINVAL, "unknown personality domain %s", domain);
}
