/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a network namespace of the test's own, with devices that ip(8) makes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/netdevice.h"

static void run(const char *command)
{
	char *const argv[] = {(char *)(uintptr_t) "sh",
			      (char *)(uintptr_t) "-c",
			      (char *)(uintptr_t)command, NULL};
	int status = -1;
	pid_t pid;

	assert_int_equal(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ),
			 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool has_address(const char *name, const char *want)
{
	struct ifaddrs *list;
	bool found = false;

	assert_int_equal(getifaddrs(&list), 0);
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		char text[INET6_ADDRSTRLEN] = "";

		if (!i->ifa_addr || !str_eq(i->ifa_name, name))
			continue;
		if (i->ifa_addr->sa_family == AF_INET)
			inet_ntop(AF_INET,
				  &((struct sockaddr_in *)(void *)i->ifa_addr)
					   ->sin_addr,
				  text, sizeof(text));
		if (i->ifa_addr->sa_family == AF_INET6)
			inet_ntop(AF_INET6,
				  &((struct sockaddr_in6 *)(void *)i->ifa_addr)
					   ->sin6_addr,
				  text, sizeof(text));
		found |= str_eq(text, want) && i->ifa_flags & IFF_UP;
	}
	freeifaddrs(list);
	return found;
}

static int needs(void **state)
{
	(void)state;
	if (geteuid() != 0 || access("/usr/sbin/ip", X_OK) < 0)
		return 0;
	return unshare(CLONE_NEWNET);
}

static int our_namespace(void)
{
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static void moves_with_name_and_addresses(void **state)
{
	static const struct netdevice v[] = {{"osh0", "inside"},
					     {"osh1", NULL}};
	own_close int here = -EBADF;
	own_close int there = -EBADF;
	struct err err = ERR_INIT;

	(void)state;
	if (geteuid() != 0 || access("/usr/sbin/ip", X_OK) < 0)
		skip();
	here = our_namespace();
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	there = our_namespace();
	assert_int_equal(setns(here, CLONE_NEWNET), 0);
	run("ip link add osh0 type veth peer name osh1 &&"
	    "ip addr add 10.9.8.7/24 brd + dev osh0 &&"
	    "ip addr add 2001:db8::7/64 dev osh0 nodad &&"
	    "ip link set osh0 up");
	if (netdevice_move(v, N_ELEMENTS(v), there, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(if_nametoindex("osh0"), 0);
	assert_int_equal(if_nametoindex("osh1"), 0);
	assert_int_equal(setns(there, CLONE_NEWNET), 0);
	assert_true(has_address("inside", "10.9.8.7"));
	assert_true(has_address("inside", "2001:db8::7"));
	assert_int_not_equal(if_nametoindex("osh1"), 0);
	assert_int_equal(setns(here, CLONE_NEWNET), 0);
}

static void says_what_cannot_be(void **state)
{
	struct netdevice d = {"osh-none", NULL};
	own_close int here = -EBADF;
	struct err err = ERR_INIT;

	(void)state;
	if (geteuid() != 0 || access("/usr/sbin/ip", X_OK) < 0)
		skip();
	here = our_namespace();
	assert_int_equal(netdevice_move(&d, 1, here, &err), -ENODEV);
	assert_string_equal(err.text, "network device osh-none: find it: no "
				      "such device");
	d.name = "lo";
	d.new_name = "a-name-of-16-chr";
	assert_int_equal(netdevice_move(&d, 1, here, &err), -EINVAL);
	assert_int_equal(netdevice_move(NULL, 0, here, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_with_name_and_addresses),
		cmocka_unit_test(says_what_cannot_be),
	};

	return cmocka_run_group_tests_name("netdevice", tests, needs, NULL);
}
