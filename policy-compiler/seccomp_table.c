/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers are arch/x86/entry/syscalls/syscall_{64,32}.tbl's; a test compares
 * them with libseccomp's.
 */
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "policy-compiler/seccomp_table.h"
#include "runtime/base/own.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

enum {
	TIOCSTI_CMD = 0x5412,
	TIOCLINUX_CMD = 0x541c,
	AT_EMPTY_PATH_FLAG = 0x1000,
	SOCK_TYPE_BITS = 0xf, /* the rest is SOCK_CLOEXEC, SOCK_NONBLOCK */

	/* net/socket.c: SYS_SOCKET ... of socketcall(2) */
	CALL_SOCKET = 1,
	CALL_LISTEN = 4,
	CALL_SENDTO = 11,
};

#define NAMESPACES                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

#define ALL 0xffffffffu
#define EQ(arg_, value_)                             \
	{                                            \
		SECCOMP_OP_EQ, (arg_), ALL, (value_) \
	}
#define BITS(arg_, mask_, v_)                        \
	{                                            \
		SECCOMP_OP_EQ, (arg_), (mask_), (v_) \
	}
#define ANY_OF(arg_, mask_)                       \
	{                                         \
		SECCOMP_OP_NE, (arg_), (mask_), 0 \
	}
#define NONE_OF(arg_, mask_)                      \
	{                                         \
		SECCOMP_OP_EQ, (arg_), (mask_), 0 \
	}
#define NOT_NULL(arg_)                         \
	{                                      \
		SECCOMP_OP_SET64, (arg_), 0, 0 \
	}

#define NO SECCOMP_NO_NR
#define ROW(name_, x86_64, i386, verdict_, ...)                       \
	{                                                             \
		.name = #name_, .nr = {(x86_64), (i386)},             \
		.verdict = SECCOMP_##verdict_, .test = {__VA_ARGS__}, \
	}
#define SOCKET(verdict_, ...) ROW(socket, 41, 359, verdict_, __VA_ARGS__)
#define SETSOCKOPT(level_, name_) \
	ROW(setsockopt, 54, 366, NOT_PERMITTED, EQ(1, level_), EQ(2, name_))
#define SOCKETCALL(verdict_, ...) \
	ROW(socketcall, NO, 102, verdict_, __VA_ARGS__)

