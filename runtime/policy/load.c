/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation: the header first, then the section table, which leaves
 * no choice where a section may be (each begins where the one before ended,
 * rounded up to 8), then the strings, then each element. Ranges that belong
 * to an element (an entry's endpoints, an endpoint's ports) must follow one
 * another without gaps, so that nothing in the file is unreachable or used
 * twice.
 */
#include <errno.h>
#include <linux/filter.h>
#include <stddef.h>
#include <string.h>

#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/utf8.h"
#include "runtime/policy/load.h"
#include "runtime/policy/policy.h"

enum { SECTION_ALIGN = 8 };

#define SECTION(member, count, limit, name_)                                   \
	{                                                                      \
		.name = (name_),                                               \
		.size = sizeof(*((struct policy *)0)->member), .max = (limit), \
		.at = offsetof(struct policy, member),                         \
		.n_at = offsetof(struct policy, count),                        \
	}

static const struct section {
	const char *name;
	size_t size; /* of an element */
	uint32_t max;
	size_t at, n_at; /* in struct policy */
} sections[] = {
	[POLICY_STRINGS] =
		SECTION(strings, n_strings, POLICY_FILE_BYTES_MAX, "strings"),
	[POLICY_ENTRIES] =
		SECTION(entry, n_entries, POLICY_ENTRIES_MAX, "entries"),
	[POLICY_ENDPOINTS] = SECTION(endpoint, n_endpoints,
				     POLICY_ENDPOINTS_MAX, "endpoints"),
	[POLICY_PORTS] = SECTION(port, n_ports, POLICY_PORTS_MAX, "ports"),
	[POLICY_CIDRS] =
		SECTION(cidr, n_cidrs, POLICY_CIDRS_MAX, "allowed_ips"),
	[POLICY_BINARIES] =
		SECTION(binary, n_binaries, POLICY_BINARIES_MAX, "binaries"),
	[POLICY_BINARY_REFS] = SECTION(binary_ref, n_binary_refs,
				       POLICY_BINARY_REFS_MAX,
				       "binary references"),
	[POLICY_PATHS] = SECTION(path, n_paths,
				 POLICY_PATHS_MAX + POLICY_BASELINE_PATHS_MAX,
				 "paths"),
	[POLICY_BY_HOST] =
		SECTION(by_host, n_by_host, POLICY_ENDPOINTS_MAX, "hosts"),
	[POLICY_BY_ADDRESS] = SECTION(by_address, n_by_address,
				      POLICY_ENDPOINTS_MAX, "addresses"),
	[POLICY_BY_GLOB] =
		SECTION(by_glob, n_by_glob, POLICY_HOST_GLOBS_MAX, "globs"),
	[POLICY_HOSTLESS] = SECTION(hostless, n_hostless, POLICY_HOSTLESS_MAX,
				    "hostless endpoints"),
	[POLICY_NODES] = SECTION(node, n_nodes, POLICY_NODES_MAX, "nodes"),
	[POLICY_PROGRAMS] =
		SECTION(program, n_programs, POLICY_PROGRAMS_MAX, "programs"),
	[POLICY_INSNS] = SECTION(insn, n_insns,
				 POLICY_PROGRAMS_MAX *POLICY_INSNS_MAX,
				 "instructions"),
	[POLICY_WARNINGS] =
		SECTION(warning, n_warnings, POLICY_WARNINGS_MAX, "warnings"),
};
_Static_assert(N_ELEMENTS(sections) == POLICY_SECTION_N, "a row for each");

static int bad_file(struct err *err, const char *reason)
{
	return err_set(err, EINVAL, "compiled policy: %s", reason);
}

int load_bad(struct err *err, const char *section, uint32_t index,
	     const char *reason)
{
	return err_set(err, EINVAL, "compiled policy: %s[%u]: %s", section,
		       index, reason);
}

bool load_string_ok(const struct policy *p, uint32_t string, bool optional)
{
	if (string == POLICY_NONE)
		return optional;
	return string < p->n_strings &&
	       (string == 0 || p->strings[string - 1] == '\0');
}

static int check_header(const void *data, size_t len, struct err *err)
{
	enum { COVERED = offsetof(struct policy_header, version) };
	const struct policy_header *h = data;
	struct digest d;

	if ((uintptr_t)data % SECTION_ALIGN)
		return bad_file(err, "not aligned in memory");
	if (len < sizeof(*h) || len > POLICY_FILE_BYTES_MAX)
		return bad_file(err, "not of a possible size");
	if (memcmp(h->magic, POLICY_MAGIC, sizeof(h->magic)) != 0)
		return bad_file(err, "not one: it begins otherwise");
	digest_of(&d, (const uint8_t *)data + COVERED, len - COVERED);
	if (memcmp(d.b, h->digest, sizeof(h->digest)) != 0)
		return bad_file(err, "damaged: its digest differs");
	if (h->version != POLICY_VERSION)
		return err_set(err, EPROTO,
			       "compiled policy: version %u, not %d",
			       h->version, POLICY_VERSION);
	if (h->header_bytes != sizeof(*h) || h->file_bytes != len ||
	    h->reserved != 0)
		return bad_file(err, "damaged header");
	return 0;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n)
		if (p[--n])
			return false;
	return true;
}

