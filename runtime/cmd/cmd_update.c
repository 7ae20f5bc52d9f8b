/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/container/convert.h"
#include "runtime/container/lifecycle.h"
#include "runtime/doc/errors.h"
#include "runtime/linux/cgroup_devices.h"
#include "runtime/linux/cgroup_resources.h"
#include "runtime/oci/spec_resources.h"

enum { UPDATE_FILE_MAX = 1 << 20 };

/* Each option is text here, and one member of the resources below. */
struct update_options {
	const char *resources;
	const char *memory, *memory_reservation, *memory_swap, *pids;
	const char *cpu_shares, *cpu_quota, *cpu_period, *cpu_burst, *cpu_idle;
	const char *cpu_rt_runtime, *cpu_rt_period, *cpus, *mems, *weight;
};

#define UPDATE_OPTION(member) offsetof(struct update_options, member)

const struct option_row cmd_update_options[] = {
	{ "resources", 'r', OPTION_STRING, UPDATE_OPTION(resources), "FILE",
	  "config.json's linux.resources; - is standard input" },
	{ "memory", 0, OPTION_STRING, UPDATE_OPTION(memory), "BYTES",
	  "memory limit, -1: none" },
	{ "memory-reservation", 0, OPTION_STRING,
	  UPDATE_OPTION(memory_reservation), "BYTES", "soft limit" },
	{ "memory-swap", 0, OPTION_STRING, UPDATE_OPTION(memory_swap), "BYTES",
	  "limit of memory and swap together" },
	{ "pids-limit", 0, OPTION_STRING, UPDATE_OPTION(pids), "N",
	  "number of processes, -1: no limit" },
	{ "cpu-share", 0, OPTION_STRING, UPDATE_OPTION(cpu_shares), "N",
	  "relative weight" },
	{ "cpu-quota", 0, OPTION_STRING, UPDATE_OPTION(cpu_quota), "US",
	  "CPU time in each period, -1: no limit" },
	{ "cpu-period", 0, OPTION_STRING, UPDATE_OPTION(cpu_period), "US",
	  "length of a period" },
	{ "cpu-burst", 0, OPTION_STRING, UPDATE_OPTION(cpu_burst), "US",
	  "unused time that may be saved" },
	{ "cpu-idle", 0, OPTION_STRING, UPDATE_OPTION(cpu_idle), "0|1",
	  "run only when nothing else does" },
	{ "cpu-rt-runtime", 0, OPTION_STRING, UPDATE_OPTION(cpu_rt_runtime),
	  "US", "realtime CPU time in each period" },
	{ "cpu-rt-period", 0, OPTION_STRING, UPDATE_OPTION(cpu_rt_period),
	  "US", "length of a realtime period" },
	{ "cpuset-cpus", 0, OPTION_STRING, UPDATE_OPTION(cpus), "LIST",
	  "CPUs that may be used" },
	{ "cpuset-mems", 0, OPTION_STRING, UPDATE_OPTION(mems), "LIST",
	  "memory nodes that may be used" },
	{ "blkio-weight", 0, OPTION_STRING, UPDATE_OPTION(weight), "N",
	  "relative I/O weight, 10 to 1000" },
	{ .name = NULL },
};

static int set_i64(const char *name, const char *text, struct cgroup_i64 *ret,
		   struct err *err)
{
	if (!text)
		return 0;
	if (num_parse_i64(text, &ret->v) < 0)
		return err_set(err, EINVAL,
			       "parse option --%s: '%s' is not a number", name,
			       text);
	ret->set = true;
	return 0;
}

static int set_u64(const char *name, const char *text, struct cgroup_u64 *ret,
		   struct err *err)
{
	if (!text)
		return 0;
	if (num_parse_u64(text, &ret->v) < 0)
		return err_set(err, EINVAL,
			       "parse option --%s: '%s' is not a number", name,
			       text);
	ret->set = true;
	return 0;
}

static int apply_options(const struct update_options *o,
			 struct cgroup_resources *ret, struct err *err)
{
	struct cgroup_memory *m = &ret->memory;
	struct cgroup_cpu *c = &ret->cpu;
	const struct {
		const char *name, *text;
		struct cgroup_i64 *i;
		struct cgroup_u64 *u;
	} rows[] = {
		{ "memory", o->memory, &m->limit, NULL },
		{ "memory-reservation", o->memory_reservation, &m->reservation,
		  NULL },
		{ "memory-swap", o->memory_swap, &m->swap, NULL },
		{ "pids-limit", o->pids, &ret->pids, NULL },
		{ "cpu-share", o->cpu_shares, NULL, &c->shares },
		{ "cpu-quota", o->cpu_quota, &c->quota, NULL },
		{ "cpu-period", o->cpu_period, NULL, &c->period },
		{ "cpu-burst", o->cpu_burst, NULL, &c->burst },
		{ "cpu-idle", o->cpu_idle, &c->idle, NULL },
		{ "cpu-rt-runtime", o->cpu_rt_runtime, &c->rt_runtime, NULL },
		{ "cpu-rt-period", o->cpu_rt_period, NULL, &c->rt_period },
		{ "blkio-weight", o->weight, NULL, &ret->blkio.weight },
	};

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		int r = rows[i].i ? set_i64(rows[i].name, rows[i].text,
					    rows[i].i, err) :
				    set_u64(rows[i].name, rows[i].text,
					    rows[i].u, err);

		if (r < 0)
			return r;
	}
	if (o->cpus)
		c->cpus = o->cpus;
	if (o->mems)
		c->mems = o->mems;
	return 0;
}

static int read_file(struct arena *a, const char *file,
		     struct cgroup_resources *ret, struct err *err)
{
	struct oci_resources *res;
	struct doc_errors errors;
	bool from_stdin = str_eq(file, "-");
	const char *name = from_stdin ? "standard input" : file;
	char *text;
	size_t len;
	int r;

	if (from_stdin)
		r = io_read_all(a, STDIN_FILENO, UPDATE_FILE_MAX, name, &text,
				&len, err);
	else
		r = io_read_file(a, AT_FDCWD, file, UPDATE_FILE_MAX, &text,
				 &len, err);
	if (r < 0)
		return r;
	doc_errors_init(&errors, a, name);
	r = oci_resources_parse(a, text, len, &res, &errors);
	if (r < 0)
		return doc_errors_err(&errors, err);
	convert_resources(a, res, res->devices.n > 0, ret);
	return 0;
}

int cmd_update(struct cmd_global *g, int argc, char **argv)
{
	struct cgroup_resources res = { 0 };
	struct update_options o = { 0 };
	struct err err;
	int i = cmd_parse(g, "update", argc, argv, &o, 1, 1);

	if (i < 0)
		return 1;
	if (o.resources && read_file(g->arena, o.resources, &res, &err) < 0)
		return cmd_fail(&err);
	if (apply_options(&o, &res, &err) < 0 ||
	    container_update(g->arena, g->root, argv[i], &res, &err) < 0)
		return cmd_fail(&err);
	return 0;
}
