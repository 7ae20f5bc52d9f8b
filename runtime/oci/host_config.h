/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host configuration: /etc/osh-runtime/config.yaml (or --host-config, or
 * $XDG_CONFIG_HOME/osh-runtime/config.yaml). The operator's; no annotation,
 * image or variable of the container reaches it.
 *
 *	default_policy: /etc/osh-runtime/policies/default.yaml
 *	when_missing: deny-network	# refuse, restrictive, none
 *	image_policy: refuse		# allow
 *	ceiling: /etc/osh-runtime/ceiling.yaml
 *	policies: /etc/osh-runtime/policies
 *	inbound: listening		# none
 *	on_shim_death: keep		# kill
 *	dial_from_host: false
 *	log:
 *	  dir: /var/log/osh-runtime
 *	  max_bytes: 16777216
 *	  max_files: 8
 *	credentials: ...		# kept; see below
 *
 * An unknown key is an error with its position. Paths are absolute.
 */
#ifndef OSH_OCI_HOST_CONFIG_H
#define OSH_OCI_HOST_CONFIG_H

#include "runtime/doc/types.h"

struct arena;
struct doc_errors;
struct doc_node;

enum host_when_missing {
	HOST_DENY_NETWORK, /* the default */
	HOST_REFUSE,
	HOST_RESTRICTIVE,
	HOST_NONE,
	HOST_WHEN_MISSING_N
};

enum host_image_policy { HOST_IMAGE_REFUSE, HOST_IMAGE_ALLOW };

enum host_inbound { HOST_INBOUND_LISTENING, HOST_INBOUND_NONE };

enum host_shim_death { HOST_SHIM_DEATH_KEEP, HOST_SHIM_DEATH_KILL };

struct host_log {
	const char *dir; /* NULL: the built-in place */
	uint64_t max_bytes; /* rotate beyond; 0: the built-in size */
	uint64_t max_files; /* rotated ones kept; 0: the built-in number */
};

struct host_config {
	const struct doc_node *node; /* NULL: there is no file */
	const char *file; /* for messages; NULL: built-in */
	const char *default_policy; /* path, or NULL */
	uint32_t when_missing; /* enum host_when_missing */
	uint32_t image_policy; /* enum host_image_policy */
	const char *ceiling; /* path, or NULL */
	const char *policies; /* folder; NULL: /etc/osh-runtime/policies */
	uint32_t inbound; /* enum host_inbound */
	uint32_t on_shim_death; /* enum host_shim_death */
	bool dial_from_host;
	struct host_log log;
	/* Read by the gateway, which is to come: until then a container
	 * whose policy needs one is refused. NULL when absent. */
	const struct doc_node *credentials;
};

/* What holds without a file. */
void host_config_default(struct host_config *ret);

/* Parse YAML or JSON. 0, or -EINVAL with all errors in @errors. */
int host_config_parse(struct arena *a, const char *data, size_t len,
		      struct host_config *ret, struct doc_errors *errors);

/* The name in the file of a value of when_missing: for messages. */
const char *host_when_missing_name(uint32_t when_missing);

#endif
