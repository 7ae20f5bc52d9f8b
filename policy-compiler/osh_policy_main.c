/* SPDX-License-Identifier: Apache-2.0 */
/* osh-policy: the policy compiler's command line. See osh-policy.1. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "policy-compiler/base64.h"
#include "policy-compiler/compile.h"
#include "policy-compiler/confine.h"
#include "policy-compiler/explain.h"
#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/options.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/limits.h"
#include "runtime/policy/policy.h"

enum {
	EXIT_REFUSED = 1, /* the policy has errors */
	EXIT_TROUBLE = 2, /* the command could not be done */

	/* what Kubernetes takes for all annotations of an object together */
	ANNOTATION_BYTES_MAX = 256 << 10,
};

struct options {
	const char *output, *name, *ceiling;
	bool sandboxed;
	struct explain_question question;
};

struct command {
	const char *name, *arguments, *help;
	const struct option_row *options;
	int (*run)(struct arena *a, const struct options *o, int n,
		   char **files);
};

/* ---------------------------------------------------------------- output */

static int trouble(const struct err *err)
{
	fprintf(stderr, "osh-policy: %s\n", err->text);
	return EXIT_TROUBLE;
}

static int usage_trouble(const char *text)
{
	fprintf(stderr, "osh-policy: %s; see osh-policy --help\n", text);
	return EXIT_TROUBLE;
}

static int print(const struct strbuf *sb)
{
	int r = io_write_all(STDOUT_FILENO, sb->s, sb->len);

	if (r == 0)
		return 0;
	fprintf(stderr, "osh-policy: write output: %s\n", err_text(-r));
	return EXIT_TROUBLE;
}

static void print_messages(const struct doc_errors *e)
{
	for (size_t i = 0; i < e->n; i++) {
		own_strbuf struct strbuf sb = STRBUF_HEAP;

		doc_message_text(&sb, e, &e->v[i]);
		fprintf(stderr, "%s\n", sb.s);
	}
	if (e->n_dropped)
		fprintf(stderr, "%s: %zu more messages\n", e->file,
			e->n_dropped);
}

/* --------------------------------------------------------------- reading */

struct document {
	const char *file, *text;
	size_t len;
	void *compiled;
	size_t n_compiled;
	struct policy policy;
};

/* "-" is standard input. */
static int read_document(struct arena *a, const char *file, const char *name,
			 struct document *ret, struct err *err)
{
	char *text;
	int r;

	if (str_eq(file, "-")) {
		ret->file = name ? name : "standard input";
		r = io_read_all(a, STDIN_FILENO, POLICY_DOCUMENT_BYTES_MAX,
				ret->file, &text, &ret->len, err);
	} else {
		ret->file = name ? name : file;
		r = io_read_file(a, AT_FDCWD, file, POLICY_DOCUMENT_BYTES_MAX,
				 &text, &ret->len, err);
	}
	ret->text = r == 0 ? text : NULL;
	return r;
}

/* 0, or an exit status after messages. */
static int compile_document(struct arena *a, struct document *d,
			    bool with_warnings)
{
	struct compile_messages m;
	struct err err;
	int r;

	compile_messages_init(&m, a, d->file);
	r = compile(a, d->text, d->len, &m, &d->compiled, &d->n_compiled);
	print_messages(&m.errors);
	if (with_warnings)
		print_messages(&m.warnings);
	if (r < 0)
		return EXIT_REFUSED;
	if (policy_load(d->compiled, d->n_compiled, &d->policy, &err) < 0)
		return trouble(&err);
	return 0;
}

static int load_document(struct arena *a, const char *file, const char *name,
			 bool with_warnings, struct document *ret)
{
	struct err err;

	if (read_document(a, file, name, ret, &err) < 0)
		return trouble(&err);
	return compile_document(a, ret, with_warnings);
}

/* -------------------------------------------------------------- commands */

