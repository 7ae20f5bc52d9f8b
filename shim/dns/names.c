/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/policy/decide.h"
#include "runtime/policy/match.h"
#include "shim/dns/dns_msg.h"
#include "shim/dns/names.h"
#include "shim/dns/resolver_limits.h"

static void policy_done(struct names_policy *p)
{
	if (p->data)
		munmap(p->data, p->n);
	*p = (struct names_policy){ .data = NULL };
}

static int read_all(int fd, char *to, size_t n, struct err *err)
{
	for (size_t at = 0; at < n;) {
		ssize_t r = pread(fd, to + at, n - at, (off_t)at);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_errno(err, errno, "read the policy");
		if (r == 0)
			return err_set(err, EINVAL,
				       "read the policy: it became shorter");
		at += (size_t)r;
	}
	return 0;
}

/*
 * A copy of one's own: whoever holds the descriptor may change the file, and
 * a mapping of it would die of SIGBUS.
 */
static int policy_read(struct names_policy *p, int fd, struct err *err)
{
	off_t size = lseek(fd, 0, SEEK_END);
	int r;

	if (size < 0)
		return err_errno(err, errno, "read the policy");
	if (size == 0 || size > POLICY_FILE_BYTES_MAX)
		return err_set(err, EFBIG, "read the policy: %lld bytes",
			       (long long)size);
	p->n = (size_t)size;
	p->data = mmap(NULL, p->n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->data == MAP_FAILED) {
		p->data = NULL;
		return err_errno(err, errno, "make room for the policy");
	}
	r = read_all(fd, p->data, p->n, err);
	return r < 0 ? r : policy_load(p->data, p->n, &p->view, err);
}

int names_add(struct names *n, const struct resolver_policy_add *add,
	      int policy_fd, int ceiling_fd, uint64_t now_ms, struct err *err)
{
	struct names_slot *slot;
	int r;

	if (add->slot.index >= RESOLVER_SLOTS_MAX || !add->slot.generation ||
	    add->n_upstreams > SHIM_UPSTREAMS_MAX ||
	    n->slot[add->slot.index].generation)
		return err_set(err, EPROTO, "add a policy: no such place");
	slot = &n->slot[add->slot.index];
	r = policy_read(&slot->policy, policy_fd, err);
	if (r == 0 && ceiling_fd >= 0) {
		r = policy_read(&slot->ceiling, ceiling_fd, err);
		if (r < 0)
			err_wrap(err, "ceiling");
	}
	if (r < 0) {
		names_free(slot);
		/* EPROTO is the shim's fault, not a policy's */
		return r == -EPROTO ? -(err->code = EINVAL) : r;
	}
	slot->generation = add->slot.generation;
	slot->n_upstreams = add->n_upstreams;
	for (size_t i = 0; i < add->n_upstreams; i++)
		slot->upstream[i] =
			(struct names_upstream){ .at = add->upstream[i] };
	limit_init(&slot->queries, &limit_queries, now_ms);
	limit_init(&slot->fresh, &limit_fresh, now_ms);
	return 0;
}

struct names_slot *names_get(struct names *n, const struct resolver_slot *s)
{
	if (s->index >= RESOLVER_SLOTS_MAX || !s->generation ||
	    n->slot[s->index].generation != s->generation)
		return NULL;
	return &n->slot[s->index];
}

void names_free(struct names_slot *slot)
{
	policy_done(&slot->policy);
	policy_done(&slot->ceiling);
	slot->generation = 0;
	slot->n_upstreams = 0;
}

static const struct policy *ceiling_of(const struct names_slot *slot)
{
	return slot->ceiling.data ? &slot->ceiling.view : NULL;
}

struct names_slot *names_find(struct names *n, const char *host,
			      enum reason *ret_reason)
{
	struct decision d;

	*ret_reason = REASON_NAME_NOT_ALLOWED;
	for (size_t i = 0; i < RESOLVER_SLOTS_MAX; i++) {
		struct names_slot *slot = &n->slot[i];

		if (!slot->generation)
			continue;
		decide_name(&slot->policy.view, ceiling_of(slot), host, &d);
		if (d.allow)
			return slot;
		if (d.reason == REASON_CEILING)
			*ret_reason = REASON_CEILING;
	}
	return NULL;
}

enum reason names_answer(const struct names *n, const char *host,
			 const struct dns_addr *addr)
{
	struct match_ip ip = match_ip_v6(addr->b);

	for (size_t i = 0; i < RESOLVER_SLOTS_MAX; i++) {
		const struct names_slot *slot = &n->slot[i];

		if (slot->generation &&
		    decide_answer(&slot->policy.view, ceiling_of(slot), host,
				  &ip))
			return REASON_ALLOWED;
	}
	return match_ip_class(&ip) == MATCH_BLOCKED ? REASON_BLOCKED_ADDRESS :
						      REASON_PRIVATE_ADDRESS;
}

bool names_exact(const struct names_slot *slot, const char *host)
{
	uint32_t first;

	return policy_find_host(&slot->policy.view, host, &first) > 0;
}

struct resolver_slot names_ref(const struct names *n,
			       const struct names_slot *slot)
{
	if (!slot)
		return (struct resolver_slot){ .index = 0 };
	return (struct resolver_slot){ .index = (uint32_t)(slot - n->slot),
				       .generation = slot->generation };
}
