/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test's own executable, copied, plays the sandbox's binaries: started
 * with an argument it only waits, or waits for a child that waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/build.h"
#include "runtime/policy/policy.h"
#include "shim/notify/identity.h"

static char dir[64], tool[128], other[128], glob[128];
static struct arena arena;
static struct policy policy;
static struct binary_table table;
static struct identity id;
static int proc_fd;

enum { TOOL, GLOB, OTHER }; /* numbers of the policy's binaries */

static void copy_self(const char *to, const char *tail)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	do {
		n = sendfile(out, in, NULL, 1 << 20);
	} while (n > 0);
	assert_int_equal(n, 0);
	assert_int_equal(write(out, tail, strlen(tail)), strlen(tail));
	close(in);
	close(out);
}

static void build_policy(void)
{
	struct policy_build b;
	struct err err = ERR_INIT;
	void *data;
	size_t len;

	policy_build_init(&b, &arena);
	policy_build_entry(&b, "e", "e", 1, 0);
	policy_build_endpoint(&b, POLICY_HOST_EXACT, "a.example", 2, 1);
	policy_build_port(&b, 443);
	policy_build_binary(&b, tool, 3);
	policy_build_binary(&b, glob, 4);
	policy_build_binary(&b, other, 5);
	if (policy_build_finish(&b, &data, &len, &err) < 0 ||
	    policy_load(data, len, &policy, &err) < 0)
		fail_msg("%s", err.text);
}

static int setup(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/identity-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(tool, sizeof(tool), "%s/tool", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(glob, sizeof(glob), "%s/*-agent", dir);
	copy_self(tool, "");
	arena_init(&arena);
	build_policy();
	assert_int_equal(binary_table_init(&table, &policy, &err), 0);
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	memset(&id, 0, sizeof(id));
	id.proc_fd = proc_fd;
	id.table[0] = &table;
	id.init_pid = getpid();
	return 0;
}

static int teardown(void **state)
{
	char cmd[160];

	(void)state;
	binary_table_done(&table);
	arena_done(&arena);
	close(proc_fd);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "tool", "other",
						     "new", "x-agent" };

		snprintf(cmd, sizeof(cmd), "%s/%s", dir, names[i]);
		unlink(cmd);
	}
	return rmdir(dir);
}

/* Start @path and wait until it is what runs. */
static pid_t start(const char *path, const char *child)
{
	int ready[2];
	char byte, fd[16];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	snprintf(fd, sizeof(fd), "%d", ready[1]);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, "wait", fd, child, NULL);
		_exit(127);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool matches(pid_t pid, uint32_t binary)
{
	assert_true(identity_read(&id, pid));
	return id.decide.matches(&id.decide, &policy, binary);
}

static void resolve(uint32_t binary, const char *path)
{
	struct binary_row *row = &table.row[binary];
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	row->resolved = true;
	row->pinned = false;
	row->has_stat = true;
	row->file = file_id_of(&st);
}

static void test_resolved(void **state)
{
	pid_t pid = start(tool, NULL);

	(void)state;
	resolve(TOOL, tool);
	assert_true(matches(pid, TOOL));
	assert_false(matches(pid, OTHER));
	assert_false(matches(pid, 99));
	assert_string_equal(id.process[0].path, tool);
	stop(pid);
}

/* Its name leads to another file, with another content. */
static void test_replaced(void **state)
{
	char new[128];
	pid_t pid;

	(void)state;
	resolve(TOOL, tool);
	pid = start(tool, NULL);
	assert_true(matches(pid, TOOL));
	stop(pid);
	snprintf(new, sizeof(new), "%s/new", dir);
	copy_self(new, "x");
	assert_int_equal(rename(new, tool), 0);
	pid = start(tool, NULL);
	assert_false(matches(pid, TOOL));
	assert_true(id.changed);
	stop(pid);
	/* the same content again, in yet another file: as it was */
	copy_self(new, "");
	assert_int_equal(rename(new, tool), 0);
	pid = start(tool, NULL);
	assert_true(matches(pid, TOOL));
	assert_false(id.changed);
	stop(pid);
}

