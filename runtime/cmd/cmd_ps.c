/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/container/lifecycle.h"

struct ps_options {
	const char *format;
};

const struct option_row cmd_ps_options[] = {
	{ "format", 'f', OPTION_STRING, offsetof(struct ps_options, format),
	  "table|json", "how to print (default table)" },
	{ .name = NULL },
};

static int print_json(const pid_t *pids, size_t n)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);

	json_array(&j, NULL);
	for (size_t i = 0; i < n; i++)
		json_i64(&j, NULL, pids[i]);
	json_end(&j);
	printf("%s\n", sb.s);
	return 0;
}

static bool listed(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Which word of the heading is PID, counted from 0; -1: none. */
static int pid_column(const char *line)
{
	int column = 0;

	for (;;) {
		size_t n;

		line += strspn(line, " \t");
		n = strcspn(line, " \t\n");
		if (!n)
			return -1;
		if (n == 3 && !strncmp(line, "PID", 3))
			return column;
		line += n;
		column++;
	}
}

static bool row_is_listed(const char *line, int column, const pid_t *pids,
			  size_t n)
{
	char word[16];
	uint32_t pid;
	size_t len;

	for (int i = 0;; i++) {
		line += strspn(line, " \t");
		len = strcspn(line, " \t\n");
		if (!len)
			return false;
		if (i == column)
			break;
		line += len;
	}
	if (len >= sizeof(word))
		return false;
	memcpy(word, line, len);
	word[len] = '\0';
	return num_parse_u32(word, INT32_MAX, &pid) == 0 &&
	       listed(pids, n, (pid_t)pid);
}

/* ps(1)'s own table, less the rows of others: any of its options work. */
static int print_table(const pid_t *pids, size_t n, int argc, char **argv)
{
	own_file FILE *f = NULL;
	own_free char *line = NULL;
	size_t size = 0;
	int fd[2], status, column = -1;
	pid_t child;

	if (pipe2(fd, O_CLOEXEC) < 0)
		goto fail;
	child = fork();
	if (child == 0) {
		static char name[] = "ps", all[] = "-ef";
		static char *plain[] = { name, all, NULL };

		if (dup2(fd[1], STDOUT_FILENO) >= 0)
			execvp("ps", argc > 0 ? argv - 1 : plain);
		_exit(127);
	}
	close(fd[1]);
	f = fdopen(fd[0], "r");
	if (child < 0 || !f)
		goto fail;
	while (getline(&line, &size, f) > 0) {
		if (column < 0) {
			column = pid_column(line);
			if (column < 0)
				break;
			fputs(line, stdout);
		} else if (row_is_listed(line, column, pids, n)) {
			fputs(line, stdout);
		}
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (column < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		log_error("list processes: ps failed, or its table has no PID "
			  "column");
		return 1;
	}
	return 0;
fail:
	log_error("list processes: run ps: %s", err_text(errno));
	return 1;
}

int cmd_ps(struct cmd_global *g, int argc, char **argv)
{
	static char name[] = "ps";
	struct ps_options o = { 0 };
	struct err err;
	pid_t *pids;
	size_t n;
	int i = cmd_parse(g, "ps", argc, argv, &o, 1, -1);

	if (i < 0)
		return 1;
	if (o.format && !str_eq(o.format, "json") && !str_eq(o.format, "table"))
		return cmd_usage("ps", "--format is table or json");
	if (container_pids(g->arena, g->root, argv[i], &pids, &n, &err) < 0)
		return cmd_fail(&err);
	if (o.format && str_eq(o.format, "json"))
		return print_json(pids, n);
	/* the word before ps's own options becomes its argv[0] */
	argv[i] = name;
	return print_table(pids, n, argc - i - 1, argv + i + 1);
}
