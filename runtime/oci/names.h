/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The specification's names and the kernel's numbers for them, once for
 * reading, writing and `features`. The first row with a value is the one that
 * is written.
 */
#ifndef OSH_OCI_NAMES_H
#define OSH_OCI_NAMES_H

#include "runtime/doc/decode.h"

extern const struct decode_name oci_namespace_names[]; /* CLONE_NEWX */
extern const struct decode_name oci_propagation_names[]; /* MS_X */
extern const struct decode_name oci_capability_names[]; /* CAP_X */
extern const struct decode_name oci_rlimit_names[]; /* RLIMIT_X */
extern const struct decode_name oci_sched_names[]; /* SCHED_X */
extern const struct decode_name oci_sched_flag_names[];
extern const struct decode_name oci_io_class_names[];
extern const struct decode_name oci_device_type_names[]; /* S_IFX */
extern const struct decode_name oci_personality_names[];
extern const struct decode_name oci_mempolicy_names[];
extern const struct decode_name oci_mempolicy_flag_names[];
extern const struct decode_name oci_seccomp_action_names[];
extern const struct decode_name oci_seccomp_op_names[];
extern const struct decode_name oci_seccomp_arch_names[];
extern const struct decode_name oci_seccomp_flag_names[];
extern const struct decode_name oci_hook_names[]; /* in the order run */

/* "CAP_CHOWN" for 0, or NULL. */
const char *oci_capability_name(unsigned int cap);

#endif