static int run_check(struct arena *a, const struct options *o, int n,
		     char **files)
{
	int worst = 0;

	if (n == 0)
		return usage_trouble("check: no file");
	for (int i = 0; i < n; i++) {
		struct document d;
		int r = load_document(a, files[i], o->name, true, &d);

		if (r > worst)
			worst = r;
	}
	return worst;
}

static bool is_standard(const char *file)
{
	return !file || str_eq(file, "-");
}

static int write_output(const char *path, const struct document *d)
{
	struct err err;
	int r;

	if (is_standard(path)) {
		r = io_write_all(STDOUT_FILENO, d->compiled, d->n_compiled);
		if (r < 0)
			err_errno(&err, -r, "write compiled policy");
	} else {
		r = io_replace_file(AT_FDCWD, path, d->compiled, d->n_compiled,
				    &err);
	}
	return r < 0 ? trouble(&err) : 0;
}

static int run_compile(struct arena *a, const struct options *o, int n,
		       char **files)
{
	const char *file = n > 0 ? files[0] : NULL;
	struct document d;
	struct err err;
	int r;

	if (n > 1 || (n == 0 && !o->sandboxed))
		return usage_trouble("compile: needs one file");
	if (o->sandboxed && (!is_standard(file) || !is_standard(o->output)))
		return usage_trouble("compile: --sandboxed reads standard "
				     "input and writes standard output");
	if (o->sandboxed && confine(&err) < 0)
		return trouble(&err);
	r = load_document(a, file ? file : "-", o->name, true, &d);
	return r ? r : write_output(o->output, &d);
}

static int run_annotation(struct arena *a, const struct options *o, int n,
			  char **files)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct document d;
	int r;

	if (n != 1)
		return usage_trouble("annotation: needs one file");
	r = load_document(a, files[0], o->name, true, &d);
	if (r)
		return r;
	strbuf_adds(&sb, "base64:");
	base64_encode(&sb, d.text, d.len);
	if (sb.len > ANNOTATION_BYTES_MAX)
		fprintf(stderr,
			"osh-policy: warning: %zu bytes: Kubernetes refuses "
			"annotations of more than %d\n",
			sb.len, ANNOTATION_BYTES_MAX);
	strbuf_addc(&sb, '\n');
	return print(&sb);
}

/* Options that have no meaning for a summary. */
static bool has_question(const struct options *o)
{
	return o->question.binary || o->question.ancestors ||
	       o->question.ip || o->question.proto || o->ceiling;
}

static int run_explain(struct arena *a, const struct options *o, int n,
		       char **files)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct document d, c = {.text = NULL};
	struct explain_source source = {.policy = &d.policy};
	struct explain_source ceiling = {.policy = &c.policy};
	struct err err;
	int r;

	if (n != 1)
		return usage_trouble("explain: needs one file");
	if (!o->question.dest && has_question(o))
		return usage_trouble("explain: there is no question without "
				     "--dest");
	r = load_document(a, files[0], o->name, false, &d);
	if (r == 0 && o->ceiling)
		r = load_document(a, o->ceiling, NULL, false, &c);
	if (r)
		return r;
	source.file = d.file;
	source.text = d.text;
	ceiling.file = c.file;
	ceiling.text = c.text;
	if (!o->question.dest)
		explain_summary(&sb, &source);
	else if (explain_connect(&sb, &source, o->ceiling ? &ceiling : NULL,
				 &o->question, &err) < 0)
		return trouble(&err);
	return print(&sb);
}

/* ---------------------------------------------------------------- tables */

#define AT(member) offsetof(struct options, member)
#define NAME_ROW                                                  \
	{                                                         \
		"name", 0, OPTION_STRING, AT(name), "NAME",       \
			"what messages call the document instead" \
	}
#define END_ROW                                       \
	{                                             \
		NULL, 0, OPTION_KIND_N, 0, NULL, NULL \
	}

static const struct option_row check_options[] = {NAME_ROW, END_ROW};

