/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the loader: policy_load() has found the sections within the file;
 * these look at what is in them. Private to this folder.
 */
#ifndef OSH_POLICY_LOAD_H
#define OSH_POLICY_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct policy;

/* Is @string a reference to the start of a text (@optional: or NONE)? */
bool load_string_ok(const struct policy *p, uint32_t string, bool optional);

/* "compiled policy: SECTION[index]: reason"; returns -EINVAL. */
int load_bad(struct err *err, const char *section, uint32_t index,
	     const char *reason);

/* Entries, endpoints, ports, addresses, binaries. */
int load_check_net(const struct policy *p, struct err *err);
/* The four indexes over the endpoints; after load_check_net. */
int load_check_index(const struct policy *p, struct err *err);
/* Trees, and who refers to them; after load_check_net. */
int load_check_trees(const struct policy *p, struct err *err);
/* BPF programs: seccomp's subset, forward jumps within, ends in a return. */
int load_check_programs(const struct policy *p, struct err *err);

#endif
