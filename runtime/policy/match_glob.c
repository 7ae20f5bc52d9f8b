/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Globs: a pattern becomes one operation for each of its characters, and all
 * states are followed at once (Thompson's construction), so that a text from
 * the agent costs at most pattern length times text length, whatever it is.
 *
 *	pattern		operations
 *	a		CHAR a
 *	?		ANY
 *	[...]		CLASS first last (positions in the pattern)
 *	*		STAR (stays on a character that isn't the separator)
 *	**  at the end	TAIL (stays on any character)
 *	** then /	DIRS, then LOOP (any characters that end in a
 *separator); DIRS may also skip LOOP
 *	{ , }		FORK, ALT..., JOIN: FORK and each ALT link to the next
 *			ALT, and an ALT that is reached in order leads to JOIN
 */
#include <errno.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/policy/limits.h"
#include "runtime/policy/match.h"

enum op_kind {
	OP_CHAR,
	OP_ANY,
	OP_CLASS,
	OP_STAR,
	OP_TAIL,
	OP_DIRS,
	OP_LOOP,
	OP_FORK,
	OP_ALT,
	OP_JOIN,
	OP_ACCEPT,
};

struct op {
	uint8_t kind;
	uint8_t c;
	uint16_t first; /* CLASS; FORK, ALT: the next ALT, 0 for none */
	uint16_t last; /* CLASS; FORK, ALT: the JOIN */
};

enum { OPS_MAX = POLICY_GLOB_BYTES_MAX + 1, SET_WORDS = (OPS_MAX + 63) / 64 };

struct glob {
	const char *pattern;
	char separator;
	bool fold; /* ASCII case; and a leading "**" needs a component */
	size_t n;
	struct op op[OPS_MAX];
};

struct parse {
	struct glob *g;
	const char *reason; /* why it is no glob */
	size_t fork; /* open FORK + 1, or 0 */
	size_t alt; /* its last ALT so far, or the FORK */
};

bool match_is_glob(const char *s)
{
	return strchr(s, '*') != NULL;
}

static uint8_t fold(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static uint8_t char_of(const struct glob *g, char c)
{
	return g->fold ? fold((uint8_t)c) : (uint8_t)c;
}

static struct op *emit(struct glob *g, enum op_kind kind)
{
	struct op *op = &g->op[g->n++];

	*op = (struct op){.kind = (uint8_t)kind};
	return op;
}

/* ------------------------------------------------------------- parsing */

/* Is the "**" at @at a whole component? The rules are globset's. */
static bool is_component(const struct parse *ps, const char *at)
{
	const struct glob *g = ps->g;
	char prev = at == g->pattern ? '\0' : at[-1];
	char next = at[2];
	bool first = !prev || (ps->fork && (prev == '{' || prev == ','));

	if (first)
		return !next || next == g->separator;
	if (prev != g->separator)
		return false;
	return !next || next == g->separator ||
	       (ps->fork && (next == ',' || next == '}'));
}

static const char *parse_star(struct parse *ps, const char *at)
{
	struct glob *g = ps->g;

	if (at[1] != '*' || !is_component(ps, at)) {
		emit(g, OP_STAR);
		return at + 1;
	}
	if (at[2] != g->separator) {
		emit(g, OP_TAIL);
		return at + 2;
	}
	/* a host's leading "**." needs one label: no way round LOOP */
	if (!(g->fold && at == g->pattern))
		emit(g, OP_DIRS);
	emit(g, OP_LOOP);
	return at + 3;
}

static const char *parse_class(struct parse *ps, const char *at)
{
	const char *p = at + 1;
	struct op *op;

	if (*p == '!' || *p == '^')
		p++;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		if (p[1] == '-' && p[2] && p[2] != ']') {
			if ((uint8_t)p[0] > (uint8_t)p[2]) {
				ps->reason = "a range in [ ] is the wrong way";
				return NULL;
			}
			p += 3;
		} else {
			p++;
		}
	}
	if (!*p) {
		ps->reason = "a [ is not closed";
		return NULL;
	}
	op = emit(ps->g, OP_CLASS);
	op->first = (uint16_t)(at + 1 - ps->g->pattern);
	op->last = (uint16_t)(p - ps->g->pattern);
	return p + 1;
}

static const char *parse_brace(struct parse *ps, const char *at)
{
	struct glob *g = ps->g;
	size_t here = g->n, i;

	switch (*at) {
	case '{':
		if (ps->fork) {
			ps->reason = "a { is within another";
			return NULL;
		}
		emit(g, OP_FORK);
		ps->fork = here + 1;
		ps->alt = here;
		break;
	case ',':
		emit(g, OP_ALT);
		g->op[ps->alt].first = (uint16_t)here;
		ps->alt = here;
		break;
	default:
		if (!ps->fork) {
			ps->reason = "a } was never opened";
			return NULL;
		}
		emit(g, OP_JOIN);
		for (i = ps->fork - 1; i < here; i++)
			if (i == ps->fork - 1 || g->op[i].kind == OP_ALT)
				g->op[i].last = (uint16_t)here;
		ps->fork = 0;
		break;
	}
	return at + 1;
}

static const char *parse_one(struct parse *ps, const char *at)
{
	switch (*at) {
	case '*':
		return parse_star(ps, at);
	case '[':
		return parse_class(ps, at);
	case '{':
	case '}':
		return parse_brace(ps, at);
	case ',':
		if (ps->fork)
			return parse_brace(ps, at);
		break;
	case '?':
		emit(ps->g, OP_ANY);
		return at + 1;
	case '\\':
		if (!*++at) {
			ps->reason = "it ends in a backslash";
			return NULL;
		}
		break;
	}
	emit(ps->g, OP_CHAR)->c = char_of(ps->g, *at);
	return at + 1;
}

/* NULL when it is a glob, otherwise the reason. */
static const char *glob_parse(struct glob *g, const char *pattern,
			      char separator, bool is_host)
{
	struct parse ps = {.g = g};
	const char *at = pattern;

	g->pattern = pattern;
	g->separator = separator;
	g->fold = is_host;
	g->n = 0;
	if (strlen(pattern) > POLICY_GLOB_BYTES_MAX)
		return "it is too long";
	while (*at) {
		at = parse_one(&ps, at);
		if (!at)
			return ps.reason;
	}
	if (ps.fork)
		return "a { is not closed";
	emit(g, OP_ACCEPT);
	return NULL;
}

int match_glob_check(const char *pattern, struct err *err)
{
	struct glob g;
	const char *reason = glob_parse(&g, pattern, '/', false);

	return reason ? err_set(err, EINVAL, "%s", reason) : 0;
}

/* ------------------------------------------------------------ matching */

struct states {
	uint64_t set[SET_WORDS];
	uint16_t list[OPS_MAX];
	size_t n;
};

static void states_add(struct states *s, size_t i)
{
	uint64_t bit = UINT64_C(1) << (i % 64);

	if (s->set[i / 64] & bit)
		return;
	s->set[i / 64] |= bit;
	s->list[s->n++] = (uint16_t)i;
}

/* Start each alternative that isn't empty; all of them empty: go on. */
static void add_alternatives(const struct glob *g, struct states *s, size_t i)
{
	size_t join = g->op[i].last;
	bool some = false;

	do {
		uint8_t kind = g->op[i + 1].kind;

		if (kind != OP_ALT && kind != OP_JOIN) {
			states_add(s, i + 1);
			some = true;
		}
		i = g->op[i].first;
	} while (i);
	if (!some)
		states_add(s, join);
}

/* Add what the states lead to without a character: the list grows ahead. */
static void states_close(const struct glob *g, struct states *s)
{
	for (size_t k = 0; k < s->n; k++) {
		size_t i = s->list[k];

		switch (g->op[i].kind) {
		case OP_STAR:
		case OP_TAIL:
		case OP_JOIN:
			states_add(s, i + 1);
			break;
		case OP_DIRS:
			states_add(s, i + 1);
			states_add(s, i + 2);
			break;
		case OP_FORK:
			add_alternatives(g, s, i);
			break;
		case OP_ALT:
			states_add(s, g->op[i].last);
			break;
		}
	}
}

static bool in_class(const struct glob *g, const struct op *op, uint8_t c)
{
	const char *p = g->pattern + op->first, *end = g->pattern + op->last;
	bool negated = *p == '!' || *p == '^';

	for (p += negated; p < end; p++) {
		uint8_t lo = char_of(g, *p), hi = lo;

		if (p + 2 < end && p[1] == '-') {
			hi = char_of(g, p[2]);
			p += 2;
		}
		if (lo <= c && c <= hi)
			return !negated;
	}
	return negated;
}

static void step(const struct glob *g, size_t i, uint8_t c, struct states *next)
{
	const struct op *op = &g->op[i];
	bool is_separator = c == (uint8_t)g->separator;

	switch (op->kind) {
	case OP_CHAR:
		if (op->c == c)
			states_add(next, i + 1);
		break;
	case OP_ANY:
		if (!is_separator)
			states_add(next, i + 1);
		break;
	case OP_CLASS:
		if (in_class(g, op, c))
			states_add(next, i + 1);
		break;
	case OP_STAR:
		if (!is_separator)
			states_add(next, i);
		break;
	case OP_LOOP:
		states_add(next, i);
		if (is_separator)
			states_add(next, i + 1);
		break;
	case OP_TAIL:
		states_add(next, i);
		break;
	}
}

static bool glob_match(const struct glob *g, const char *text)
{
	struct states a = {.n = 0}, b;
	struct states *now = &a, *next = &b;

	states_add(now, 0);
	for (; *text && now->n; text++) {
		struct states *spent = now;

		states_close(g, now);
		memset(next->set, 0, sizeof(next->set));
		next->n = 0;
		for (size_t k = 0; k < now->n; k++)
			step(g, now->list[k], char_of(g, *text), next);
		now = next;
		next = spent;
	}
	states_close(g, now);
	return (now->set[(g->n - 1) / 64] >> ((g->n - 1) % 64)) & 1;
}

bool match_path(const char *pattern, const char *path)
{
	struct glob g;

	return !glob_parse(&g, pattern, '/', false) && glob_match(&g, path);
}

bool match_host(const char *pattern, const char *name)
{
	struct glob g;

	return match_name_ok(name) && !glob_parse(&g, pattern, '.', true) &&
	       glob_match(&g, name);
}

/* --------------------------------------------------------------- names */

bool match_name_ok(const char *name)
{
	size_t label = 0, i;

	for (i = 0; name[i]; i++) {
		uint8_t c = fold((uint8_t)name[i]);

		if (i >= POLICY_HOST_BYTES_MAX)
			return false;
		if (c == '.') {
			if (label == 0)
				return false;
			label = 0;
			continue;
		}
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '-' || c == '_'))
			return false;
		if (++label > 63)
			return false;
	}
	return label > 0;
}

int match_casecmp(const char *a, const char *b)
{
	for (;; a++, b++) {
		uint8_t x = fold((uint8_t)*a), y = fold((uint8_t)*b);

		if (x != y)
			return x < y ? -1 : 1;
		if (!x)
			return 0;
	}
}
