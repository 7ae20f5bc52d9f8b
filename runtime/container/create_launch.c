/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/convert.h"
#include "runtime/container/create_launch.h"
#include "runtime/container/launch.h"
#include "runtime/container/store.h"
#include "runtime/linux/capability.h"
#include "runtime/linux/seccomp_cache.h"
#include "runtime/linux/seccomp_compile.h"
#include "runtime/linux/seccomp_load.h"
#include "runtime/oci/spec_linux.h"
#include "runtime/policy/policy.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* ------------------------------------------------------------------ filters */

static int compile_config_filter(struct blueprint *b,
				 const struct oci_seccomp *sec,
				 blueprint_note note, struct seccomp_prog *ret,
				 struct err *err)
{
	own_close int cache_fd = -EBADF;
	struct seccomp_spec spec;
	struct digest key;
	bool found = false;
	int r;

	convert_seccomp(b->arena, sec, &spec);
	seccomp_spec_digest(&spec, &key);
	r = store_open_cache("seccomp", &cache_fd, err);
	if (r < 0)
		return r;
	r = seccomp_cache_load(b->arena, cache_fd, &key, ret, &found, err);
	if (r < 0)
		note("read cached filter: %s: compiling it again", err->text);
	if (r == 0 && found)
		return 0;
	r = seccomp_compile(b->arena, &spec, ret, err);
	if (r < 0)
		return err_wrap(err, "compile linux.seccomp");
	for (size_t i = 0; i < ret->n_unknown; i++)
		note("compile linux.seccomp: unknown name %s is left out",
		     ret->unknown[i]);
	return seccomp_cache_store(cache_fd, &key, ret, err);
}

static int config_filter(struct blueprint *b, blueprint_note note,
			 struct enter *ret, struct err *err)
{
	const struct oci_seccomp *sec = b->plan->spec->linux_->seccomp;
	int r;

	if (!sec)
		return 0;
	r = compile_config_filter(b, sec, note, &ret->seccomp, err);
	if (r < 0)
		return r;
	if (ret->seccomp.notifies && !sec->listener_path)
		return err_set(err, EINVAL,
			       "check linux.seccomp: SCMP_ACT_NOTIFY needs a "
			       "listenerPath");
	ret->seccomp_flags = (unsigned int)sec->flags.v;
	/* runc: no "flags" means SPEC_ALLOW, as it was before flags existed */
	if (!sec->flags.set &&
	    seccomp_has_flags(SECCOMP_FILTER_FLAG_SPEC_ALLOW))
		ret->seccomp_flags |= SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	return 0;
}

/* Each layer has its program in the compiled policy. */
static int policy_filters(const struct plan *plan, struct enter *ret,
			  struct err *err)
{
	for (size_t i = 0; i < plan->n_layers; i++) {
		const struct plan_layer *l = &plan->layer[i];
		struct seccomp_prog *p = &ret->policy_seccomp[i];

		if (!l->program)
			return err_set(err, EINVAL,
				       "prepare filter: the compiled policy "
				       "has no program");
		p->insns = (struct sock_filter *)(uintptr_t)(
			l->policy->insn + l->program->first_insn);
		p->n_insns = l->program->n_insns;
		p->notifies = l->program->kind == POLICY_PROGRAM_LISTENER;
	}
	if (seccomp_has_flags(SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV))
		ret->listener_flags = SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	return 0;
}

int launch_process(struct blueprint *b, const struct oci_process *process,
		   blueprint_note note, struct enter *ret, struct err *err)
{
	int r;

	*ret = (struct enter){
		.process = process,
		.landlock_fd = { -EBADF, -EBADF },
		.proc_fd = -EBADF,
		.sync_fd = -EBADF,
		.slave_fd = -EBADF,
		.policy_user = b->plan->user,
		.policy_group = b->plan->group,
	};
	convert_capabilities(process->capabilities, &ret->caps);
	for (size_t i = 0; process->capabilities &&
			   i < process->capabilities->unknown.n;
	     i++)
		note("check process.capabilities: unknown capability %s is "
		     "left out",
		     process->capabilities->unknown.v[i]);
	convert_scheduler(b->arena, process, &ret->scheduler,
			  &ret->ioprio_class);
	ret->personality = convert_personality(b->plan->spec);
	r = config_filter(b, note, ret, err);
	if (r == 0)
		r = policy_filters(b->plan, ret, err);
	if (r == 0)
		r = path_proc_fd(&ret->proc_fd, err);
	return r;
}

