/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler promises beside libseccomp's meaning (seccomp_diff_test.c) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/audit.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/digest.h"
#include "runtime/linux/seccomp_cache.h"
#include "runtime/linux/seccomp_profile.h"
#include "runtime/linux/seccomp_sim.h"

#define OK    SECCOMP_RET_ALLOW
#define E(no) (SECCOMP_RET_ERRNO | (no))

static struct arena arena;

static struct seccomp_prog compile(const char *text)
{
	struct profile *p = arena_new(&arena, struct profile);
	struct err err = ERR_INIT;
	struct seccomp_prog prog;

	read_text(p, arena_strdup(&arena, text));
	if (seccomp_compile(&arena, &p->spec, &prog, &err) < 0)
		fail_msg("%s", err.text);
	return prog;
}

static const char *refused(const char *text)
{
	struct profile *p = arena_new(&arena, struct profile);
	static struct err err;
	struct seccomp_prog prog;

	read_text(p, arena_strdup(&arena, text));
	assert_true(seccomp_compile(&arena, &p->spec, &prog, &err) < 0);
	return err.text;
}

static uint32_t run(const struct seccomp_prog *p, uint32_t arch, uint32_t nr,
		    uint64_t a0, uint64_t a1)
{
	const struct seccomp_data d = {
		.arch = arch,
		.nr = (int)nr,
		.args = {a0, a1},
	};

	return seccomp_sim(p->insns, p->n_insns, &d);
}

static uint32_t x64(const struct seccomp_prog *p, uint32_t nr, uint64_t a0)
{
	return run(p, AUDIT_ARCH_X86_64, nr, a0, 0);
}

static void test_size(void **state)
{
	struct profile *p = arena_new(&arena, struct profile);
	struct err err = ERR_INIT;
	struct seccomp_prog prog;

	(void)state;
	read_file(&arena, p, "runtime/linux/testdata/podman.seccomp");
	assert_int_equal(seccomp_compile(&arena, &p->spec, &prog, &err), 0);
	print_message("podman's profile: %zu instructions\n", prog.n_insns);
	assert_true(prog.n_insns < 800);
	assert_false(prog.notifies);
}

