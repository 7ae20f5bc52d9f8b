/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "runtime/base/own.h"
#include "runtime/policy/match.h"

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

struct match_ip match_ip_v4(const uint8_t address[4])
{
	struct match_ip ip;

	memcpy(ip.b, mapped, sizeof(mapped));
	memcpy(ip.b + 12, address, 4);
	return ip;
}

struct match_ip match_ip_v6(const uint8_t address[16])
{
	struct match_ip ip;

	memcpy(ip.b, address, sizeof(ip.b));
	return ip;
}

int match_ip_parse(const char *s, struct match_ip *ret)
{
	uint8_t v4[4];

	if (inet_pton(AF_INET, s, v4) == 1) {
		*ret = match_ip_v4(v4);
		return 0;
	}
	return inet_pton(AF_INET6, s, ret->b) == 1 ? 0 : -EINVAL;
}

bool match_ip_is_v4(const struct match_ip *ip)
{
	return memcmp(ip->b, mapped, sizeof(mapped)) == 0;
}

void match_ip_text(const struct match_ip *ip, char ret_text[MATCH_IP_TEXT])
{
	bool v4 = match_ip_is_v4(ip);

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip->b + 12 : ip->b, ret_text,
		  MATCH_IP_TEXT);
}

/* ------------------------------------------------------------- classes */

#define V4(a, b, c, d)                                \
	{                                             \
		[10] = 0xff, 0xff, (a), (b), (c), (d) \
	}

/* The first row that holds the address decides; no row: public. */
static const struct range {
	uint8_t net[16];
	uint8_t prefix_bits;
	uint8_t class;
} ranges[] = {
	{V4(127, 0, 0, 0), 96 + 8, MATCH_BLOCKED},
	{V4(169, 254, 0, 0), 96 + 16, MATCH_BLOCKED},
	{V4(0, 0, 0, 0), 96 + 8, MATCH_BLOCKED},
	{V4(224, 0, 0, 0), 96 + 4, MATCH_BLOCKED},
	{V4(10, 0, 0, 0), 96 + 8, MATCH_INTERNAL},
	{V4(172, 16, 0, 0), 96 + 12, MATCH_INTERNAL},
	{V4(192, 168, 0, 0), 96 + 16, MATCH_INTERNAL},
	{V4(100, 64, 0, 0), 96 + 10, MATCH_INTERNAL}, /* RFC 6598 */
	{V4(192, 0, 0, 0), 96 + 24, MATCH_INTERNAL}, /* RFC 6890 */
	{V4(192, 0, 2, 0), 96 + 24, MATCH_INTERNAL}, /* RFC 5737 */
	{V4(198, 51, 100, 0), 96 + 24, MATCH_INTERNAL},
	{V4(203, 0, 113, 0), 96 + 24, MATCH_INTERNAL},
	{V4(198, 18, 0, 0), 96 + 15, MATCH_INTERNAL}, /* RFC 2544 */
	{V4(240, 0, 0, 0), 96 + 4, MATCH_INTERNAL}, /* and broadcast */
	{V4(0, 0, 0, 0), 96, MATCH_PUBLIC},
	{{0}, 96, MATCH_BLOCKED}, /* ::, ::1, IPv4-compatible */
	{{0xfe, 0x80}, 10, MATCH_BLOCKED},
	{{0xff}, 8, MATCH_BLOCKED},
	{{0xfc}, 7, MATCH_INTERNAL},
	{{0xfe, 0xc0}, 10, MATCH_INTERNAL},
	{{0x20, 0x01, 0x0d, 0xb8}, 32, MATCH_INTERNAL}, /* RFC 3849 */
	{{0x20, 0x01}, 32, MATCH_INTERNAL}, /* Teredo */
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, MATCH_INTERNAL},
};

/* Where an IPv4 address is inside an IPv6 one. */
static const struct {
	uint8_t net[16];
	uint8_t prefix_bits, at;
} carriers[] = {
	{{0x00, 0x64, 0xff, 0x9b}, 96, 12}, /* RFC 6052 */
	{{0x20, 0x02}, 16, 2}, /* RFC 3056 */
};

/* Do the first @bits of both agree? */
static bool same_prefix(const uint8_t a[16], const uint8_t b[16], uint32_t bits)
{
	uint32_t whole = bits / 8, rest = bits % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

enum match_class match_ip_class(const struct match_ip *ip)
{
	size_t i;

	for (i = 0; i < N_ELEMENTS(carriers); i++) {
		struct match_ip inner;

		if (!same_prefix(ip->b, carriers[i].net,
				 carriers[i].prefix_bits))
			continue;
		inner = match_ip_v4(ip->b + carriers[i].at);
		return match_ip_class(&inner);
	}
	for (i = 0; i < N_ELEMENTS(ranges); i++)
		if (same_prefix(ip->b, ranges[i].net, ranges[i].prefix_bits))
			return (enum match_class)ranges[i].class;
	return MATCH_PUBLIC;
}

bool match_ip_within(const struct match_ip *ip, const uint8_t net[16],
		     uint32_t prefix_bits)
{
	return prefix_bits <= 128 && same_prefix(ip->b, net, prefix_bits);
}

bool match_net_has_blocked(const uint8_t net[16], uint32_t prefix_bits)
{
	for (size_t i = 0; i < N_ELEMENTS(ranges); i++) {
		const struct range *r = &ranges[i];
		uint32_t bits = r->prefix_bits < prefix_bits ? r->prefix_bits
							     : prefix_bits;

		if (r->class != MATCH_BLOCKED)
			continue;
		/* ::/96 must not swallow the mapped forms, which follow it */
		if (same_prefix(net, r->net, bits))
			return true;
	}
	return false;
}

bool match_port_is_control_plane(uint16_t port)
{
	static const uint16_t ports[] = {2379, 2380, 6443, 10250, 10255};

	for (size_t i = 0; i < N_ELEMENTS(ports); i++)
		if (ports[i] == port)
			return true;
	return false;
}
