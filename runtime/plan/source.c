/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/host_config.h"
#include "runtime/oci/spec.h"
#include "runtime/plan/base64.h"
#include "runtime/plan/source.h"

static const char prefix[] = "ai.openshell.";
static const char key_policy[] = "ai.openshell.policy";
static const char key_name[] = "ai.openshell.policy-name";
static const char key_digest[] = "ai.openshell.policy-digest";
static const char key_inbound[] = "ai.openshell.inbound";

static const char *const known_keys[] = {key_policy, key_name, key_digest,
					 key_inbound};

/* Where OpenShell's own sandbox images carry it. */
static const char image_path[] = "/etc/openshell/policy.yaml";
static const char default_policies[] = "/etc/osh-runtime/policies";

/* No egress at all, and nothing else of a policy. */
static const char deny_document[] = "network:\n"
				    "  default: deny\n";

/* OpenShell's, for a sandbox without a policy (openshell-policy, lib.rs). */
static const char restrictive_document[] =
	"version: 1\n"
	"filesystem_policy:\n"
	"  include_workdir: true\n"
	"  read_only: [/usr, /lib, /proc, /dev/urandom, /app, /etc, /var/log]\n"
	"  read_write: [/tmp, /dev/null]\n"
	"landlock:\n"
	"  compatibility: best_effort\n";

static int check_keys(const struct oci_spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->annotations.n; i++) {
		const char *key = spec->annotations.v[i].key;
		bool known = false;

		for (size_t k = 0; k < N_ELEMENTS(known_keys); k++)
			known |= str_eq(key, known_keys[k]);
		if (!known && str_after(key, prefix))
			return err_set(err, EINVAL,
				       "check annotation %s: no annotation of "
				       "that name is known",
				       key);
	}
	return 0;
}

static int read_pin(const struct oci_spec *spec, struct plan_source *ret,
		    struct err *err)
{
	const char *text = oci_annotation(spec, key_digest);

	if (!text)
		return 0;
	if (!str_after(text, "sha256:") || digest_parse(&ret->pin, text) < 0)
		return err_set(err, EINVAL,
			       "check annotation %s: not sha256: and 64 "
			       "hexadecimal digits",
			       key_digest);
	ret->pinned = true;
	return 0;
}

static int read_inbound(const struct oci_spec *spec, struct plan_source *ret,
			struct err *err)
{
	const char *text = oci_annotation(spec, key_inbound);

	if (!text || str_eq(text, "listening"))
		return 0;
	if (!str_eq(text, "none"))
		return err_set(err, EINVAL,
			       "check annotation %s: \"%s\" is neither "
			       "listening nor none",
			       key_inbound, text);
	ret->inbound_none = true;
	return 0;
}

static int take_inline(struct arena *a, const char *text,
		       struct plan_source *ret, struct err *err)
{
	const char *encoded = str_after(text, "base64:");
	char *data;

	ret->kind = PLAN_SOURCE_ANNOTATION;
	ret->label = arena_printf(a, "annotation %s", key_policy);
	if (!encoded) {
		ret->text = text;
		ret->len = strlen(text);
	} else if (base64_decode(a, encoded, strlen(encoded), &data,
				 &ret->len) < 0) {
		return err_set(err, EINVAL,
			       "check annotation %s: not valid base64",
			       key_policy);
	} else {
		ret->text = data;
	}
	if (!ret->len)
		return err_set(err, EINVAL, "check annotation %s: empty",
			       key_policy);
	return 0;
}

/* A name, never a path: it may not leave the operator's folder. */
static bool is_name(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return *s && *s != '.' && strlen(s) < 128 && !s[strspn(s, plain)];
}

