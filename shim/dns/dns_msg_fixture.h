/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building DNS messages, well-formed or not: the tests' own writer, not the
 * one under test. Include it after cmocka.h.
 */
#ifndef OSH_DNS_MSG_FIXTURE_H
#define OSH_DNS_MSG_FIXTURE_H

#include <arpa/nameser.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shim/dns/dns_msg.h"

/* The message under construction. */
struct msg {
	uint8_t b[70000];
	size_t n;
};

static struct msg m;

static inline void u8(unsigned int v)
{
	m.b[m.n++] = (uint8_t)v;
}

static inline void u16(unsigned int v)
{
	u8(v >> 8);
	u8(v & 0xff);
}

static inline void u32(uint32_t v)
{
	u16(v >> 16);
	u16(v & 0xffff);
}

static inline void bytes(const void *p, size_t n)
{
	memcpy(m.b + m.n, p, n);
	m.n += n;
}

/* "a.b.c" as labels; the last dot's label is the root. */
static inline void name(const char *s)
{
	while (*s) {
		size_t n = strcspn(s, ".");

		u8((unsigned int)n);
		bytes(s, n);
		s += n + (s[n] == '.');
	}
	u8(0);
}

static inline void head(unsigned int id, unsigned int flags, unsigned int qd,
		 unsigned int an, unsigned int ar)
{
	m.n = 0;
	u16(id);
	u16(flags);
	u16(qd);
	u16(an);
	u16(0);
	u16(ar);
}

static inline void question(const char *s, unsigned int type)
{
	name(s);
	u16(type);
	u16(ns_c_in);
}

/* The fixed part of a record; its owner was written already. */
static inline void record(unsigned int type, uint32_t ttl_s, size_t n)
{
	u16(type);
	u16(ns_c_in);
	u32(ttl_s);
	u16((unsigned int)n);
}

static inline void record_a(const char *owner, uint32_t ttl_s, const char *address)
{
	name(owner);
	record(ns_t_a, ttl_s, 4);
	bytes(address, 4);
}

static inline void record_cname(const char *owner, uint32_t ttl_s, const char *target)
{
	name(owner);
	record(ns_t_cname, ttl_s, strlen(target) + 2);
	name(target);
}

static inline void opt(unsigned int size, uint32_t ttl)
{
	u8(0);
	u16(ns_t_opt);
	u16(size);
	u32(ttl);
	u16(0);
}

static inline struct dns_query asked(const char *s, unsigned int type)
{
	struct dns_query q;

	head(0x1234, 0x0100, 1, 0, 0);
	question(s, type);
	assert_int_equal(dns_read_query(&q, m.b, m.n), 0);
	return q;
}

/* The answer last read, and reading the message under construction. */
static struct dns_answer a;

static inline int reply(const struct dns_query *q)
{
	return dns_read_reply(&a, q, 0x77, m.b, m.n);
}

#endif
