/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a container's policy comes from: architecture.md, "Where a policy
 * comes from". Pure: says where, reads nothing.
 *
 *	1 annotation ai.openshell.policy	the document itself
 *	2 annotation ai.openshell.policy-name	policies/NAME.yaml
 *	3 default_policy			the operator's
 *	4 the image's				only where image_policy allows
 *	5 when_missing
 *
 * An `ai.openshell.` annotation that nobody knows is an error: a misspelled
 * policy must not mean no policy.
 */
#ifndef OSH_PLAN_SOURCE_H
#define OSH_PLAN_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/digest.h"

struct arena;
struct err;
struct host_config;
struct oci_spec;

enum plan_source_kind {
	PLAN_SOURCE_OPTION, /* --policy FILE, of `plan` */
	PLAN_SOURCE_ANNOTATION,
	PLAN_SOURCE_NAME,
	PLAN_SOURCE_DEFAULT,
	PLAN_SOURCE_IMAGE, /* @path is inside the root filesystem */
	PLAN_SOURCE_RESTRICTIVE, /* when_missing; built-in document */
	PLAN_SOURCE_DENY, /* when_missing; built-in document */
	PLAN_SOURCE_PLAIN, /* when_missing: none; no document */
	PLAN_SOURCE_N
};

struct plan_source {
	enum plan_source_kind kind;
	/* The document: its bytes (@text, may hold anything), or the path of
	 * the file that has them. Neither for PLAN_SOURCE_PLAIN. */
	const char *text;
	size_t len;
	const char *path;
	/* For people and the log: "annotation ai.openshell.policy", a path,
	 * "when_missing: deny-network". */
	const char *label;
	bool pinned; /* the document's SHA-256 must be @pin */
	struct digest pin;
	bool inbound_none; /* ai.openshell.inbound: none */
	const char *warning; /* or NULL: what to tell the operator */
};

/* @option is --policy's file or NULL. */
int plan_source_find(struct arena *a, const struct oci_spec *spec,
		     const struct host_config *host, const char *option,
		     struct plan_source *ret, struct err *err);

/*
 * PLAN_SOURCE_IMAGE, and the image has no policy: what when_missing says.
 * Keeps the pin: a pinned policy that is missing is an error.
 */
int plan_source_missing(struct arena *a, const struct host_config *host,
			struct plan_source *source, struct err *err);

/* The pin, if any, against the SHA-256 of the document's bytes. */
int plan_source_check(const struct plan_source *source,
		      const struct digest *document, struct err *err);

#endif