static void test_newer_calls(void **state)
{
	struct seccomp_prog p = compile("default SCMP_ACT_ERRNO -\n"
					"rule SCMP_ACT_ALLOW -\n"
					"names read statmount mseal nonsense "
					"mseal uretprobe nonsense\n");

	(void)state;
	assert_int_equal(x64(&p, 457, 0), OK);
	assert_int_equal(x64(&p, 462, 0), OK);
	assert_int_equal(x64(&p, 335, 0), OK);
	assert_int_equal(x64(&p, 458, 0), E(EPERM));
	/* above all that it names */
	assert_int_equal(x64(&p, 463, 0), E(ENOSYS));
	assert_int_equal(x64(&p, UINT32_MAX, 0), E(ENOSYS));
	assert_int_equal(x64(&p, UINT32_MAX - 1, 0), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(p.n_unknown, 1);
	assert_string_equal(p.unknown[0], "nonsense");
}

static void test_defaults(void **state)
{
	struct seccomp_prog p = compile("default SCMP_ACT_ALLOW -\n"
					"rule SCMP_ACT_ERRNO 13\nnames read\n"
					"rule SCMP_ACT_TRACE -\nnames write\n"
					"rule SCMP_ACT_NOTIFY -\nnames close\n"
					"rule SCMP_ACT_LOG -\nnames stat\n");

	(void)state;
	assert_int_equal(x64(&p, 0, 0), E(EACCES));
	assert_int_equal(x64(&p, 1, 0), SECCOMP_RET_TRACE | EPERM);
	assert_int_equal(x64(&p, 3, 0), SECCOMP_RET_USER_NOTIF);
	assert_int_equal(x64(&p, 4, 0), SECCOMP_RET_LOG);
	assert_int_equal(x64(&p, 5, 0), OK);
	assert_int_equal(x64(&p, 5000, 0), OK);
	assert_true(p.notifies);
	/* no other architecture, no x32 */
	assert_int_equal(run(&p, AUDIT_ARCH_I386, 3, 0, 0),
			 SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(x64(&p, 0x40000000, 0), SECCOMP_RET_KILL_PROCESS);
}

static void test_repeated_index(void **state)
{
	struct seccomp_prog p = compile("default SCMP_ACT_ALLOW -\n"
					"rule SCMP_ACT_ERRNO -\n"
					"arg 0 SCMP_CMP_EQ 2 0\n"
					"arg 0 SCMP_CMP_EQ 16 0\n"
					"arg 1 SCMP_CMP_EQ 7 0\n"
					"names socket\n");

	(void)state;
	assert_int_equal(x64(&p, 41, 2), E(EPERM));
	assert_int_equal(x64(&p, 41, 16), E(EPERM));
	assert_int_equal(x64(&p, 41, 3), OK);
	assert_int_equal(run(&p, AUDIT_ARCH_X86_64, 41, 3, 7), E(EPERM));
}

static void test_first_rule_wins(void **state)
{
	struct seccomp_prog p = compile(
		"default SCMP_ACT_ERRNO -\n"
		"rule SCMP_ACT_ALLOW -\narg 0 SCMP_CMP_LE 5 0\nnames kill\n"
		"rule SCMP_ACT_TRAP -\narg 0 SCMP_CMP_EQ 5 0\nnames kill\n"
		"rule SCMP_ACT_LOG -\narg 0 SCMP_CMP_GE 9 0\nnames kill\n"
		"rule SCMP_ACT_ALLOW -\narg 0 SCMP_CMP_EQ 1 0\nnames read\n"
		"rule SCMP_ACT_TRAP -\nnames read\n");

	(void)state;
	assert_int_equal(x64(&p, 62, 5), OK);
	assert_int_equal(x64(&p, 62, 6), E(EPERM));
	assert_int_equal(x64(&p, 62, 9), SECCOMP_RET_LOG);
	/* one without arguments replaces those with */
	assert_int_equal(x64(&p, 0, 1), SECCOMP_RET_TRAP);
}

/* i386: socket() itself is 359, in socketcall() it is number 1. */
static void test_multiplexed(void **state)
{
	struct seccomp_prog deny =
		compile("default SCMP_ACT_ALLOW -\narch SCMP_ARCH_X86\n"
			"rule SCMP_ACT_ERRNO -\narg 0 SCMP_CMP_EQ 40 0\n"
			"names socket\n"
			"rule SCMP_ACT_ERRNO 13\nnames semget\n");
	struct seccomp_prog allow =
		compile("default SCMP_ACT_ERRNO -\narch SCMP_ARCH_X86\n"
			"rule SCMP_ACT_ALLOW -\narg 0 SCMP_CMP_EQ 2 0\n"
			"names socket\n"
			"rule SCMP_ACT_ALLOW -\nnames connect\n");
	const uint32_t i386 = AUDIT_ARCH_I386;

	(void)state;
	assert_int_equal(run(&deny, i386, 359, 40, 0), E(EPERM));
	assert_int_equal(run(&deny, i386, 359, 2, 0), OK);
	/* the domain can't be seen: refused */
	assert_int_equal(run(&deny, i386, 102, 1, 0), E(EPERM));
	assert_int_equal(run(&deny, i386, 102, 2, 0), OK);
	assert_int_equal(run(&deny, i386, 117, 2, 0), E(EACCES));
	assert_int_equal(run(&deny, i386, 393, 0, 0), E(EACCES));
	assert_int_equal(run(&allow, i386, 359, 2, 0), OK);
	assert_int_equal(run(&allow, i386, 102, 1, 0), E(EPERM));
	assert_int_equal(run(&allow, i386, 102, 3, 0), OK);
	assert_int_equal(run(&allow, i386, 362, 0, 0), OK);
}

static void test_big_endian(void **state)
{
	struct seccomp_prog p =
		compile("default SCMP_ACT_ERRNO -\narch SCMP_ARCH_S390X\n"
			"rule SCMP_ACT_ALLOW -\n"
			"arg 0 SCMP_CMP_EQ 4294967298 0\nnames read\n");
	/* high half first, as this machine's words */
	uint64_t swapped = UINT64_C(2) << 32 | 1;

	(void)state;
	assert_int_equal(run(&p, AUDIT_ARCH_S390X, 3, swapped, 0), OK);
	assert_int_equal(run(&p, AUDIT_ARCH_S390X, 3, 4294967298, 0), E(EPERM));
	assert_int_equal(x64(&p, 0, 4294967298), OK);
}

static void test_all_archs(void **state)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	struct seccomp_prog p;

	(void)state;
	strbuf_adds(&text, "default SCMP_ACT_ERRNO -\n");
	for (size_t i = 0; seccomp_arch_row(i); i++)
		strbuf_addf(&text, "arch %s\n", seccomp_arch_row(i)->name);
	strbuf_adds(&text, "rule SCMP_ACT_ALLOW -\nnames getpid\n");
	p = compile(text.s);
	for (size_t i = 0; seccomp_arch_row(i); i++) {
		const struct seccomp_arch *arch = seccomp_arch_row(i);
		uint32_t nr;
		bool known;

		if (!arch->scmp) {
			assert_int_equal(run(&p, arch->audit, 20, 0, 0),
					 SECCOMP_RET_KILL_PROCESS);
			continue;
		}
		assert_true(seccomp_arch_resolve(arch, "getpid", &nr, &known));
		assert_int_equal(run(&p, arch->audit, nr, 0, 0), OK);
		assert_int_equal(run(&p, arch->audit, nr - 1, 0, 0), E(EPERM));
		assert_int_equal(run(&p, arch->audit, nr + 1, 0, 0), E(ENOSYS));
	}
	/* what libseccomp 2.5 does not have: LoongArch, m68k, SuperH */
	assert_int_equal(p.n_unknown, 4);
}

static void test_refused(void **state)
{
	(void)state;
	assert_string_equal(refused("default SCMP_ACT_MAYBE -\n"),
			    "unknown seccomp action SCMP_ACT_MAYBE");
	assert_string_equal(refused("default SCMP_ACT_NOTIFY -\n"),
			    "SCMP_ACT_NOTIFY cannot be used as default action");
	assert_string_equal(
		refused("default SCMP_ACT_ALLOW -\n"
			"rule SCMP_ACT_NOTIFY -\nnames read write\n"),
		"SCMP_ACT_NOTIFY cannot be used for the write syscall");
	assert_string_equal(
		refused("default SCMP_ACT_ALLOW 5\n"),
		"seccomp action SCMP_ACT_ALLOW does not take errnoRet");
	assert_string_equal(refused("default SCMP_ACT_ERRNO 4096\n"),
			    "seccomp errnoRet 4096: too large");
	assert_string_equal(refused("default SCMP_ACT_ALLOW -\n"
				    "arch SCMP_ARCH_VAX\n"),
			    "unknown seccomp architecture SCMP_ARCH_VAX");
	assert_string_equal(refused("default SCMP_ACT_ALLOW -\n"
				    "rule SCMP_ACT_TRAP -\n"
				    "arg 6 SCMP_CMP_EQ 0 0\nnames read\n"),
			    "seccomp argument index 6: not 0 to 5");
	assert_string_equal(refused("default SCMP_ACT_ALLOW -\n"
				    "rule SCMP_ACT_TRAP -\n"
				    "arg 0 SCMP_CMP_XOR 0 0\nnames read\n"),
			    "unknown seccomp operator SCMP_CMP_XOR");
}

/* ------------------------------------------------------------------ cache */

static struct digest digest_of_text(const char *text)
{
	struct profile *p = arena_new(&arena, struct profile);
	struct digest d;

	read_text(p, arena_strdup(&arena, text));
	seccomp_spec_digest(&p->spec, &d);
	return d;
}

static void test_digest(void **state)
{
	static const char *const texts[] = {
		"default SCMP_ACT_ERRNO -\nrule SCMP_ACT_ALLOW -\nnames read\n",
		"default SCMP_ACT_ERRNO 1\nrule SCMP_ACT_ALLOW -\nnames read\n",
		"default SCMP_ACT_ERRNO -\nrule SCMP_ACT_LOG -\nnames read\n",
		"default SCMP_ACT_ERRNO -\nrule SCMP_ACT_ALLOW -\nnames rea d\n",
		"default SCMP_ACT_ERRNO -\narch SCMP_ARCH_X86\n"
		"rule SCMP_ACT_ALLOW -\nnames read\n",
		"default SCMP_ACT_ERRNO -\nrule SCMP_ACT_ALLOW -\n"
		"arg 0 SCMP_CMP_EQ 0 0\nnames read\n",
		"default SCMP_ACT_ERRNO -\nrule SCMP_ACT_ALLOW -\n"
		"arg 0 SCMP_CMP_EQ 0 1\nnames read\n",
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(texts); i++)
		for (size_t k = 0; k < N_ELEMENTS(texts); k++) {
			struct digest x = digest_of_text(texts[i]);
			struct digest y = digest_of_text(texts[k]);

			assert_int_equal(memcmp(&x, &y, sizeof(x)) == 0,
					 i == k);
		}
}

static int load(int dir_fd, const struct digest *key, struct seccomp_prog *p,
		bool *found)
{
	struct err err = ERR_INIT;

	return seccomp_cache_load(&arena, dir_fd, key, p, found, &err);
}

/* Each byte of the file, changed, must be noticed. */
static void flip_bytes(int dir_fd, const char *name, const struct digest *key)
{
	own_close int fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC);
	struct seccomp_prog p;
	struct stat st;
	bool found;
	char c;

	assert_int_equal(fstat(fd, &st), 0);
	for (off_t i = 0; i < st.st_size; i++) {
		assert_int_equal(pread(fd, &c, 1, i), 1);
		c = (char)~c;
		assert_int_equal(pwrite(fd, &c, 1, i), 1);
		assert_int_equal(load(dir_fd, key, &p, &found), -EBADMSG);
		assert_false(found);
		c = (char)~c;
		assert_int_equal(pwrite(fd, &c, 1, i), 1);
	}
	assert_int_equal(load(dir_fd, key, &p, &found), 0);
	assert_true(found);
	assert_int_equal(ftruncate(fd, st.st_size - 1), 0);
	assert_int_equal(load(dir_fd, key, &p, &found), -EBADMSG);
	assert_int_equal(ftruncate(fd, st.st_size), 0);
	assert_int_equal(fchmod(fd, 0620), 0);
	assert_int_equal(load(dir_fd, key, &p, &found), -EBADMSG);
}

