/* SPDX-License-Identifier: Apache-2.0 */
/* The writer against the reader, in a folder of the test's own. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "shim/log/journal.h"

static char dir[64];
static struct journal journal;

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/journal-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static void remove_files(const char *id)
{
	char name[DECISION_LOG_NAME_BYTES], path[400];

	for (unsigned int n = 0; n <= DECISION_LOG_KEPT + 1; n++) {
		assert_true(decision_log_file(id, n, name));
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		unlink(path);
	}
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void open_journal(const char *id, uint64_t max_bytes)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = ERR_INIT;

	assert_true(fd >= 0);
	if (journal_open(&journal, fd, id, max_bytes, &err) < 0)
		fail_msg("%s", err.text);
}

static void write_deny(const char *host, enum reason reason)
{
	struct journal_record r = { .kind = LOG_CONNECT,
				    .verdict = LOG_DENY,
				    .reason = reason,
				    .binary = { .path = "/usr/bin/curl",
						.pid = 7 },
				    .dest = { .host = host,
					      .port = 443,
					      .has_port = true } };
	struct err err = ERR_INIT;

	if (journal_write(&journal, &r, &err) < 0)
		fail_msg("%s", err.text);
}

static void write_allow(const char *host)
{
	struct journal_record r = { .kind = LOG_CONNECT,
				    .verdict = LOG_ALLOW,
				    .reason = REASON_ALLOWED,
				    .dest = { .host = host } };
	struct err err = ERR_INIT;

	assert_int_equal(journal_write(&journal, &r, &err), 0);
}

/* All lines of file number @n of @id; NULL when it is not there. */
static char *slurp(struct arena *a, const char *id, unsigned int n,
		   size_t *ret_len)
{
	char name[DECISION_LOG_NAME_BYTES], path[400];
	struct err err = ERR_INIT;
	char *data;

	assert_true(decision_log_file(id, n, name));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (io_read_file(a, AT_FDCWD, path, 64 << 20, &data, ret_len, &err) <
	    0)
		return NULL;
	return data;
}

/* Walks all files, oldest first; collects the text; returns the lines. */
static uint64_t walk(const char *id, struct strbuf *text, struct err *err)
{
	struct decision_log_verify v = { .id = id };
	own_arena struct arena a = ARENA_INIT;

	for (unsigned int n = DECISION_LOG_KEPT + 1; n-- > 0;) {
		size_t len;
		char *data = slurp(&a, id, n, &len), *end;

		for (char *p = data; p && p < data + len; p = end + 1) {
			end = memchr(p, '\n', (size_t)(data + len - p));
			assert_non_null(end);
			if (decision_log_verify(&v, p, (size_t)(end - p),
						err) < 0)
				return 0;
			if (decision_log_text(p, (size_t)(end - p), text,
					      err) < 0)
				return 0;
			strbuf_addc(text, '\n');
		}
	}
	return v.n;
}

static void test_format(void **state)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	struct stat st;
	char path[128];
	char *line;
	size_t len;

	(void)state;
	open_journal("agent-7f2a", 0);
	write_deny("collect.example.net", REASON_HOST_NOT_IN_ALLOWLIST);
	journal_close(&journal);
	line = slurp(&a, "agent-7f2a", 0, &len);
	assert_non_null(line);
	assert_non_null(strstr(line, "{\"seq\":1,\"time\":\"2"));
	assert_non_null(
		strstr(line,
		       "\"sandbox\":\"agent-7f2a\",\"kind\":\"connect\","
		       "\"verdict\":\"deny\","
		       "\"reason\":\"host-not-in-allowlist\",\"binary\":"
		       "{\"path\":\"/usr/bin/curl\",\"pid\":7},\"dest\":"
		       "{\"host\":\"collect.example.net\",\"port\":443},"
		       "\"prev\":\""));
	assert_int_equal(walk("agent-7f2a", &text, &err), 1);
	/* the document's own example */
	assert_string_equal(
		text.s, "DENY  sandbox=agent-7f2a  binary=/usr/bin/curl  "
			"dest=collect.example.net:443  "
			"reason=host-not-in-allowlist\n");
	snprintf(path, sizeof(path), "%s/agent-7f2a.jsonl", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	remove_files("agent-7f2a");
}

static void test_alike_are_one(void **state)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	struct err err = ERR_INIT;

	(void)state;
	open_journal("c", 0);
	for (int i = 0; i < 1000; i++)
		write_deny("a.example", REASON_HOST_NOT_IN_ALLOWLIST);
	write_deny("b.example", REASON_HOST_NOT_IN_ALLOWLIST);
	assert_int_equal(journal.seq, 2);
	assert_int_equal(journal.n_denied, 1001);
	journal_close(&journal);
	assert_int_equal(walk("c", &text, &err), 3);
	assert_non_null(strstr(text.s, "count=999"));
	remove_files("c");
}

static void test_flood(void **state)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	struct err err = ERR_INIT;
	uint64_t n;

	(void)state;
	open_journal("fl", 1 << 20);
	for (int i = 0; i < 3 * SHIM_LOG_BURST; i++) {
		char host[32];

		snprintf(host, sizeof(host), "h%d.example", i);
		write_deny(host, REASON_HOST_NOT_IN_ALLOWLIST);
	}
	/* the burst, and what a few seconds on a slow machine add */
	assert_true(journal.seq >= SHIM_LOG_BURST);
	assert_true(journal.seq <= 2 * SHIM_LOG_BURST);
	n = journal.n_suppressed;
	assert_true(n >= SHIM_LOG_BURST);
	write_allow("allowed.example"); /* always on file */
	journal_close(&journal);
	assert_true(walk("fl", &text, &err) > 0);
	assert_non_null(strstr(text.s, "denials in a flood"));
	assert_non_null(strstr(text.s, "dest=allowed.example"));
	remove_files("fl");
}

