/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/fds.h"

void fds_add(struct fds *s, int fd)
{
	if (fd < 0)
		return;
	assert(s->n < FDS_MAX);
	s->v[s->n++] = fd;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

void fds_close_others(struct fds *s, unsigned int first)
{
	unsigned int next = first;

	qsort(s->v, s->n, sizeof(s->v[0]), by_number);
	for (size_t i = 0; i < s->n; i++) {
		unsigned int keep = (unsigned int)s->v[i];

		if (keep < next)
			continue;
		if (keep > next)
			close_range(next, keep - 1, 0);
		next = keep + 1;
	}
	close_range(next, ~0U, 0);
}

int fds_check_handed(uint64_t n, struct err *err)
{
	for (uint64_t fd = 3; fd < 3 + n; fd++) {
		/* the first that is beyond any limit is missing as well */
		int flags = fd > INT_MAX ? -1 : fcntl((int)fd, F_GETFD);

		if (flags < 0 || flags & FD_CLOEXEC)
			return err_set(err, EBADF,
				       "check --preserve-fds: descriptor %llu "
				       "(of %llu) is not open",
				       (unsigned long long)fd,
				       (unsigned long long)n);
	}
	return 0;
}
