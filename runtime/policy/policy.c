/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "runtime/base/digest.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/match.h"
#include "runtime/policy/policy.h"

bool policy_has_port(const struct policy *p, uint32_t endpoint, uint16_t port)
{
	const struct policy_endpoint *e = &p->endpoint[endpoint];
	uint32_t low = e->first_port, high = low + e->n_ports;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->port[mid] == port)
			return true;
		if (p->port[mid] < port)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/* How the endpoint compares with what is sought. */
typedef int order_fn(const struct policy *p, uint32_t endpoint,
		     const void *sought);

/* The run of equal elements in a sorted index. */
static uint32_t find_run(const struct policy *p, const uint32_t *index,
			 uint32_t n, order_fn *order, const void *sought,
			 uint32_t *ret_first)
{
	uint32_t low = 0, high = n, end;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (order(p, index[mid], sought) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < n; end++)
		if (order(p, index[end], sought) != 0)
			break;
	*ret_first = low;
	return end - low;
}

static int order_host(const struct policy *p, uint32_t endpoint,
		      const void *name)
{
	return match_casecmp(policy_text(p, p->endpoint[endpoint].host), name);
}

static int order_address(const struct policy *p, uint32_t endpoint,
			 const void *address)
{
	return memcmp(p->endpoint[endpoint].literal, address, 16);
}

uint32_t policy_find_host(const struct policy *p, const char *name,
			  uint32_t *ret_first)
{
	return find_run(p, p->by_host, p->n_by_host, order_host, name,
			ret_first);
}

uint32_t policy_find_address(const struct policy *p, const uint8_t address[16],
			     uint32_t *ret_first)
{
	return find_run(p, p->by_address, p->n_by_address, order_address,
			address, ret_first);
}

const struct policy_program *policy_find_program(const struct policy *p,
						 enum policy_program_kind kind)
{
	for (uint32_t i = 0; i < p->n_programs; i++)
		if (p->program[i].kind == kind)
			return &p->program[i];
	return NULL;
}

uint32_t policy_node_member(const struct policy *p, uint32_t node,
			    const char *key)
{
	uint32_t i, end;

	if (node == POLICY_NONE || p->node[node].kind != POLICY_NODE_MAP)
		return POLICY_NONE;
	end = node + p->node[node].size;
	for (i = node + 1; i < end; i += p->node[i].size)
		if (str_eq(policy_text(p, p->node[i].key), key))
			return i;
	return POLICY_NONE;
}

void policy_digest_text(const struct policy *p,
			char ret_text[POLICY_DIGEST_TEXT])
{
	struct strbuf sb = {.s = ret_text, .size = POLICY_DIGEST_TEXT};

	_Static_assert(sizeof("sha256:") - 1 + DIGEST_HEX <= POLICY_DIGEST_TEXT,
		       "it fits");
	ret_text[0] = '\0';
	strbuf_adds(&sb, "sha256:");
	strbuf_addhex(&sb, p->header->document_digest, DIGEST_BYTES);
}

uint32_t policy_first_inspected(const struct policy *p)
{
	for (uint32_t i = 0; i < p->n_endpoints; i++)
		if (p->endpoint[i].inspect != POLICY_NONE)
			return i;
	return POLICY_NONE;
}