static void test_chain_goes_on(void **state)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	struct err err = ERR_INIT;
	char path[128], host[32];
	int fd;

	(void)state;
	/* through rotation, a restart, and a torn record */
	open_journal("r", 600);
	for (int i = 0; i < 5; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		write_deny(host, REASON_PORT_NOT_ALLOWED);
	}
	journal_close(&journal);
	snprintf(path, sizeof(path), "%s/r.jsonl", dir);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "{\"seq\":6,\"ti", 12), 12);
	close(fd);
	open_journal("r", 600);
	assert_int_equal(journal.seq, 5);
	write_deny("last.example", REASON_PORT_NOT_ALLOWED);
	journal_close(&journal);
	if (walk("r", &text, &err) != 6)
		fail_msg("%s", err.text);

	/* a newest file that got no record yet */
	assert_int_equal(truncate(path, 0), 0);
	open_journal("r", 600);
	write_deny("x.example", REASON_PORT_NOT_ALLOWED);
	journal_close(&journal);
	strbuf_reset(&text);
	assert_true(walk("r", &text, &err) > 0);
	remove_files("r");
}

static void test_tampering_shows(void **state)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	own_arena struct arena a = ARENA_INIT;
	struct err err = ERR_INIT;
	char path[128];
	char *data, *at;
	size_t len;

	(void)state;
	open_journal("t", 0);
	write_deny("a.example", REASON_PORT_NOT_ALLOWED);
	write_deny("b.example", REASON_PORT_NOT_ALLOWED);
	write_deny("c.example", REASON_PORT_NOT_ALLOWED);
	journal_close(&journal);
	snprintf(path, sizeof(path), "%s/t.jsonl", dir);
	data = slurp(&a, "t", 0, &len);

	at = strstr(data, "b.example");
	*at = 'x'; /* an edit */
	assert_int_equal(io_write_file(AT_FDCWD, path, O_TRUNC, data, len), 0);
	assert_int_equal(walk("t", &text, &err), 0);
	assert_non_null(strstr(err.text, "record 3"));
	*at = 'b';

	at = strchr(data, '\n') + 1; /* a missing line */
	assert_int_equal(io_write_file(AT_FDCWD, path, O_TRUNC, data,
				       (size_t)(at - data)),
			 0);
	at = strchr(at, '\n') + 1;
	assert_int_equal(io_write_file(AT_FDCWD, path, O_APPEND, at,
				       len - (size_t)(at - data)),
			 0);
	assert_int_equal(walk("t", &text, &err), 0);
	assert_non_null(strstr(err.text, "record 3: follows on record 1"));
	remove_files("t");
}

static void test_finding(void **state)
{
	own_strbuf struct strbuf text = STRBUF_HEAP;
	struct err err = ERR_INIT;

	(void)state;
	open_journal("f", 0);
	/* before the first read from outside they don't count */
	write_deny("z.example", REASON_NAME_NOT_ALLOWED);
	write_allow("api.example");
	write_deny("a.example", REASON_NAME_NOT_ALLOWED);
	write_deny("b.example", REASON_NAME_NOT_ALLOWED);
	write_deny("b.example", REASON_HOST_NOT_IN_ALLOWLIST);
	write_deny("api.example", REASON_PORT_NOT_ALLOWED); /* it is listed */
	assert_int_equal(journal.told, 0);
	write_deny("c.example", REASON_HOST_NOT_IN_ALLOWLIST);
	write_deny("d.example", REASON_HOST_NOT_IN_ALLOWLIST);
	journal_close(&journal);
	assert_true(walk("f", &text, &err) > 0);
	assert_non_null(strstr(text.s, "FINDING  sandbox=f"));
	assert_non_null(
		strstr(text.s, ": a.example b.example c.example\""));
	assert_null(strstr(strstr(text.s, "FINDING") + 1, "FINDING"));
	remove_files("f");
}

static void test_full_disk(void **state)
{
	struct journal_record r = { .kind = LOG_CONNECT,
				    .verdict = LOG_ALLOW,
				    .reason = REASON_ALLOWED,
				    .dest = { .host = "a.example" } };
	own_strbuf struct strbuf text = STRBUF_HEAP;
	struct err err = ERR_INIT;
	int real;

	(void)state;
	open_journal("d", 0);
	write_deny("before.example", REASON_PORT_NOT_ALLOWED);
	real = journal.fd;
	journal.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(journal.fd >= 0);
	assert_true(journal_write(&journal, &r, &err) < 0);
	close(journal.fd);
	journal.fd = real;
	write_deny("after.example", REASON_PORT_NOT_ALLOWED);
	journal_close(&journal);
	if (walk("d", &text, &err) != 3)
		fail_msg("%s", err.text);
	assert_non_null(strstr(text.s, "1 records could not be written"));
	remove_files("d");
}

static void test_names(void **state)
{
	char name[DECISION_LOG_NAME_BYTES];

	(void)state;
	assert_true(decision_log_file("a.b-c_d+9", 3, name));
	assert_string_equal(name, "a.b-c_d+9.jsonl.3");
	assert_false(decision_log_file("", 0, name));
	assert_false(decision_log_file("..", 0, name));
	assert_false(decision_log_file("a/b", 0, name));
	assert_false(decision_log_file("a\nb", 0, name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_alike_are_one),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_chain_goes_on),
		cmocka_unit_test(test_tampering_shows),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
