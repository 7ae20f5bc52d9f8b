/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/enter.h"
#include "runtime/container/enter_attr.h"
#include "runtime/linux/personality.h"
#include "runtime/linux/process.h"
#include "runtime/linux/scheduler.h"
#include "runtime/oci/spec.h"

/*
 * A label takes effect at the next execve: /proc/thread-self/attr/exec
 * (AppArmor: its own folder). Written through a descriptor that is known to be
 * procfs, so that a mount over /proc can't swallow it (CVE-2019-16884).
 */
static int write_label(const struct enter *e, const char *file,
		       const char *label, struct err *err)
{
	own_close int fd = -EBADF;
	int r = path_open_proc(e->proc_fd, file, O_WRONLY, &fd, err);

	if (r < 0)
		return err_wrap(err, "set label %s: the kernel has no such "
				     "security module",
				label);
	r = io_write_all(fd, label, strlen(label));
	return r < 0 ? err_errno(err, -r, "set label %s", label) : 0;
}

static int set_labels(const struct enter *e, struct err *err)
{
	const struct oci_process *p = e->process;
	int r = 0;

	if (p->apparmor_profile && p->apparmor_profile[0] &&
	    !str_eq(p->apparmor_profile, "unconfined")) {
		char room[512];
		struct strbuf sb = STRBUF_FIXED(room);

		strbuf_addf(&sb, "exec %s", p->apparmor_profile);
		if (sb.cut)
			return err_errno(err, ENAMETOOLONG,
					 "set AppArmor profile");
		r = write_label(e, "thread-self/attr/apparmor/exec", room, err);
	}
	if (r == 0 && p->selinux_label && p->selinux_label[0])
		r = write_label(e, "thread-self/attr/exec", p->selinux_label,
				err);
	return r;
}

int enter_attributes(const struct enter *e, struct err *err)
{
	const struct oci_process *p = e->process;
	int r = 0;

	if (p->oom_score_adj.set)
		r = process_set_oom_score(e->proc_fd, p->oom_score_adj.v, err);
	if (r == 0 && e->scheduler.policy)
		r = scheduler_set(&e->scheduler, err);
	if (r == 0 && e->ioprio_class)
		r = scheduler_set_ioprio(e->ioprio_class,
					 p->io_priority->priority, err);
	if (r == 0 && e->personality)
		r = personality_set(e->personality, err);
	if (r == 0)
		r = set_labels(e, err);
	return r;
}
