/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/mount_option.h"

enum {
	/* the kernel copies one page of data */
	DATA_MAX = 4095,
};

#define SET(name, flags)                      \
	{                                     \
		name, MOUNT_OPTION_SET, flags \
	}
#define CLEAR(name, flags)                      \
	{                                       \
		name, MOUNT_OPTION_CLEAR, flags \
	}
#define PROPAGATION(name, f)                      \
	{                                         \
		name, MOUNT_OPTION_PROPAGATION, f \
	}
#define REC_SET(name, attrs)                      \
	{                                         \
		name, MOUNT_OPTION_REC_SET, attrs \
	}
#define REC_CLEAR(name, attrs)                      \
	{                                           \
		name, MOUNT_OPTION_REC_CLEAR, attrs \
	}

/*
 * Sorted by name: searched by halves. Source: runtime specification 1.3,
 * config.md "Linux mount options".
 */
const struct mount_option mount_option_table[] = {
	SET("acl", MS_POSIXACL),
	CLEAR("async", MS_SYNCHRONOUS),
	CLEAR("atime", MS_NOATIME),
	{"bind", MOUNT_OPTION_BIND, 0},
	{"defaults", MOUNT_OPTION_NOTHING, 0},
	CLEAR("dev", MS_NODEV),
	CLEAR("diratime", MS_NODIRATIME),
	SET("dirsync", MS_DIRSYNC),
	CLEAR("exec", MS_NOEXEC),
	{"idmap", MOUNT_OPTION_IDMAP, MOUNT_IDMAP_TOP},
	SET("iversion", MS_I_VERSION),
	SET("lazytime", MS_LAZYTIME),
	CLEAR("loud", MS_SILENT),
	SET("mand", MS_MANDLOCK),
	CLEAR("noacl", MS_POSIXACL),
	SET("noatime", MS_NOATIME),
	SET("nodev", MS_NODEV),
	SET("nodiratime", MS_NODIRATIME),
	SET("noexec", MS_NOEXEC),
	CLEAR("noiversion", MS_I_VERSION),
	CLEAR("nolazytime", MS_LAZYTIME),
	CLEAR("nomand", MS_MANDLOCK),
	CLEAR("norelatime", MS_RELATIME),
	CLEAR("nostrictatime", MS_STRICTATIME),
	SET("nosuid", MS_NOSUID),
	SET("nosymfollow", MS_NOSYMFOLLOW),
	PROPAGATION("private", MS_PRIVATE),
	REC_CLEAR("ratime", MOUNT_ATTR_NOATIME),
	{"rbind", MOUNT_OPTION_BIND, MS_REC},
	REC_CLEAR("rdev", MOUNT_ATTR_NODEV),
	REC_CLEAR("rdiratime", MOUNT_ATTR_NODIRATIME),
	SET("relatime", MS_RELATIME),
	SET("remount", MS_REMOUNT),
	REC_CLEAR("rexec", MOUNT_ATTR_NOEXEC),
	{"ridmap", MOUNT_OPTION_IDMAP, MOUNT_IDMAP_RECURSIVE},
	REC_SET("rnoatime", MOUNT_ATTR_NOATIME),
	REC_SET("rnodev", MOUNT_ATTR_NODEV),
	REC_SET("rnodiratime", MOUNT_ATTR_NODIRATIME),
	REC_SET("rnoexec", MOUNT_ATTR_NOEXEC),
	REC_CLEAR("rnorelatime", MOUNT_ATTR_RELATIME),
	REC_CLEAR("rnostrictatime", MOUNT_ATTR_STRICTATIME),
	REC_SET("rnosuid", MOUNT_ATTR_NOSUID),
	REC_SET("rnosymfollow", MOUNT_ATTR_NOSYMFOLLOW),
	SET("ro", MS_RDONLY),
	PROPAGATION("rprivate", MS_PRIVATE | MS_REC),
	REC_SET("rrelatime", MOUNT_ATTR_RELATIME),
	REC_SET("rro", MOUNT_ATTR_RDONLY),
	REC_CLEAR("rrw", MOUNT_ATTR_RDONLY),
	PROPAGATION("rshared", MS_SHARED | MS_REC),
	PROPAGATION("rslave", MS_SLAVE | MS_REC),
	REC_SET("rstrictatime", MOUNT_ATTR_STRICTATIME),
	REC_CLEAR("rsuid", MOUNT_ATTR_NOSUID),
	REC_CLEAR("rsymfollow", MOUNT_ATTR_NOSYMFOLLOW),
	PROPAGATION("runbindable", MS_UNBINDABLE | MS_REC),
	CLEAR("rw", MS_RDONLY),
	PROPAGATION("shared", MS_SHARED),
	SET("silent", MS_SILENT),
	PROPAGATION("slave", MS_SLAVE),
	SET("strictatime", MS_STRICTATIME),
	CLEAR("suid", MS_NOSUID),
	CLEAR("symfollow", MS_NOSYMFOLLOW),
	SET("sync", MS_SYNCHRONOUS),
	{"tmpcopyup", MOUNT_OPTION_COPY_UP, 0},
	PROPAGATION("unbindable", MS_UNBINDABLE),
};
const size_t mount_option_n = N_ELEMENTS(mount_option_table);

const char *mount_option_name(size_t i)
{
	return i < mount_option_n ? mount_option_table[i].name : NULL;
}

static int compare(const void *name, const void *row)
{
	return strcmp(name, ((const struct mount_option *)row)->name);
}

static const struct mount_option *find(const char *name)
{
	return bsearch(name, mount_option_table, mount_option_n,
		       sizeof(mount_option_table[0]), compare);
}