/* The same file, written to. */
static void test_written(void **state)
{
	pid_t pid;

	(void)state;
	resolve(TOOL, tool);
	pid = start(tool, NULL);
	assert_true(matches(pid, TOOL));
	stop(pid);
	copy_self(tool, "y");
	pid = start(tool, NULL);
	assert_false(matches(pid, TOOL));
	assert_true(id.changed);
	stop(pid);
	/* and before its first use */
	resolve(TOOL, tool);
	copy_self(tool, "zz");
	pid = start(tool, NULL);
	assert_false(matches(pid, TOOL));
	assert_true(id.changed);
	stop(pid);
}

/* A chmod changes the file's state and not its content. */
static void test_chmod(void **state)
{
	pid_t pid;

	(void)state;
	resolve(TOOL, tool);
	pid = start(tool, NULL);
	assert_true(matches(pid, TOOL));
	assert_int_equal(chmod(tool, 0700), 0);
	assert_true(matches(pid, TOOL));
	stop(pid);
}

static void test_by_path(void **state)
{
	char agent[128];
	pid_t pid;

	(void)state;
	snprintf(agent, sizeof(agent), "%s/x-agent", dir);
	copy_self(agent, "");
	pid = start(agent, NULL);
	assert_true(matches(pid, GLOB));
	assert_false(matches(pid, OTHER));
	stop(pid);
	assert_int_equal(table.n_pins, 1);
	copy_self(agent, "evil");
	pid = start(agent, NULL);
	assert_false(matches(pid, GLOB));
	assert_true(id.changed);
	stop(pid);
	/* a name that did not exist at create */
	copy_self(other, "");
	pid = start(other, NULL);
	assert_true(matches(pid, OTHER));
	stop(pid);
	/* full: refused, and said so */
	table.n_pins = SHIM_PINS_MAX;
	memset(table.pin, 0, sizeof(table.pin));
	pid = start(other, NULL);
	assert_false(matches(pid, OTHER));
	assert_true(id.full);
	stop(pid);
}

static int child_of(pid_t pid)
{
	char path[64], buf[64];
	FILE *f;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	assert_non_null(f);
	if (fgets(buf, sizeof(buf), f))
		child = (int)strtol(buf, NULL, 10);
	fclose(f);
	return child;
}

/* The child is another binary; its parent is the one that may. */
static void test_ancestor(void **state)
{
	pid_t parent, child;

	(void)state;
	copy_self(other, "o");
	resolve(TOOL, tool);
	parent = start(tool, other);
	child = child_of(parent);
	assert_true(child > 0);
	assert_true(matches(child, TOOL));
	assert_string_equal(id.process[0].path, other);
	assert_true(id.decide.n_ancestors >= 2);
	assert_string_equal(id.decide.ancestors[0], tool);
	/* the walk ends at init: the parent is beyond */
	id.init_pid = child;
	assert_false(matches(child, TOOL));
	stop(parent);
}

static void test_nobody(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	/* a zombie has no executable */
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 },
				WEXITED | WNOWAIT),
			 0);
	assert_false(identity_read(&id, pid));
	assert_false(id.process[0].known);
	stop(pid);
}

/* argv: wait FD [CHILD]: tells FD that it runs, and waits. */
static int wait_here(int argc, char **argv)
{
	int fd = (int)strtol(argv[2], NULL, 10);
	pid_t pid;

	if (argc > 3) {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl(argv[3], argv[3], "wait", argv[2], NULL);
			_exit(127);
		}
	} else if (write(fd, "r", 1) != 1) {
		return 1;
	}
	close(fd);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_resolved, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_replaced, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chmod, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ancestor, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_nobody, setup, teardown),
	};

	if (argc > 2)
		return wait_here(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
