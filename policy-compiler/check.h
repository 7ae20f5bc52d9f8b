/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tables can't say: rules between keys, hosts, addresses, limits.
 * Each check looks at what decoded well and reports all it finds, so that one
 * run shows everything. Errors refuse the policy.
 *
 * check_warnings() tells what is legal and probably not meant; it is for a
 * policy without errors.
 */
#ifndef OSH_COMPILER_CHECK_H
#define OSH_COMPILER_CHECK_H

#include <stdint.h>

#include "runtime/policy/layout.h"

struct arena;
struct doc_errors;
struct match_ip;
struct spec;
struct spec_endpoint;

/* All of them. @a is for scratch. */
void check_policy(struct arena *a, const struct spec *s,
		  struct doc_errors *errors);
void check_warnings(const struct spec *s, struct doc_errors *warnings);

/* Parts of check_policy, each in a file of its own. */
void check_endpoint(const struct spec_endpoint *e, struct doc_errors *errors);
void check_layer7(const struct spec_endpoint *e, struct doc_errors *errors);
void check_middlewares(const struct spec *s, struct doc_errors *errors);
void check_ambiguity(struct arena *a, const struct spec *s,
		     struct doc_errors *errors);
/* Part of check_warnings. */
void check_layer7_warnings(const struct spec_endpoint *e,
			   struct doc_errors *warnings);

/* What kind of host it is; NULL or "" is POLICY_HOST_NONE. */
enum policy_host check_host_kind(const char *host);

/*
 * An address or ADDRESS/PREFIX as the compiled policy has it (IPv4 mapped).
 * 0 or -EINVAL.
 */
int check_parse_net(const char *s, struct match_ip *ret_ip,
		    uint32_t *ret_prefix);

/* Does any middleware see what goes to this endpoint? Its key, or NULL. */
const char *check_middleware_of(const struct spec *s,
				const struct spec_endpoint *e);

#endif
