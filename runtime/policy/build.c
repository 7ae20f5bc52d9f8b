/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/build.h"
#include "runtime/policy/match.h"
#include "runtime/policy/policy.h"

static const uint8_t element_bytes[POLICY_SECTION_N] = {
	[POLICY_STRINGS] = 1,
	[POLICY_ENTRIES] = sizeof(struct policy_entry),
	[POLICY_ENDPOINTS] = sizeof(struct policy_endpoint),
	[POLICY_PORTS] = sizeof(uint16_t),
	[POLICY_CIDRS] = sizeof(struct policy_cidr),
	[POLICY_BINARIES] = sizeof(struct policy_binary),
	[POLICY_BINARY_REFS] = sizeof(struct policy_binary_ref),
	[POLICY_PATHS] = sizeof(struct policy_path),
	[POLICY_BY_HOST] = sizeof(uint32_t),
	[POLICY_BY_ADDRESS] = sizeof(uint32_t),
	[POLICY_BY_GLOB] = sizeof(uint32_t),
	[POLICY_HOSTLESS] = sizeof(uint32_t),
	[POLICY_NODES] = sizeof(struct policy_node),
	[POLICY_PROGRAMS] = sizeof(struct policy_program),
	[POLICY_INSNS] = sizeof(struct sock_filter),
	[POLICY_WARNINGS] = sizeof(struct policy_warning),
};

static void *at(struct policy_build *b, enum policy_section s, uint32_t i)
{
	return (uint8_t *)b->section[s].v + (size_t)i * element_bytes[s];
}

/* Room for one more element, zeroed. */
static void *add(struct policy_build *b, enum policy_section s)
{
	struct policy_vector *v = &b->section[s];

	v->v = arena_grow(b->arena, v->v, v->n, element_bytes[s]);
	return at(b, s, v->n++);
}

static void *last(struct policy_build *b, enum policy_section s)
{
	assert(b->section[s].n > 0);
	return at(b, s, b->section[s].n - 1);
}

/* -------------------------------------------------------------- strings */

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u; /* FNV-1a: the texts are the author's own */

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return h;
}

/* The slot that holds @s, or the free one where it belongs. */
static uint32_t *slot_of(struct policy_build *b, const char *s)
{
	uint32_t i = hash(s) & (b->n_slots - 1);

	while (b->interned[i] &&
	       !str_eq(at(b, POLICY_STRINGS, b->interned[i] - 1), s))
		i = (i + 1) & (b->n_slots - 1);
	return &b->interned[i];
}

static void grow_table(struct policy_build *b)
{
	uint32_t *old = b->interned, n_old = b->n_slots, i;

	b->n_slots = n_old ? 2 * n_old : 256;
	b->interned = arena_array(b->arena, uint32_t, b->n_slots);
	for (i = 0; i < n_old; i++)
		if (old[i])
			*slot_of(b, at(b, POLICY_STRINGS, old[i] - 1)) = old[i];
}

uint32_t policy_build_text(struct policy_build *b, const char *s)
{
	uint32_t *slot, offset;

	if (b->n_interned >= b->n_slots / 2)
		grow_table(b);
	slot = slot_of(b, s);
	if (*slot)
		return *slot - 1;
	offset = b->section[POLICY_STRINGS].n;
	*slot = offset + 1;
	b->n_interned++;
	do {
		*(char *)add(b, POLICY_STRINGS) = *s;
	} while (*s++);
	return offset;
}

void policy_build_init(struct policy_build *b, struct arena *a)
{
	memset(b, 0, sizeof(*b));
	b->arena = a;
	b->header.user = b->header.group = POLICY_NONE;
	b->header.middlewares = POLICY_NONE;
	policy_build_text(b, "");
}

/* -------------------------------------------------------------- network */

uint32_t policy_build_entry(struct policy_build *b, const char *key,
			    const char *name, uint32_t line, uint32_t flags)
{
	struct policy_entry e = {
		.key = policy_build_text(b, key),
		.name = policy_build_text(b, name),
		.line = line,
		.flags = flags,
		.first_endpoint = b->section[POLICY_ENDPOINTS].n,
		.first_binary = b->section[POLICY_BINARY_REFS].n,
	};

	*(struct policy_entry *)add(b, POLICY_ENTRIES) = e;
	return b->section[POLICY_ENTRIES].n - 1;
}