static int take_name(struct arena *a, const char *name,
		     const struct host_config *host, struct plan_source *ret,
		     struct err *err)
{
	if (!is_name(name))
		return err_set(err, EINVAL,
			       "check annotation %s: \"%s\" is not a name",
			       key_name, name);
	ret->kind = PLAN_SOURCE_NAME;
	ret->path = arena_printf(
		a, "%s/%s.yaml",
		host->policies ? host->policies : default_policies, name);
	ret->label = ret->path;
	return 0;
}

static void take_built_in(struct arena *a, const struct host_config *host,
			  struct plan_source *ret)
{
	static const char hint[] = "give one in the annotation "
				   "ai.openshell.policy, or default_policy "
				   "in the host configuration";
	const char *name = host_when_missing_name(host->when_missing);

	ret->path = NULL;
	ret->label = arena_printf(a, "when_missing: %s", name);
	if (host->when_missing == HOST_NONE) {
		ret->kind = PLAN_SOURCE_PLAIN;
		return;
	}
	if (host->when_missing == HOST_RESTRICTIVE) {
		ret->kind = PLAN_SOURCE_RESTRICTIVE;
		ret->text = restrictive_document;
		ret->warning = arena_printf(
			a,
			"no policy: OpenShell's restrictive one is used, "
			"without network; %s",
			hint);
	} else {
		ret->kind = PLAN_SOURCE_DENY;
		ret->text = deny_document;
		ret->warning = arena_printf(
			a, "no policy: all egress is refused and logged; %s",
			hint);
	}
	ret->len = strlen(ret->text);
}

int plan_source_missing(struct arena *a, const struct host_config *host,
			struct plan_source *source, struct err *err)
{
	if (source->pinned)
		return err_set(err, ENOENT,
			       "find policy: %s pins one, and there is none",
			       key_digest);
	if (host->when_missing == HOST_REFUSE)
		return err_set(err, ENOENT,
			       "find policy: there is none, and the host "
			       "configuration says when_missing: refuse");
	take_built_in(a, host, source);
	return 0;
}

static int find_host(struct arena *a, const struct host_config *host,
		     struct plan_source *ret, struct err *err)
{
	if (host->default_policy) {
		ret->kind = PLAN_SOURCE_DEFAULT;
		ret->path = ret->label = host->default_policy;
		return 0;
	}
	if (host->image_policy == HOST_IMAGE_ALLOW) {
		ret->kind = PLAN_SOURCE_IMAGE;
		ret->path = image_path;
		ret->label = arena_printf(a, "image %s", image_path);
		return 0;
	}
	return plan_source_missing(a, host, ret, err);
}

int plan_source_find(struct arena *a, const struct oci_spec *spec,
		     const struct host_config *host, const char *option,
		     struct plan_source *ret, struct err *err)
{
	const char *text = oci_annotation(spec, key_policy);
	const char *name = oci_annotation(spec, key_name);
	int r;

	*ret = (struct plan_source){0};
	r = check_keys(spec, err);
	if (r == 0)
		r = read_pin(spec, ret, err);
	if (r == 0)
		r = read_inbound(spec, ret, err);
	if (r < 0)
		return r;
	if (option) {
		ret->kind = PLAN_SOURCE_OPTION;
		ret->path = ret->label = option;
		return 0;
	}
	if (text && name)
		return err_set(err, EINVAL,
			       "check annotation %s: %s gives a policy already",
			       key_name, key_policy);
	if (text)
		return take_inline(a, text, ret, err);
	if (name)
		return take_name(a, name, host, ret, err);
	return find_host(a, host, ret, err);
}

int plan_source_check(const struct plan_source *source,
		      const struct digest *document, struct err *err)
{
	char want[DIGEST_HEX], have[DIGEST_HEX];

	if (!source->pinned ||
	    memcmp(source->pin.b, document->b, DIGEST_BYTES) == 0)
		return 0;
	digest_hex(&source->pin, want);
	digest_hex(document, have);
	return err_set(err, EPERM,
		       "check policy %s: its digest is sha256:%s, the "
		       "annotation %s wants sha256:%s",
		       source->label, have, key_digest, want);
}
