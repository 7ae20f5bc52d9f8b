/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the files of one cgroup directory. For cgroup_apply.c and the
 * versions' own files, which hold a table of what a number of the config
 * becomes, and a function where one file depends on another.
 */
#ifndef OSH_LINUX_CGROUP_SET_H
#define OSH_LINUX_CGROUP_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/linux/cgroup.h"
#include "runtime/linux/cgroup_resources.h"

struct err;
struct strbuf;

struct cgroup_target {
	int dir_fd; /* O_PATH; borrowed */
	const struct cgroup_dir *d;
};

enum cgroup_row_flag {
	CGROUP_ROW_U64 = 1 << 0, /* struct cgroup_u64, otherwise i64 */
	CGROUP_ROW_SKIP_ZERO = 1 << 1, /* 0 leaves it alone */
	CGROUP_ROW_SKIP_MINUS = 1 << 2, /* below 0 asks for nothing */
};

/* One number of the config and the file that it is for. */
struct cgroup_row {
	enum cgroup_controller controller;
	const char *key; /* in config.json, for errors */
	size_t offset; /* in struct cgroup_resources */
	unsigned int flags;
	const char *file; /* NULL: this version has nothing like it */
	int64_t min, max;
	/* writes the file's text; NULL: decimal */
	void (*format)(struct strbuf *sb, int64_t v);
};

/* Formatters */
void cgroup_format_max(struct strbuf *sb, int64_t v); /* below 0: "max" */

/* Write those of @rows that belong to @c and are set. */
int cgroup_set_rows(const struct cgroup_target *t,
		    const struct cgroup_row *rows, size_t n,
		    enum cgroup_controller c, const struct cgroup_resources *r,
		    struct err *err);

/* Write @value; the error names the file. */
int cgroup_set(const struct cgroup_target *t, const char *file,
	       const char *value, struct err *err);
int cgroup_set_f(const struct cgroup_target *t, struct err *err,
		 const char *file, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The error for a value that @file can't take: "set FILE to VALUE: reason". */
int cgroup_set_failed(const struct cgroup_target *t, const char *file,
		      const char *value, int code, struct err *err);
bool cgroup_has_file(const struct cgroup_target *t, const char *file);
/* A file that holds one number; "max" is UINT64_MAX. */
int cgroup_get_u64(const struct cgroup_target *t, const char *file,
		   uint64_t *ret, struct err *err);

/* Refuses a limit below the usage in @file, if the config asks for that. */
int cgroup_check_usage(const struct cgroup_target *t, const char *file,
		       const struct cgroup_memory *m, struct err *err);

/* A word for a line of a cgroup file: no blank, newline, slash; not empty. */
bool cgroup_is_word(const char *s);

/* rdma.max, the same in both versions. */
int cgroup_set_rdma(const struct cgroup_target *t,
		    const struct cgroup_resources *r, struct err *err);

/* One controller's resources in each version (cgroup_v1.c, cgroup_v2.c). */
int cgroup_v1_apply(const struct cgroup_target *t, enum cgroup_controller c,
		    const struct cgroup_resources *r, struct err *err);
int cgroup_v2_apply(const struct cgroup_target *t, enum cgroup_controller c,
		    const struct cgroup_resources *r, struct err *err);
/* The "unified" map: files of v2 by name. */
int cgroup_v2_unified(const struct cgroup_target *t,
		      const struct cgroup_resources *r, struct err *err);
/* The controllers that the "unified" map names. */
uint32_t cgroup_v2_unified_need(const struct cgroup_resources *r);

#endif