static const struct option_row compile_options[] = {
	{"output", 'o', OPTION_STRING, AT(output), "FILE",
	 "where to write (default: standard output)"},
	{"sandboxed", 0, OPTION_FLAG, AT(sandboxed), NULL,
	 "give up every right first, then read standard input"},
	NAME_ROW,
	END_ROW,
};

static const struct option_row explain_options[] = {
	{"dest", 'd', OPTION_STRING, AT(question.dest), "HOST:PORT",
	 "ask about this connection"},
	{"binary", 'b', OPTION_STRING, AT(question.binary), "PATH",
	 "made by this executable"},
	{"ancestors", 'a', OPTION_STRING, AT(question.ancestors), "PATH,...",
	 "whose parents run these, nearest first"},
	{"ip", 'i', OPTION_STRING, AT(question.ip), "ADDRESS",
	 "where the host's name leads (default: a public address)"},
	{"proto", 'p', OPTION_STRING, AT(question.proto), "PROTO",
	 "tcp (default), udp, icmp or sctp"},
	{"ceiling", 'c', OPTION_STRING, AT(ceiling), "FILE",
	 "the operator's policy, which has to allow it as well"},
	NAME_ROW,
	END_ROW,
};

static const struct command commands[] = {
	{"check", "FILE...", "show all errors and warnings", check_options,
	 run_check},
	{"compile", "FILE", "write the compiled policy", compile_options,
	 run_compile},
	{"annotation", "FILE", "print the value of ai.openshell.policy",
	 check_options, run_annotation},
	{"explain", "FILE", "summarize, or tell about one connection",
	 explain_options, run_explain},
};

static int print_help(void)
{
	printf("usage: osh-policy COMMAND [OPTION]... [FILE]...\n\n"
	       "The compiler of sandbox policies. FILE \"-\" is standard "
	       "input.\n\n");
	for (size_t i = 0; i < N_ELEMENTS(commands); i++)
		printf("  %-10s %-8s  %s\n", commands[i].name,
		       commands[i].arguments, commands[i].help);
	printf("\nExit status: 0 done, 1 the policy has errors, 2 trouble.\n"
	       "osh-policy COMMAND --help shows the options of a command.\n"
	       "The language is described in osh-policy.yaml(5).\n");
	return 0;
}

static int print_command_help(const struct command *c)
{
	printf("usage: osh-policy %s [OPTION]... %s\n\n", c->name,
	       c->arguments);
	options_help(c->options);
	return 0;
}

static int run_command(const struct command *c, int argc, char **argv)
{
	own_arena struct arena a = ARENA_INIT;
	struct options o = {.output = NULL};
	own_free char **words = NULL;
	struct err err;
	int n = 0, at = 0;

	if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h")))
		return print_command_help(c);
	/* options may stand behind the file, too: parse, take a word, again */
	words = calloc((size_t)argc, sizeof(*words));
	if (!words)
		return usage_trouble("out of memory");
	while (argc > 0) {
		at = options_parse(&a, c->options, argc, argv, &o, &err);
		if (at < 0)
			return trouble(&err);
		if (at >= argc)
			break;
		words[n++] = argv[at];
		argc -= at;
		argv += at;
	}
	return c->run(&a, &o, n, words);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	if (str_eq(name, "--version")) {
		printf("osh-policy %s\n", OSH_VERSION);
		return 0;
	}
	if (str_eq(name, "--help") || str_eq(name, "-h") ||
	    str_eq(name, "help")) {
		print_help();
		return argc > 1 ? 0 : EXIT_TROUBLE;
	}
	for (size_t i = 0; i < N_ELEMENTS(commands); i++)
		if (str_eq(commands[i].name, name))
			return run_command(&commands[i], argc - 1, argv + 1);
	fprintf(stderr,
		"osh-policy: unknown command \"%s\"; see osh-policy "
		"--help\n",
		name);
	return EXIT_TROUBLE;
}