/* Find each section where it has to be. */
static int find_sections(const void *data, struct policy *ret, struct err *err)
{
	const struct policy_header *h = data;
	const uint8_t *bytes = data;
	size_t at = sizeof(*h);

	_Static_assert(sizeof(*h) % SECTION_ALIGN == 0, "sections are aligned");
	for (unsigned int i = 0; i < POLICY_SECTION_N; i++) {
		const struct section *s = &sections[i];
		const struct policy_span *span = &h->section[i];
		size_t size, gap;
		const void *where = bytes + at;

		if (span->offset != at || span->n > s->max)
			return load_bad(err, s->name, span->n,
					"misplaced or too many");
		size = span->n * s->size;
		gap = (SECTION_ALIGN - size % SECTION_ALIGN) % SECTION_ALIGN;
		if (size + gap > h->file_bytes - at)
			return load_bad(err, s->name, span->n,
					"beyond the end of the file");
		if (!all_zero(bytes + at + size, gap))
			return load_bad(err, s->name, span->n,
					"followed by something");
		memcpy((char *)ret + s->at, &where, sizeof(where));
		memcpy((char *)ret + s->n_at, &span->n, sizeof(span->n));
		at += size + gap;
	}
	if (at != h->file_bytes)
		return bad_file(err, "something follows its end");
	return 0;
}

static int check_strings(const struct policy *p, struct err *err)
{
	if (p->n_strings == 0 || p->strings[0] != '\0' ||
	    p->strings[p->n_strings - 1] != '\0')
		return bad_file(err, "strings without an end");
	if (!utf8_valid(p->strings, p->n_strings))
		return bad_file(err, "strings that are not UTF-8");
	return 0;
}

static int check_paths(const struct policy *p, struct err *err)
{
	const uint32_t known = POLICY_PATH_WRITE | POLICY_PATH_BASELINE |
			       POLICY_PATH_GPU;
	uint32_t n_own = 0;

	for (uint32_t i = 0; i < p->n_paths; i++) {
		const struct policy_path *f = &p->path[i];

		if (!load_string_ok(p, f->path, false) || f->flags & ~known)
			return load_bad(err, "paths", i, "damaged");
		if (policy_text(p, f->path)[0] != '/' ||
		    strlen(policy_text(p, f->path)) > POLICY_PATH_BYTES_MAX)
			return load_bad(err, "paths", i, "not absolute");
		n_own += !(f->flags & POLICY_PATH_BASELINE);
	}
	if (n_own > POLICY_PATHS_MAX)
		return load_bad(err, "paths", n_own, "too many");
	return 0;
}

static int check_warnings(const struct policy *p, struct err *err)
{
	for (uint32_t i = 0; i < p->n_warnings; i++)
		if (!load_string_ok(p, p->warning[i].text, false))
			return load_bad(err, "warnings", i, "damaged");
	return 0;
}

/* What the header sums up must be what the sections say. */
static int check_summary(const struct policy *p, struct err *err)
{
	const struct policy_header *h = p->header;
	uint32_t derived = 0, i;

	for (i = 0; i < p->n_entries; i++)
		if (!(p->entry[i].flags & POLICY_ENTRY_ANY_BINARY))
			derived |= POLICY_HAS_BINARIES;
	if (policy_first_inspected(p) != POLICY_NONE)
		derived |= POLICY_NEEDS_INSPECTION;
	if (p->n_endpoints == 0)
		derived |= POLICY_NO_EGRESS;

	if ((h->flags & (POLICY_HAS_BINARIES | POLICY_NEEDS_INSPECTION |
			 POLICY_NO_EGRESS)) != derived ||
	    h->flags >= POLICY_NO_EGRESS << 1)
		return bad_file(err, "its flags are not what it holds");
	if (!load_string_ok(p, h->user, true) ||
	    !load_string_ok(p, h->group, true))
		return bad_file(err, "damaged process section");
	return 0;
}

int policy_load(const void *data, size_t len, struct policy *ret_view,
		struct err *err)
{
	static int (*const checks[])(const struct policy *p,
				     struct err *err) = {
		check_strings,	  load_check_net,      load_check_index,
		load_check_trees, load_check_programs, check_paths,
		check_warnings,	  check_summary,
	};
	struct policy p = {.header = data};
	int r = check_header(data, len, err);

	if (r == 0)
		r = find_sections(data, &p, err);
	for (size_t i = 0; r == 0 && i < N_ELEMENTS(checks); i++)
		r = checks[i](&p, err);
	if (r == 0)
		*ret_view = p;
	return r;
}
