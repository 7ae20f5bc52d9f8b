/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every container of a filtered network namespace has a policy, and loses the
 * capabilities that would void the filter; so has every one that shares a pid
 * namespace with such a container, since it could reach into its processes.
 * One member without (when_missing: none) would void the filter for all, so
 * its create is refused, whichever of the two came first.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>

#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/create_shared.h"
#include "runtime/container/create_state.h"
#include "runtime/container/egress.h"
#include "runtime/container/lifecycle.h"
#include "runtime/oci/spec_linux.h"

static int pid_namespace(pid_t pid, struct stat *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, ret) < 0 ? -errno : 0;
}

static bool is_plain(const struct oci_state_policy *p)
{
	return !p || p->egress == OCI_EGRESS_PLAIN;
}

static int refuse(const char *kind, const char *id, bool other_plain,
		  struct err *err)
{
	return err_set(err, EPERM,
		       "join %s namespace: container %s, which shares it, has "
		       "%s: give both one (when_missing: deny-network is "
		       "enough)",
		       kind, id,
		       other_plain ? "no policy, and this one has" :
				     "a policy, and this one has none");
}

/* Compare with one other container, if it lives. */
static int check_one(struct create *c, const char *id, const struct stat *mine,
		     struct err *err)
{
	own_container struct container o = CONTAINER_INIT;
	bool plain = c->b.plan->egress == OCI_EGRESS_PLAIN, other_plain;
	struct stat theirs;
	struct err ignored;
	enum oci_status status;

	/* one that vanishes, or is half made, shares nothing yet */
	if (container_open(c->arena, c->args->root, id, false, &o, &ignored) <
	    0)
		return 0;
	status = record_status(&o.entry, &o.record);
	other_plain = is_plain(o.record.state->policy);
	if (status == OCI_STOPPED || status == OCI_CREATING ||
	    other_plain == plain)
		return 0;
	if (o.record.state->policy &&
	    o.record.state->policy->netns_cookie == c->netns_cookie)
		return refuse("network", id, other_plain, err);
	if (pid_namespace(o.record.state->pid, &theirs) == 0 &&
	    theirs.st_dev == mine->st_dev && theirs.st_ino == mine->st_ino)
		return refuse("pid", id, other_plain, err);
	return 0;
}

/* A shim serves this namespace for a client with another state folder. */
static int check_shim(struct create *c, struct err *err)
{
	struct egress e = EGRESS_INIT;
	struct err ignored;
	int r;

	if (c->b.plan->egress != OCI_EGRESS_PLAIN)
		return 0;
	r = egress_connect(&e, c->args->id, c->netns_cookie, &ignored);
	egress_done(&e);
	if (r < 0)
		return 0;
	return err_set(err, EPERM,
		       "join network namespace: it is filtered by another "
		       "container's policy and this one has none: give this "
		       "one a policy (or when_missing: deny-network)");
}

static bool joins(const struct create *c, uint32_t type)
{
	const struct oci_namespace *n =
		oci_namespace(c->b.plan->spec, type);

	return !n || n->path;
}

int create_check_shared(struct create *c, struct err *err)
{
	unsigned int n;
	struct stat mine;
	char **ids;
	int r;

	/* what is new is shared with nobody yet */
	if (!joins(c, CLONE_NEWNET) && !joins(c, CLONE_NEWPID))
		return 0;
	r = pid_namespace(c->pid, &mine);
	if (r < 0)
		return err_errno(err, -r, "find the init's pid namespace");
	r = store_list(c->arena, &c->store, &ids, &n, err);
	for (unsigned int i = 0; r == 0 && i < n; i++)
		if (!str_eq(ids[i], c->args->id))
			r = check_one(c, ids[i], &mine, err);
	return r == 0 && joins(c, CLONE_NEWNET) ? check_shim(c, err) : r;
}
