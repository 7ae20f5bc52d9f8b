/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/cgroup_dir.h"
#include "runtime/linux/cgroup_set.h"

int cgroup_set_failed(const struct cgroup_target *t, const char *file,
		      const char *value, int code, struct err *err)
{
	return err_errno(err, code,
			 "set cgroup " CGROUP_DIR_FMT "/%s to \"%s\"",
			 CGROUP_DIR_ARG(t->d), file, value);
}

int cgroup_set(const struct cgroup_target *t, const char *file,
	       const char *value, struct err *err)
{
	int r = io_write_str(t->dir_fd, file, value);

	return r < 0 ? cgroup_set_failed(t, file, value, -r, err) : 0;
}

int cgroup_set_f(const struct cgroup_target *t, struct err *err,
		 const char *file, const char *fmt, ...)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	return cgroup_set(t, file, sb.s, err);
}

bool cgroup_has_file(const struct cgroup_target *t, const char *file)
{
	return faccessat(t->dir_fd, file, F_OK, 0) == 0;
}

int cgroup_get_u64(const struct cgroup_target *t, const char *file,
		   uint64_t *ret, struct err *err)
{
	char text[64];
	ssize_t n = io_read_str(t->dir_fd, file, text, sizeof(text));
	int r = n < 0 ? (int)n : 0;

	if (r == 0 && str_eq(text, "max"))
		*ret = UINT64_MAX;
	else if (r == 0)
		r = num_parse_u64(text, ret);
	if (r < 0)
		return err_errno(err, -r, "read cgroup " CGROUP_DIR_FMT "/%s",
				 CGROUP_DIR_ARG(t->d), file);
	return 0;
}

void cgroup_format_max(struct strbuf *sb, int64_t v)
{
	if (v < 0)
		strbuf_adds(sb, "max");
	else
		strbuf_addf(sb, "%lld", (long long)v);
}

/* Does the config ask for the row's number? */
static bool is_set(const struct cgroup_row *row,
		   const struct cgroup_resources *r, int64_t *ret)
{
	const void *at = (const char *)r + row->offset;
	int64_t v;

	if (row->flags & CGROUP_ROW_U64) {
		const struct cgroup_u64 *u = at;

		if (!u->set)
			return false;
		/* no file takes more: the row's range refuses it */
		v = u->v > INT64_MAX ? INT64_MAX : (int64_t)u->v;
	} else {
		const struct cgroup_i64 *i = at;

		if (!i->set)
			return false;
		v = i->v;
	}
	if ((v == 0 && row->flags & CGROUP_ROW_SKIP_ZERO) ||
	    (v < 0 && row->flags & CGROUP_ROW_SKIP_MINUS))
		return false;
	*ret = v;
	return true;
}

static int set_row(const struct cgroup_target *t, const struct cgroup_row *row,
		   int64_t v, struct err *err)
{
	char room[64];
	struct strbuf sb = STRBUF_FIXED(room);

	if (!row->file)
		return err_set(err, EOPNOTSUPP,
			       "%s: cgroup v%d has nothing like it", row->key,
			       t->d->v2 ? 2 : 1);
	if (v < row->min || v > row->max)
		return err_set(err, ERANGE, "%s: %lld is not in %lld to %lld",
			       row->key, (long long)v, (long long)row->min,
			       (long long)row->max);
	if (row->format)
		row->format(&sb, v);
	else
		strbuf_addf(&sb, "%lld", (long long)v);
	return cgroup_set(t, row->file, sb.s, err);
}

int cgroup_set_rows(const struct cgroup_target *t,
		    const struct cgroup_row *rows, size_t n,
		    enum cgroup_controller c, const struct cgroup_resources *r,
		    struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v;
		int ret;

		if (rows[i].controller != c ||
		    !is_set(&rows[i], r, &v))
			continue;
		ret = set_row(t, &rows[i], v, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int cgroup_check_usage(const struct cgroup_target *t, const char *file,
		       const struct cgroup_memory *m, struct err *err)
{
	uint64_t usage;
	int r;

	if (!m->check_before_update || !m->limit.set || m->limit.v <= 0)
		return 0;
	r = cgroup_get_u64(t, file, &usage, err);
	if (r < 0)
		return r;
	if (usage > (uint64_t)m->limit.v)
		return err_set(
			err, EBUSY, "memory.limit %lld is below the usage %llu",
			(long long)m->limit.v, (unsigned long long)usage);
	return 0;
}

bool cgroup_is_word(const char *s)
{
	return s && *s && strcspn(s, " \t\n/") == strlen(s);
}

int cgroup_set_rdma(const struct cgroup_target *t,
		    const struct cgroup_resources *r, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->n_rdma; i++) {
		const struct cgroup_rdma *m = &r->rdma[i];
		char room[256];
		struct strbuf line = STRBUF_FIXED(room);

		if (!cgroup_is_word(m->device))
			return err_set(err, EINVAL, "rdma: bad device name");
		strbuf_adds(&line, m->device);
		if (m->hca_handles.set)
			strbuf_addf(&line, " hca_handle=%llu",
				    (unsigned long long)m->hca_handles.v);
		if (m->hca_objects.set)
			strbuf_addf(&line, " hca_object=%llu",
				    (unsigned long long)m->hca_objects.v);
		if (line.cut)
			return err_set(err, EINVAL, "rdma: name too long");
		ret = cgroup_set(t, "rdma.max", line.s, err);
	}
	return ret;
}
