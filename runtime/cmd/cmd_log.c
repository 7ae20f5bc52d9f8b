/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision log of a container, for people (text), for programs (json:
 * the lines as they are), and for auditors (--verify: the hash chain).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/log.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/cmd/cmd.h"
#include "runtime/container/blueprint.h"
#include "runtime/container/store.h"
#include "runtime/policy/decision_log.h"

struct log_options {
	const char *format;
	bool follow, verify;
};

#define LOG_OPTION(member) offsetof(struct log_options, member)

const struct option_row cmd_log_options[] = {
	{ "follow", 'f', OPTION_FLAG, LOG_OPTION(follow), NULL,
	  "go on until interrupted" },
	{ "format", 0, OPTION_STRING, LOG_OPTION(format), "text|json",
	  "how to print (default text)" },
	{ "verify", 0, OPTION_FLAG, LOG_OPTION(verify), NULL,
	  "check the chain instead of printing" },
	{ .name = NULL },
};

/* What is done with each line; the state of a walk. */
struct reader {
	int dir_fd; /* owned */
	const char *dir;
	const char *id;
	bool json, verify;
	unsigned int oldest; /* number of the oldest file */
	struct decision_log_verify chain;
	char *line; /* owned by getline */
	size_t size;
};

static int on_line(struct reader *r, size_t n, struct err *err)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	int e;

	if (r->verify) {
		e = decision_log_verify(&r->chain, r->line, n, err);
		return e < 0 ? err_wrap(err, "verify log %s", r->id) : 0;
	}
	if (r->json) {
		fwrite(r->line, 1, n, stdout);
	} else {
		e = decision_log_text(r->line, n, &sb, err);
		if (e < 0)
			return err_wrap(err, "print log %s", r->id);
		fwrite(sb.s, 1, sb.len, stdout);
	}
	putchar('\n');
	return 0;
}

/* Whole lines only: one that is still being written comes later. */
static int read_lines(struct reader *r, FILE *f, struct err *err)
{
	for (;;) {
		long at = ftell(f);
		ssize_t n = getline(&r->line, &r->size, f);
		int e;

		if (n <= 0) {
			clearerr(f);
			break;
		}
		if (r->line[n - 1] != '\n') {
			fseek(f, at, SEEK_SET);
			break;
		}
		e = on_line(r, (size_t)n - 1, err);
		if (e < 0)
			return e;
	}
	fflush(stdout);
	return 0;
}

static int open_log(const struct reader *r, unsigned int n, FILE **ret_file,
		    struct err *err)
{
	char name[DECISION_LOG_NAME_BYTES];
	int fd;

	*ret_file = NULL;
	if (!decision_log_file(r->id, n, name))
		return err_set(err, EINVAL, "open log: bad container id '%s'",
			       r->id);
	fd = openat(r->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, errno, "open %s/%s", r->dir, name);
	*ret_file = fdopen(fd, "r");
	if (!*ret_file) {
		close(fd);
		return err_errno(err, errno, "open %s/%s", r->dir, name);
	}
	return 0;
}

/* The rotated files, oldest first, then the newest, which stays open. */
static int read_all(struct reader *r, FILE **ret_newest, struct err *err)
{
	bool some = false;

	for (unsigned int n = DECISION_LOG_KEPT + 1; n-- > 0;) {
		FILE *f;
		int e = open_log(r, n, &f, err);

		if (e < 0)
			return e;
		if (!f)
			continue;
		if (!some)
			r->oldest = n;
		some = true;
		e = read_lines(r, f, err);
		if (n == 0 && e == 0)
			*ret_newest = f;
		else
			fclose(f);
		if (e < 0)
			return e;
	}
	if (!some)
		return err_set(err, ENOENT,
			       "open log: container %s has none in %s", r->id,
			       r->dir);
	return 0;
}