static uint32_t add_host(struct policy_build *b, const char *host)
{
	char *lower = arena_strdup(b->arena, host);

	for (char *p = lower; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	return policy_build_text(b, lower);
}

struct policy_endpoint *policy_build_endpoint(struct policy_build *b,
					      enum policy_host kind,
					      const char *host, uint32_t line,
					      uint32_t column)
{
	struct policy_endpoint e = {
		.entry = b->section[POLICY_ENTRIES].n - 1,
		.host = add_host(b, host),
		.host_kind = (uint8_t)kind,
		.first_port = b->section[POLICY_PORTS].n,
		.first_cidr = b->section[POLICY_CIDRS].n,
		.inspect = POLICY_NONE,
		.layer7 = POLICY_NONE,
		.line = line,
		.column = column,
	};
	struct policy_entry *entry = last(b, POLICY_ENTRIES);
	struct policy_endpoint *ret = add(b, POLICY_ENDPOINTS);
	struct match_ip ip;

	if (kind == POLICY_HOST_LITERAL && match_ip_parse(host, &ip) == 0)
		memcpy(e.literal, ip.b, sizeof(e.literal));
	entry->n_endpoints++;
	*ret = e;
	return ret;
}

void policy_build_port(struct policy_build *b, uint16_t port)
{
	struct policy_endpoint *e = last(b, POLICY_ENDPOINTS);
	uint32_t i = 0;
	uint16_t *v;

	while (i < e->n_ports &&
	       *(uint16_t *)at(b, POLICY_PORTS, e->first_port + i) < port)
		i++;
	if (i < e->n_ports &&
	    *(uint16_t *)at(b, POLICY_PORTS, e->first_port + i) == port)
		return;
	add(b, POLICY_PORTS);
	v = at(b, POLICY_PORTS, e->first_port);
	memmove(v + i + 1, v + i, (e->n_ports - i) * sizeof(*v));
	v[i] = port;
	e->n_ports++;
}

void policy_build_cidr(struct policy_build *b, const uint8_t address[16],
		       uint32_t prefix, uint32_t line)
{
	struct policy_endpoint *e = last(b, POLICY_ENDPOINTS);
	struct policy_cidr *c = add(b, POLICY_CIDRS);

	memcpy(c->address, address, sizeof(c->address));
	for (uint32_t bit = prefix; bit < 128; bit++)
		c->address[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	c->prefix = prefix;
	c->line = line;
	e->n_cidrs++;
}

void policy_build_binary(struct policy_build *b, const char *path,
			 uint32_t line)
{
	struct policy_entry *e = last(b, POLICY_ENTRIES);
	struct policy_binary_ref *ref;
	uint32_t text = policy_build_text(b, path), i;

	for (i = 0; i < b->section[POLICY_BINARIES].n; i++) {
		struct policy_binary *bin = at(b, POLICY_BINARIES, i);

		if (bin->path == text)
			break;
	}
	if (i == b->section[POLICY_BINARIES].n)
		*(struct policy_binary *)add(b, POLICY_BINARIES) =
			(struct policy_binary){.path = text,
					       .glob = match_is_glob(path)};
	ref = add(b, POLICY_BINARY_REFS);
	ref->binary = i;
	ref->line = line;
	e->n_binaries++;
}

/* ------------------------------------------------------------- the rest */

void policy_build_path(struct policy_build *b, const char *path, uint32_t line,
		       uint32_t flags)
{
	struct policy_path f = {.path = policy_build_text(b, path),
				.line = line,
				.flags = flags};

	*(struct policy_path *)add(b, POLICY_PATHS) = f;
}

uint32_t policy_build_node(struct policy_build *b, enum policy_node_kind kind,
			   const char *key, uint32_t value, uint32_t line,
			   uint32_t column)
{
	struct policy_node n = {
		.kind = kind,
		.key = key ? policy_build_text(b, key) : POLICY_NONE,
		.value = value,
		.size = 1,
		.line = line,
		.column = column,
	};

	*(struct policy_node *)add(b, POLICY_NODES) = n;
	return b->section[POLICY_NODES].n - 1;
}

void policy_build_node_close(struct policy_build *b, uint32_t node)
{
	struct policy_node *n = at(b, POLICY_NODES, node);

	n->size = b->section[POLICY_NODES].n - node;
}

void policy_build_program(struct policy_build *b, enum policy_program_kind kind,
			  const struct sock_filter *insn, uint32_t n)
{
	struct policy_program *g = add(b, POLICY_PROGRAMS);

	g->kind = kind;
	g->first_insn = b->section[POLICY_INSNS].n;
	g->n_insns = n;
	for (uint32_t i = 0; i < n; i++)
		*(struct sock_filter *)add(b, POLICY_INSNS) = insn[i];
}

void policy_build_warning(struct policy_build *b, const char *text,
			  uint32_t line, uint32_t column)
{
	struct policy_warning w = {.text = policy_build_text(b, text),
				   .line = line,
				   .column = column};

	*(struct policy_warning *)add(b, POLICY_WARNINGS) = w;
}

/* --------------------------------------------------------------- finish */

/* Text, or address, and the endpoint's number. */
struct key {
	const char *host;
	const uint8_t *literal;
	uint32_t endpoint;
};

static int order_host(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int r = strcmp(a->host, b->host);

	return r ? r
		 : (a->endpoint > b->endpoint) - (a->endpoint < b->endpoint);
}

static int order_literal(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int r = memcmp(a->literal, b->literal, 16);

	return r ? r
		 : (a->endpoint > b->endpoint) - (a->endpoint < b->endpoint);
}

static void build_index(struct policy_build *b, enum policy_section s,
			enum policy_host kind,
			int (*order)(const void *, const void *))
{
	uint32_t n_endpoints = b->section[POLICY_ENDPOINTS].n, n = 0, i;
	struct key *keys = arena_array(b->arena, struct key, n_endpoints);

	for (i = 0; i < n_endpoints; i++) {
		struct policy_endpoint *e = at(b, POLICY_ENDPOINTS, i);

		if (e->host_kind == kind)
			keys[n++] = (struct key){
				.host = at(b, POLICY_STRINGS, e->host),
				.literal = e->literal,
				.endpoint = i,
			};
	}
	if (order)
		qsort(keys, n, sizeof(*keys), order);
	for (i = 0; i < n; i++)
		*(uint32_t *)add(b, s) = keys[i].endpoint;
}

static uint32_t summary(struct policy_build *b)
{
	uint32_t flags = 0, i;

	for (i = 0; i < b->section[POLICY_ENTRIES].n; i++) {
		struct policy_entry *e = at(b, POLICY_ENTRIES, i);

		if (!(e->flags & POLICY_ENTRY_ANY_BINARY))
			flags |= POLICY_HAS_BINARIES;
	}
	for (i = 0; i < b->section[POLICY_ENDPOINTS].n; i++) {
		struct policy_endpoint *e = at(b, POLICY_ENDPOINTS, i);

		if (e->inspect != POLICY_NONE)
			flags |= POLICY_NEEDS_INSPECTION;
	}
	if (b->section[POLICY_ENDPOINTS].n == 0)
		flags |= POLICY_NO_EGRESS;
	return flags;
}

static size_t align(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

int policy_build_finish(struct policy_build *b, void **ret_data,
			size_t *ret_len, struct err *err)
{
	enum { COVERED = offsetof(struct policy_header, version) };
	struct policy_header *h = &b->header;
	size_t len = sizeof(*h);
	struct policy ignored;
	struct digest d;
	uint8_t *file;

	build_index(b, POLICY_BY_HOST, POLICY_HOST_EXACT, order_host);
	build_index(b, POLICY_BY_ADDRESS, POLICY_HOST_LITERAL, order_literal);
	build_index(b, POLICY_BY_GLOB, POLICY_HOST_GLOB, NULL);
	build_index(b, POLICY_HOSTLESS, POLICY_HOST_NONE, NULL);

	for (unsigned int s = 0; s < POLICY_SECTION_N; s++) {
		if (len > POLICY_FILE_BYTES_MAX)
			return err_set(err, EFBIG,
				       "compiled policy: more than %d bytes",
				       POLICY_FILE_BYTES_MAX);
		h->section[s].offset = (uint32_t)len;
		h->section[s].n = b->section[s].n;
		len += align((size_t)b->section[s].n * element_bytes[s]);
	}
	memcpy(h->magic, POLICY_MAGIC, sizeof(h->magic));
	h->version = POLICY_VERSION;
	h->header_bytes = sizeof(*h);
	h->file_bytes = (uint32_t)len;
	h->flags |= summary(b);

	file = arena_alloc(b->arena, len);
	memcpy(file, h, sizeof(*h));
	for (unsigned int s = 0; s < POLICY_SECTION_N; s++)
		if (b->section[s].n)
			memcpy(file + h->section[s].offset, b->section[s].v,
			       (size_t)b->section[s].n * element_bytes[s]);
	digest_of(&d, file + COVERED, len - COVERED);
	memcpy(((struct policy_header *)(void *)file)->digest, d.b,
	       sizeof(d.b));

	*ret_data = file;
	*ret_len = len;
	return policy_load(file, len, &ignored, err);
}
