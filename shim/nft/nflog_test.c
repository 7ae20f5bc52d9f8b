/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "shim/nft/nflog.h"

static const uint8_t udp4[28] = {
	0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1,
	192, 0, 2, 7, 0x30, 0x39, 0, 53, 0, 8, 0, 0,
};

static void test_ipv4(void **state)
{
	static const uint8_t dst[16] = { [10] = 0xff, [11] = 0xff, [12] = 192,
					 [14] = 2,    [15] = 7 };
	struct nflog_packet p;
	uint8_t packet[28];

	(void)state;
	assert_true(nflog_parse(udp4, sizeof(udp4), &p));
	assert_int_equal(p.proto, 17);
	assert_int_equal(p.sport, 12345);
	assert_int_equal(p.dport, 53);
	assert_memory_equal(p.dst, dst, 16);

	/* a later fragment has no ports where they would be */
	memcpy(packet, udp4, sizeof(packet));
	packet[7] = 1;
	assert_true(nflog_parse(packet, sizeof(packet), &p));
	assert_int_equal(p.dport, 0);
	/* nor has a header that says it is shorter than it can be */
	memcpy(packet, udp4, sizeof(packet));
	packet[0] = 0x44;
	assert_true(nflog_parse(packet, sizeof(packet), &p));
	assert_int_equal(p.dport, 0);
	/* options move them */
	packet[0] = 0x46;
	assert_true(nflog_parse(packet, sizeof(packet), &p));
	assert_int_equal(p.sport, 8);
}

static void test_every_length(void **state)
{
	uint8_t packet[48] = { 0x60, [6] = 6, [7] = 64, [24] = 0x20, [43] = 80 };
	struct nflog_packet p;

	(void)state;
	for (size_t n = 0; n < sizeof(udp4); n++)
		assert_int_equal(nflog_parse(udp4, n, &p), n >= 20);
	for (size_t n = 0; n < sizeof(packet); n++) {
		assert_int_equal(nflog_parse(packet, n, &p), n >= 40);
		if (n >= 40)
			assert_int_equal(p.dport, n >= 44 ? 80 : 0);
	}
}

/* A multicast report as the kernel sends it: router alert before ICMPv6. */
static void test_extension_headers(void **state)
{
	uint8_t packet[56] = { 0x60, [6] = 0, [7] = 1, [24] = 0xff, [25] = 2,
			       [39] = 0x16, [40] = 58, [41] = 0 };
	struct nflog_packet p;

	(void)state;
	assert_true(nflog_parse(packet, sizeof(packet), &p));
	assert_int_equal(p.proto, 58);
	packet[40] = 6;
	packet[51] = 80;
	assert_true(nflog_parse(packet, sizeof(packet), &p));
	assert_int_equal(p.proto, 6);
	assert_int_equal(p.dport, 80);
	/* one that says it goes on beyond the packet */
	packet[41] = 255;
	assert_true(nflog_parse(packet, sizeof(packet), &p));
	assert_int_equal(p.dport, 0);
	packet[40] = 0;
	packet[41] = 0;
	packet[48] = 0;
	packet[49] = 255;
	assert_true(nflog_parse(packet, sizeof(packet), &p));
	assert_int_equal(p.dport, 0);
	for (size_t n = 40; n < sizeof(packet); n++)
		assert_true(nflog_parse(packet, n, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_extension_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