static void test_cache(void **state)
{
	static const char text[] = "default SCMP_ACT_ERRNO -\n"
				   "rule SCMP_ACT_NOTIFY -\n"
				   "names read nonsense more_nonsense\n";
	struct seccomp_prog p = compile(text), q;
	struct digest key = digest_of_text(text);
	char dir[] = "/tmp/osh-seccomp-XXXXXX", hex[DIGEST_HEX];
	own_close int dir_fd = -EBADF;
	struct err err = ERR_INIT;
	bool found;
	char *name;

	(void)state;
	assert_non_null(mkdtemp(dir));
	dir_fd = openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	digest_hex(&key, hex);
	name = arena_printf(&arena, "%s.bpf", hex);
	assert_int_equal(load(dir_fd, &key, &q, &found), 0);
	assert_false(found);
	assert_int_equal(seccomp_cache_store(dir_fd, &key, &p, &err), 0);
	assert_int_equal(load(dir_fd, &key, &q, &found), 0);
	assert_true(found);
	assert_true(q.notifies);
	assert_int_equal(q.n_insns, p.n_insns);
	assert_memory_equal(q.insns, p.insns, p.n_insns * sizeof(*p.insns));
	assert_int_equal(q.n_unknown, 2);
	assert_string_equal(q.unknown[1], "more_nonsense");
	flip_bytes(dir_fd, name, &key);
	unlinkat(dir_fd, name, 0);
	assert_int_equal(symlinkat("/dev/null", dir_fd, name), 0);
	assert_int_equal(load(dir_fd, &key, &q, &found), -ELOOP);
	unlinkat(dir_fd, name, 0);
	assert_int_equal(rmdir(dir), 0);
}

static int done(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_newer_calls),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_repeated_index),
		cmocka_unit_test(test_first_rule_wins),
		cmocka_unit_test(test_multiplexed),
		cmocka_unit_test(test_big_endian),
		cmocka_unit_test(test_all_archs),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_digest),
		cmocka_unit_test(test_cache),
	};

	return cmocka_run_group_tests(tests, NULL, done);
}