const struct seccomp_row seccomp_rows[] = {
	/* What the shim decides. sendmsg and sendmmsg need not be: a socket
	 * that never connected has no mark, and reaches nothing. */
	ROW(connect, 42, 362, NOTIFY),
	ROW(bind, 49, 361, NOTIFY),
	ROW(listen, 50, 363, NOTIFY),
	ROW(sendto, 44, 369, NOTIFY, NOT_NULL(4)),

	/* Sockets: UNIX, route netlink, and of INET and INET6 what the table
	 * of the namespace can bind to a mark. MPTCP would open subflows of
	 * its own; refused like this, programs go on with TCP. */
	SOCKET(ALLOW, EQ(0, AF_UNIX)),
	SOCKET(ALLOW, EQ(0, AF_NETLINK), EQ(2, 0)),
	SOCKET(ALLOW, EQ(0, AF_INET), BITS(1, SOCK_TYPE_BITS, SOCK_STREAM),
	       EQ(2, 0)),
	SOCKET(ALLOW, EQ(0, AF_INET), BITS(1, SOCK_TYPE_BITS, SOCK_STREAM),
	       EQ(2, IPPROTO_TCP)),
	SOCKET(ALLOW, EQ(0, AF_INET), BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM),
	       EQ(2, 0)),
	SOCKET(ALLOW, EQ(0, AF_INET), BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM),
	       EQ(2, IPPROTO_UDP)),
	SOCKET(ALLOW, EQ(0, AF_INET), BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM),
	       EQ(2, IPPROTO_ICMP)),
	SOCKET(ALLOW, EQ(0, AF_INET6), BITS(1, SOCK_TYPE_BITS, SOCK_STREAM),
	       EQ(2, 0)),
	SOCKET(ALLOW, EQ(0, AF_INET6), BITS(1, SOCK_TYPE_BITS, SOCK_STREAM),
	       EQ(2, IPPROTO_TCP)),
	SOCKET(ALLOW, EQ(0, AF_INET6), BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM),
	       EQ(2, 0)),
	SOCKET(ALLOW, EQ(0, AF_INET6), BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM),
	       EQ(2, IPPROTO_UDP)),
	SOCKET(ALLOW, EQ(0, AF_INET6), BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM),
	       EQ(2, IPPROTO_ICMPV6)),
	SOCKET(NO_PROTOCOL, EQ(0, AF_INET),
	       BITS(1, SOCK_TYPE_BITS, SOCK_STREAM)),
	SOCKET(NO_PROTOCOL, EQ(0, AF_INET),
	       BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM)),
	SOCKET(NO_PROTOCOL, EQ(0, AF_INET6),
	       BITS(1, SOCK_TYPE_BITS, SOCK_STREAM)),
	SOCKET(NO_PROTOCOL, EQ(0, AF_INET6),
	       BITS(1, SOCK_TYPE_BITS, SOCK_DGRAM)),
	SOCKET(NOT_PERMITTED), /* raw, packet, vsock, bluetooth, alg, xdp, ... */

	ROW(socketpair, 53, 360, ALLOW, EQ(0, AF_UNIX)),
	ROW(socketpair, 53, 360, NOT_PERMITTED),

	/* Nothing comes from a group, but the kernel reports what was joined,
	 * up to a second after the leave: of a container that has ended, when
	 * no table is in the way. The group's address is the agent's choice. */
	SETSOCKOPT(IPPROTO_IP, IP_ADD_MEMBERSHIP),
	SETSOCKOPT(IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP),
	SETSOCKOPT(IPPROTO_IP, MCAST_JOIN_GROUP),
	SETSOCKOPT(IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP),
	SETSOCKOPT(IPPROTO_IPV6, IPV6_JOIN_GROUP),
	SETSOCKOPT(IPPROTO_IPV6, MCAST_JOIN_GROUP),
	SETSOCKOPT(IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP),

	/* i386 only: the arguments are behind a pointer. socket() itself is
	 * made by the shim; the rest has calls of its own since Linux 4.3. */
	SOCKETCALL(NOTIFY, EQ(0, CALL_SOCKET)),
	SOCKETCALL(NOTIFY, EQ(0, CALL_SOCKET + 1)), /* bind */
	SOCKETCALL(NOTIFY, EQ(0, CALL_SOCKET + 2)), /* connect */
	SOCKETCALL(NOTIFY, EQ(0, CALL_LISTEN)),
	SOCKETCALL(NOTIFY, EQ(0, CALL_SENDTO)),
	SOCKETCALL(NO_SYSCALL),

	/* Programs fall back from these. io_uring makes calls that no filter
	 * sees; clone3's flags are behind a pointer. */
	ROW(io_uring_setup, 425, 425, NO_SYSCALL),
	ROW(io_uring_enter, 426, 426, NO_SYSCALL),
	ROW(io_uring_register, 427, 427, NO_SYSCALL),
	ROW(clone3, 435, 435, NO_SYSCALL),

	/* New namespaces and mounts could fake the path of a binary. */
	ROW(clone, 56, 120, NOT_PERMITTED, ANY_OF(0, NAMESPACES)),
	ROW(unshare, 272, 310, NOT_PERMITTED,
	    ANY_OF(0, NAMESPACES | CLONE_NEWTIME)),
	ROW(setns, 308, 346, NOT_PERMITTED),
	ROW(mount, 165, 21, NOT_PERMITTED),
	ROW(umount, NO, 22, NOT_PERMITTED),
	ROW(umount2, 166, 52, NOT_PERMITTED),
	ROW(pivot_root, 155, 217, NOT_PERMITTED),
	ROW(open_tree, 428, 428, NOT_PERMITTED),
	ROW(move_mount, 429, 429, NOT_PERMITTED),
	ROW(fsopen, 430, 430, NOT_PERMITTED),
	ROW(fsconfig, 431, 431, NOT_PERMITTED),
	ROW(fsmount, 432, 432, NOT_PERMITTED),
	ROW(fspick, 433, 433, NOT_PERMITTED),
	ROW(mount_setattr, 442, 442, NOT_PERMITTED),
	ROW(open_tree_attr, 467, 467, NOT_PERMITTED),

	/* Other processes: their memory, descriptors and identity. */
	ROW(ptrace, 101, 26, NOT_PERMITTED),
	ROW(process_vm_readv, 310, 347, NOT_PERMITTED),
	ROW(process_vm_writev, 311, 348, NOT_PERMITTED),
	ROW(process_madvise, 440, 440, NOT_PERMITTED),
	ROW(kcmp, 312, 349, NOT_PERMITTED),
	ROW(pidfd_open, 434, 434, NOT_PERMITTED),
	ROW(pidfd_getfd, 438, 438, NOT_PERMITTED),
	ROW(pidfd_send_signal, 424, 424, NOT_PERMITTED),
	ROW(prctl, 157, 172, NOT_PERMITTED, EQ(0, PR_SET_MM)),

	/* Code that comes from no file: what runs must have a path. */
	ROW(memfd_create, 319, 356, NOT_PERMITTED, NONE_OF(1, MFD_NOEXEC_SEAL)),
	ROW(execveat, 322, 358, NOT_PERMITTED, ANY_OF(4, AT_EMPTY_PATH_FLAG)),

	/* A second listener; plain filters only narrow, and are allowed. */
	ROW(seccomp, 317, 354, NOT_PERMITTED, EQ(0, SECCOMP_SET_MODE_FILTER),
	    ANY_OF(1, SECCOMP_FILTER_FLAG_NEW_LISTENER)),

	/* Typing into somebody's terminal. */
	ROW(ioctl, 16, 54, NOT_PERMITTED, EQ(1, TIOCSTI_CMD)),
	ROW(ioctl, 16, 54, NOT_PERMITTED, EQ(1, TIOCLINUX_CMD)),

	/* The kernel itself. */
	ROW(bpf, 321, 357, NOT_PERMITTED),
	ROW(perf_event_open, 298, 336, NOT_PERMITTED),
	ROW(userfaultfd, 323, 374, NOT_PERMITTED),
	ROW(add_key, 248, 286, NOT_PERMITTED),
	ROW(request_key, 249, 287, NOT_PERMITTED),
	ROW(keyctl, 250, 288, NOT_PERMITTED),
	ROW(init_module, 175, 128, NOT_PERMITTED),
	ROW(finit_module, 313, 350, NOT_PERMITTED),
	ROW(delete_module, 176, 129, NOT_PERMITTED),
	ROW(kexec_load, 246, 283, NOT_PERMITTED),
	ROW(kexec_file_load, 320, NO, NOT_PERMITTED),
};
const size_t seccomp_n_rows = N_ELEMENTS(seccomp_rows);
