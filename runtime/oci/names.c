/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/doc/decode.h"
#include "runtime/oci/names.h"

#define NAMES_END       \
	{               \
		NULL, 0 \
	}

const struct decode_name oci_namespace_names[] = {
	{"cgroup", CLONE_NEWCGROUP},
	{"ipc", CLONE_NEWIPC},
	{"mount", CLONE_NEWNS},
	{"network", CLONE_NEWNET},
	{"pid", CLONE_NEWPID},
	{"time", CLONE_NEWTIME},
	{"user", CLONE_NEWUSER},
	{"uts", CLONE_NEWUTS},
	NAMES_END,
};

const struct decode_name oci_propagation_names[] = {
	{"shared", MS_SHARED},
	{"slave", MS_SLAVE},
	{"private", MS_PRIVATE},
	{"unbindable", MS_UNBINDABLE},
	{"rshared", MS_SHARED | MS_REC},
	{"rslave", MS_SLAVE | MS_REC},
	{"rprivate", MS_PRIVATE | MS_REC},
	{"runbindable", MS_UNBINDABLE | MS_REC},
	{"", 0},
	NAMES_END,
};

#define CAP(x)                     \
	{                          \
		"CAP_" #x, CAP_##x \
	}

const struct decode_name oci_capability_names[] = {
	CAP(CHOWN),
	CAP(DAC_OVERRIDE),
	CAP(DAC_READ_SEARCH),
	CAP(FOWNER),
	CAP(FSETID),
	CAP(KILL),
	CAP(SETGID),
	CAP(SETUID),
	CAP(SETPCAP),
	CAP(LINUX_IMMUTABLE),
	CAP(NET_BIND_SERVICE),
	CAP(NET_BROADCAST),
	CAP(NET_ADMIN),
	CAP(NET_RAW),
	CAP(IPC_LOCK),
	CAP(IPC_OWNER),
	CAP(SYS_MODULE),
	CAP(SYS_RAWIO),
	CAP(SYS_CHROOT),
	CAP(SYS_PTRACE),
	CAP(SYS_PACCT),
	CAP(SYS_ADMIN),
	CAP(SYS_BOOT),
	CAP(SYS_NICE),
	CAP(SYS_RESOURCE),
	CAP(SYS_TIME),
	CAP(SYS_TTY_CONFIG),
	CAP(MKNOD),
	CAP(LEASE),
	CAP(AUDIT_WRITE),
	CAP(AUDIT_CONTROL),
	CAP(SETFCAP),
	CAP(MAC_OVERRIDE),
	CAP(MAC_ADMIN),
	CAP(SYSLOG),
	CAP(WAKE_ALARM),
	CAP(BLOCK_SUSPEND),
	CAP(AUDIT_READ),
	CAP(PERFMON),
	CAP(BPF),
	CAP(CHECKPOINT_RESTORE),
	NAMES_END,
};

#define LIMIT(x)                                   \
	{                                          \
		"RLIMIT_" #x, (uint64_t)RLIMIT_##x \
	}

const struct decode_name oci_rlimit_names[] = {
	LIMIT(AS),     LIMIT(CORE),   LIMIT(CPU),	 LIMIT(DATA),
	LIMIT(FSIZE),  LIMIT(LOCKS),  LIMIT(MEMLOCK),	 LIMIT(MSGQUEUE),
	LIMIT(NICE),   LIMIT(NOFILE), LIMIT(NPROC),	 LIMIT(RSS),
	LIMIT(RTPRIO), LIMIT(RTTIME), LIMIT(SIGPENDING), LIMIT(STACK),
	NAMES_END,
};

const struct decode_name oci_sched_names[] = {
	{"SCHED_OTHER", SCHED_NORMAL},
	{"SCHED_FIFO", SCHED_FIFO},
	{"SCHED_RR", SCHED_RR},
	{"SCHED_BATCH", SCHED_BATCH},
	{"SCHED_ISO", 4}, /* reserved: no kernel has it */
	{"SCHED_IDLE", SCHED_IDLE},
	{"SCHED_DEADLINE", SCHED_DEADLINE},
	NAMES_END,
};

#define FLAG(x)       \
	{             \
#x, x \
	}

const struct decode_name oci_sched_flag_names[] = {
	FLAG(SCHED_FLAG_RESET_ON_FORK),	 FLAG(SCHED_FLAG_RECLAIM),
	FLAG(SCHED_FLAG_DL_OVERRUN),	 FLAG(SCHED_FLAG_KEEP_POLICY),
	FLAG(SCHED_FLAG_KEEP_PARAMS),	 FLAG(SCHED_FLAG_UTIL_CLAMP_MIN),
	FLAG(SCHED_FLAG_UTIL_CLAMP_MAX), NAMES_END,
};

const struct decode_name oci_io_class_names[] = {
	FLAG(IOPRIO_CLASS_RT),
	FLAG(IOPRIO_CLASS_BE),
	FLAG(IOPRIO_CLASS_IDLE),
	NAMES_END,
};

const struct decode_name oci_device_type_names[] = {
	{"c", S_IFCHR}, {"b", S_IFBLK},
	{"p", S_IFIFO}, {"u", S_IFCHR}, /* unbuffered: the same since ever */
	NAMES_END,
};

const struct decode_name oci_personality_names[] = {
	{"LINUX", PER_LINUX},
	{"LINUX32", PER_LINUX32},
	NAMES_END,
};

const struct decode_name oci_mempolicy_names[] = {
	FLAG(MPOL_DEFAULT),    FLAG(MPOL_BIND),
	FLAG(MPOL_INTERLEAVE), {"MPOL_WEIGHTED_INTERLEAVE", 6},
	FLAG(MPOL_PREFERRED),  FLAG(MPOL_PREFERRED_MANY),
	FLAG(MPOL_LOCAL),      NAMES_END,
};

const struct decode_name oci_mempolicy_flag_names[] = {
	FLAG(MPOL_F_NUMA_BALANCING),
	FLAG(MPOL_F_RELATIVE_NODES),
	FLAG(MPOL_F_STATIC_NODES),
	NAMES_END,
};

const struct decode_name oci_hook_names[] = {
	{"prestart", 0},
	{"createRuntime", 1},
	{"createContainer", 2},
	{"startContainer", 3},
	{"poststart", 4},
	{"poststop", 5},
	NAMES_END,
};

const char *oci_capability_name(unsigned int cap)
{
	return decode_name_of(oci_capability_names, cap);
}