unsigned long mount_propagation_parse(const char *s)
{
	const struct mount_option *row = find(s);

	return row && row->kind == MOUNT_OPTION_PROPAGATION ? row->value : 0;
}

/* ---------------------------------------------------------------- meaning */

static void on_set(struct mount_options *o, uint64_t flags)
{
	o->flags |= flags;
	o->cleared &= ~flags;
}

static void on_clear(struct mount_options *o, uint64_t flags)
{
	o->flags &= ~flags;
	o->cleared |= flags;
}

static void on_propagation(struct mount_options *o, uint64_t flags)
{
	/* the count is checked by the caller */
	o->propagation[o->n_propagation++] = flags;
}

/* The three ways of keeping access times are one field of the mount. */
static bool is_atime(uint64_t attrs)
{
	return attrs == MOUNT_ATTR_NOATIME || attrs == MOUNT_ATTR_STRICTATIME ||
	       attrs == MOUNT_ATTR_RELATIME;
}

static void on_rec_set(struct mount_options *o, uint64_t attrs)
{
	if (is_atime(attrs)) {
		o->rec_set &= ~(uint64_t)MOUNT_ATTR__ATIME;
		o->rec_clear |= MOUNT_ATTR__ATIME;
	} else {
		o->rec_clear &= ~attrs;
	}
	o->rec_set |= attrs;
}

static void on_rec_clear(struct mount_options *o, uint64_t attrs)
{
	/* mount_setattr(2): to leave a way is to clear the whole field */
	if (is_atime(attrs)) {
		o->rec_set &= ~(uint64_t)MOUNT_ATTR__ATIME;
		o->rec_clear |= MOUNT_ATTR__ATIME;
	} else {
		o->rec_set &= ~attrs;
		o->rec_clear |= attrs;
	}
}

static void on_bind(struct mount_options *o, uint64_t rec)
{
	o->bind = true;
	if (rec)
		o->recursive = true;
}

static void on_copy_up(struct mount_options *o, uint64_t unused)
{
	(void)unused;
	o->tmpcopyup = true;
}

static void on_idmap(struct mount_options *o, uint64_t how)
{
	o->idmap = how == MOUNT_IDMAP_RECURSIVE ? MOUNT_IDMAP_RECURSIVE
						: MOUNT_IDMAP_TOP;
}

static void on_nothing(struct mount_options *o, uint64_t unused)
{
	(void)o;
	(void)unused;
}

static void (*const meanings[MOUNT_OPTION_KIND_N])(struct mount_options *,
						   uint64_t) = {
	[MOUNT_OPTION_SET] = on_set,
	[MOUNT_OPTION_CLEAR] = on_clear,
	[MOUNT_OPTION_PROPAGATION] = on_propagation,
	[MOUNT_OPTION_REC_SET] = on_rec_set,
	[MOUNT_OPTION_REC_CLEAR] = on_rec_clear,
	[MOUNT_OPTION_BIND] = on_bind,
	[MOUNT_OPTION_COPY_UP] = on_copy_up,
	[MOUNT_OPTION_IDMAP] = on_idmap,
	[MOUNT_OPTION_NOTHING] = on_nothing,
};

int mount_options_parse(struct arena *a, const char *const *options,
			size_t n_options, struct mount_options *ret,
			struct err *err)
{
	own_strbuf struct strbuf data = STRBUF_HEAP;
	struct mount_options o = {.idmap = MOUNT_IDMAP_NONE};

	for (size_t i = 0; i < n_options; i++) {
		const struct mount_option *row = find(options[i]);

		if (!row) {
			if (data.len)
				strbuf_addc(&data, ',');
			strbuf_adds(&data, options[i]);
			continue;
		}
		if (row->kind == MOUNT_OPTION_PROPAGATION &&
		    o.n_propagation == MOUNT_PROPAGATIONS_MAX)
			return err_set(err, EINVAL,
				       "option %s: more than %d of its kind",
				       options[i], MOUNT_PROPAGATIONS_MAX);
		meanings[row->kind](&o, row->value);
	}
	if (data.len > DATA_MAX)
		return err_set(err, EINVAL,
			       "options: more than %d bytes for the filesystem",
			       DATA_MAX);
	if (data.len)
		o.data = arena_strndup(a, data.s, data.len);
	*ret = o;
	return 0;
}

/* ------------------------------------------------------ MS_* to MOUNT_ATTR_* */

void mount_option_attrs(const struct mount_options *o, uint64_t *ret_set,
			uint64_t *ret_clear)
{
	static const struct {
		unsigned long flag;
		uint64_t attr;
	} rows[] = {
		{MS_RDONLY, MOUNT_ATTR_RDONLY},
		{MS_NOSUID, MOUNT_ATTR_NOSUID},
		{MS_NODEV, MOUNT_ATTR_NODEV},
		{MS_NOEXEC, MOUNT_ATTR_NOEXEC},
		{MS_NODIRATIME, MOUNT_ATTR_NODIRATIME},
		{MS_NOSYMFOLLOW, MOUNT_ATTR_NOSYMFOLLOW},
	};
	unsigned long atime = o->flags &
			      (MS_NOATIME | MS_STRICTATIME | MS_RELATIME);
	uint64_t set = 0;
	uint64_t clear = 0;

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		if (o->flags & rows[i].flag)
			set |= rows[i].attr;
		if (o->cleared & rows[i].flag)
			clear |= rows[i].attr;
	}
	if (atime || o->cleared & (MS_NOATIME | MS_STRICTATIME))
		clear |= MOUNT_ATTR__ATIME;
	if (atime & MS_NOATIME)
		set |= MOUNT_ATTR_NOATIME;
	else if (atime & MS_STRICTATIME)
		set |= MOUNT_ATTR_STRICTATIME;
	*ret_set = set;
	*ret_clear = clear;
}
