/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "linux.seccomp" (config-linux.md, "Seccomp"). Values are the kernel's, which
 * are also libseccomp's: SECCOMP_RET_X without the data part, AUDIT_ARCH_X
 * (x32 and the n32 forms as libseccomp tokens), SECCOMP_FILTER_FLAG_X.
 */
#ifndef OSH_OCI_SPEC_SECCOMP_H
#define OSH_OCI_SPEC_SECCOMP_H

#include "runtime/doc/types.h"

/* The numbers of libseccomp's enum scmp_compare. */
enum oci_seccomp_op {
	OCI_SECCOMP_NE = 1,
	OCI_SECCOMP_LT,
	OCI_SECCOMP_LE,
	OCI_SECCOMP_EQ,
	OCI_SECCOMP_GE,
	OCI_SECCOMP_GT,
	OCI_SECCOMP_MASKED_EQ,
	OCI_SECCOMP_OP_N
};

enum { OCI_SECCOMP_ARGS = 6 };

struct oci_seccomp_arg {
	uint32_t index; /* 0 to 5 */
	uint32_t op; /* enum oci_seccomp_op */
	uint64_t value, value_two;
};

struct oci_seccomp_rule {
	struct str_list names;
	uint32_t action; /* SECCOMP_RET_X */
	struct opt_u32 errno_ret;
	LIST_OF(struct oci_seccomp_arg) args;
};

struct oci_seccomp {
	uint32_t default_action;
	struct opt_u32 default_errno_ret;
	LIST_OF(uint32_t) architectures; /* tokens; empty: the native one */
	struct opt_u64 flags; /* SECCOMP_FILTER_FLAG_X; "flags": [] is set */
	const char *listener_path, *listener_metadata;
	LIST_OF(struct oci_seccomp_rule) syscalls;
};

#endif