static bool same_file(FILE *f, const struct reader *r)
{
	char name[DECISION_LOG_NAME_BYTES];
	struct stat a, b;

	return fstat(fileno(f), &a) == 0 && decision_log_file(r->id, 0, name) &&
	       fstatat(r->dir_fd, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static int follow(struct reader *r, FILE *f, struct err *err)
{
	own_close int watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int e = 0;

	if (watch_fd < 0 ||
	    inotify_add_watch(watch_fd, r->dir, IN_MODIFY | IN_CREATE |
							IN_MOVED_TO) < 0) {
		fclose(f);
		return err_errno(err, errno, "watch %s", r->dir);
	}
	while (e == 0) {
		struct pollfd p = { .fd = watch_fd, .events = POLLIN };
		char events[4096];

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		while (read(watch_fd, events, sizeof(events)) > 0)
			;
		e = read_lines(r, f, err);
		/* rotated: the rest of the old one is read, go on in the new */
		if (e == 0 && !same_file(f, r)) {
			FILE *newest;

			e = open_log(r, 0, &newest, err);
			if (e == 0 && newest) {
				fclose(f);
				f = newest;
				e = read_lines(r, f, err);
			}
		}
	}
	fclose(f);
	return e;
}

/* A beginning may only be missing where all the rotated files are there. */
static int check_beginning(const struct reader *r, struct err *err)
{
	const struct decision_log_verify *c = &r->chain;

	if (c->n == 0)
		return err_set(err, EINVAL, "verify log %s: it has no record",
			       r->id);
	if (c->first_seq > 1 && r->oldest < DECISION_LOG_KEPT)
		return err_set(err, EINVAL,
			       "verify log %s: its records before %llu are "
			       "missing",
			       r->id, (unsigned long long)c->first_seq);
	return 0;
}

static int run_log(struct cmd_global *g, struct reader *r, bool do_follow,
		   struct err *err)
{
	struct blueprint b = BLUEPRINT_INIT(g->arena);
	FILE *newest = NULL;
	int e = store_check_id(r->id, err);

	if (e == 0)
		e = blueprint_host(&b, g->host_config, err);
	if (e < 0)
		return e;
	r->dir = blueprint_log_dir(&b, err);
	if (!r->dir)
		return -err->code;
	r->dir_fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir_fd < 0 && errno == ENOENT)
		return err_set(err, ENOENT,
			       "open log: container %s has none in %s", r->id,
			       r->dir);
	if (r->dir_fd < 0)
		return err_errno(err, errno, "open folder %s", r->dir);
	e = read_all(r, &newest, err);
	if (e == 0 && r->verify)
		e = check_beginning(r, err);
	if (e == 0 && do_follow && newest)
		return follow(r, newest, err);
	if (newest)
		fclose(newest);
	return e;
}

int cmd_log(struct cmd_global *g, int argc, char **argv)
{
	struct reader r = { .dir_fd = -EBADF };
	struct log_options o = { 0 };
	struct err err;
	int i = cmd_parse(g, "log", argc, argv, &o, 1, -1), e;

	/* options may stand on both sides of the ID */
	if (i < 0 || cmd_parse(g, "log", argc - i, argv + i, &o, 0, 0) < 0)
		return 1;
	r.json = o.format && str_eq(o.format, "json");
	if (o.format && !r.json && !str_eq(o.format, "text"))
		return cmd_usage("log", "--format is text or json");
	if (o.verify && o.follow)
		return cmd_usage("log", "--verify and --follow exclude each "
					"other");
	r.id = r.chain.id = argv[i];
	r.verify = o.verify;
	e = run_log(g, &r, o.follow, &err);
	close_fd(r.dir_fd);
	free(r.line);
	if (e < 0)
		return cmd_fail(&err);
	if (r.verify) {
		printf("log %s: %llu records, chain intact", r.id,
		       (unsigned long long)r.chain.n);
		if (r.chain.first_seq > 1)
			printf("; it starts at record %llu (older files were "
			       "rotated away)",
			       (unsigned long long)r.chain.first_seq);
		putchar('\n');
	}
	return 0;
}