/* --------------------------------------------------------------------- root */

static void landlock_rules(struct blueprint *b, size_t layer,
			   struct launch_ruleset *ret)
{
	const struct plan_layer *l = &b->plan->layer[layer];
	struct launch_path *v =
		arena_array(b->arena, struct launch_path, l->paths.n);

	for (size_t i = 0; i < l->paths.n; i++) {
		const struct plan_path *p = &l->paths.v[i];

		v[i] = (struct launch_path){
			.path = p->path,
			.write = p->write,
			.optional = p->optional,
			.gpu = p->gpu,
			.why = p->line ? arena_printf(b->arena,
						      "policy line %u",
						      p->line) :
					 "the baseline",
		};
	}
	*ret = (struct launch_ruleset){
		.kind = l->landlock,
		.best_effort = !l->hard,
		.proc_closed = policy_has(l->policy, POLICY_HAS_BINARIES),
		.path = v,
		.n = l->paths.n,
	};
}

static void writable_paths(struct blueprint *b, struct launch *ret)
{
	const char **v =
		arena_array(b->arena, const char *, b->plan->writable.n);

	for (size_t i = 0; i < b->plan->writable.n; i++)
		v[i] = b->plan->writable.v[i].path;
	ret->writable = v;
	ret->n_writable = b->plan->writable.n;
}

/* Those that the config left writable and the plan did not. */
static const bool *narrowed_mounts(struct blueprint *b)
{
	const struct oci_mount *was = b->spec->mounts.v;
	const struct oci_mount *is = b->plan->spec->mounts.v;
	bool *v = arena_array(b->arena, bool, b->spec->mounts.n);

	for (size_t i = 0; i < b->spec->mounts.n; i++)
		v[i] = is[i].options.v != was[i].options.v;
	return v;
}

int launch_container(struct blueprint *b, struct launch *ret, struct err *err)
{
	const struct oci_spec *spec = b->plan->spec;
	struct ns_time_offset *offsets;
	struct mount_request *mounts;
	struct device *devices;
	int r;

	ret->spec = spec;
	ret->rootfs = b->rootfs;
	convert_idmap(b->arena, spec, &ret->idmap);
	ret->in_userns = oci_namespace(spec, CLONE_NEWUSER) != NULL;
	if (ret->idmap.n_uid || ret->idmap.n_gid) {
		r = idmap_check(&ret->idmap, err);
		if (r < 0)
			return r;
	}
	r = convert_namespaces(spec, &ret->ns, err);
	/* pivot_root moves everybody who is in it: on the host, everybody */
	if (r == 0 && ret->ns.fd[NS_MOUNT] >= 0)
		r = err_set(err, EINVAL,
			    "check linux.namespaces: a mount namespace can't "
			    "be joined: the container's root would become "
			    "that of all who are in it");
	if (r == 0)
		r = convert_mounts(b->arena, spec, b->bundle, &mounts,
				   &ret->n_mounts, err);
	if (r < 0)
		return r;
	convert_devices(b->arena, spec, &devices, &ret->n_devices);
	convert_time_offsets(b->arena, spec, &offsets, &ret->n_time_offsets);
	ret->time_offsets = offsets;
	ret->mounts = mounts;
	ret->narrowed = narrowed_mounts(b);
	ret->devices = devices;
	for (size_t i = 0; i < b->plan->n_layers; i++)
		landlock_rules(b, i, &ret->ruleset[i]);
	writable_paths(b, ret);
	return 0;
}
