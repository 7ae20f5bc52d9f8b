/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp sections for tests: read from a file, or random. */
#ifndef OSH_LINUX_SECCOMP_PROFILE_H
#define OSH_LINUX_SECCOMP_PROFILE_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/seccomp_arch.h"
#include "runtime/linux/seccomp_compile.h"

enum { PROFILE_MAX = 256, PROFILE_NAMES_MAX = 1024 };

struct profile {
	struct seccomp_spec spec;
	const char *archs[32];
	struct seccomp_rule rules[PROFILE_MAX];
	const char *names[PROFILE_NAMES_MAX];
	size_t n_names;
	struct seccomp_arg args[PROFILE_MAX];
	size_t n_args;
};

/* -------------------------------------------------------------- profiles */

static char *word(char **line)
{
	char *w;

	while ((w = strsep(line, " ")) && !*w)
		;
	return w;
}

static void read_line(struct profile *p, char *line)
{
	struct seccomp_spec *s = &p->spec;
	struct seccomp_rule *r = &p->rules[s->n_rules ? s->n_rules - 1 : 0];
	char *key = word(&line), *w = word(&line);
	char *number;

	if (str_eq(key, "default")) {
		s->default_action = w;
		number = word(&line);
		s->default_errno_set = !str_eq(number, "-");
		s->default_errno = (uint32_t)strtoul(number, NULL, 10);
	} else if (str_eq(key, "arch")) {
		p->archs[s->n_architectures++] = w;
	} else if (str_eq(key, "rule")) {
		r = &p->rules[s->n_rules++];
		number = word(&line);
		*r = (struct seccomp_rule){
			.action = w,
			.errno_set = !str_eq(number, "-"),
			.errno_ret = (uint32_t)strtoul(number, NULL, 10),
			.names = &p->names[p->n_names],
			.args = &p->args[p->n_args],
		};
	} else if (str_eq(key, "arg")) {
		struct seccomp_arg *a = &p->args[p->n_args++];

		r->n_args++;
		a->index = (uint32_t)strtoul(w, NULL, 10);
		a->op = word(&line);
		a->value = strtoull(word(&line), NULL, 10);
		a->value_two = strtoull(word(&line), NULL, 10);
	} else if (str_eq(key, "names")) {
		for (; w; w = word(&line)) {
			assert_true(p->n_names < PROFILE_NAMES_MAX);
			p->names[p->n_names++] = w;
			r->n_names++;
		}
	} else {
		fail_msg("unknown line %s", key);
	}
	assert_true(s->n_rules < PROFILE_MAX && p->n_args < PROFILE_MAX);
}

static inline void read_text(struct profile *p, char *text)
{
	char *line;

	*p = (struct profile){0};
	p->spec.architectures = p->archs;
	p->spec.rules = p->rules;
	while ((line = strsep(&text, "\n")))
		if (*line && *line != '#')
			read_line(p, line);
}

static inline void read_file(struct arena *a, struct profile *p,
			     const char *path)
{
	struct err err = ERR_INIT;
	char *text;

	if (io_read_file(a, AT_FDCWD, path, 1 << 20, &text, NULL, &err) < 0)
		fail_msg("%s (tests run at the top of the tree)", err.text);
	read_text(p, text);
}

/* A small generator of our own: the same numbers everywhere. */
static inline uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

/* Values at and around what the profile compares with. */
static inline uint64_t pick_value(const struct seccomp_spec *s, uint64_t *state)
{
	static const uint64_t plain[] = {
		0, 1, 16, 40, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
	uint64_t v = plain[next_random(state) % N_ELEMENTS(plain)];
	const struct seccomp_rule *r;
	const struct seccomp_arg *arg;

	if (s->n_rules == 0)
		return v;
	r = &s->rules[next_random(state) % s->n_rules];
	if (r->n_args == 0)
		return v;
	arg = &r->args[next_random(state) % r->n_args];
	v = next_random(state) & 1 ? arg->value : arg->value_two;
	switch (next_random(state) % 6) {
	case 0:
		return v + 1;
	case 1:
		return v - 1;
	case 2:
		return v ^ UINT64_C(1) << 32;
	case 3:
		return ~v;
	default:
		return v;
	}
}

static const char *pick_action(uint64_t *seed)
{
	const char *name;

	do
		name = seccomp_action_row(next_random(seed) % 9)->name;
	while (str_eq(name, "SCMP_ACT_NOTIFY"));
	return name;
}

static uint64_t pick_plain(uint64_t *seed)
{
	static const uint64_t values[] = {
		0,
		1,
		5,
		0x7fffffff,
		0x80000000,
		UINT32_MAX,
		UINT64_C(1) << 32,
		UINT64_C(0x500000005),
		UINT64_C(0x8000000000000000),
		UINT64_MAX,
	};

	return values[next_random(seed) % N_ELEMENTS(values)];
}

/* @n_rules rules for few calls; one for each with @once. */
static inline void random_spec(struct profile *p, size_t n_rules, bool once,
			       uint64_t *seed)
{
	static const char *const names[] = {
		"read",	  "write",   "ioctl",  "clone", "prctl", "personality",
		"openat", "_llseek", "socket", "mseal", "shmat", "stat64",
	};
	static const char *const archs[] = {
		"SCMP_ARCH_X86_64",
		"SCMP_ARCH_X86",
		"SCMP_ARCH_X32",
		"SCMP_ARCH_AARCH64",
	};
	struct seccomp_spec *s = &p->spec;

	*p = (struct profile){0};
	s->architectures = p->archs;
	s->rules = p->rules;
	s->default_action = pick_action(seed);
	for (size_t i = 0; i < N_ELEMENTS(archs); i++)
		if (!once && next_random(seed) & 1)
			p->archs[s->n_architectures++] = archs[i];
	for (size_t i = 0; i < n_rules; i++) {
		struct seccomp_rule *r = &p->rules[s->n_rules++];
		uint32_t index = (uint32_t)next_random(seed) % 3;
		size_t name = once ? i : next_random(seed);

		p->names[i] = names[name % N_ELEMENTS(names)];
		*r = (struct seccomp_rule){
			.names = &p->names[i],
			.n_names = 1,
			.action = pick_action(seed),
			.args = &p->args[p->n_args],
			.n_args = next_random(seed) % 4,
		};
		for (size_t k = 0; k < r->n_args; k++)
			p->args[p->n_args++] = (struct seccomp_arg){
				.index = once || next_random(seed) % 4 ? index++
								       : index,
				.op = seccomp_op_name(next_random(seed) %
						      SECCOMP_OP_N),
				.value = pick_plain(seed),
				.value_two = pick_plain(seed),
			};
	}
}

#endif
