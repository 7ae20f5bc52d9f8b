/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of two patterns, read as automata of one state for each token:
 * a pair of states is reached when some text leads both there. Pairs go
 * through a bit map row by row; a star's loop and its way out are both steps
 * to a pair that isn't smaller, so one pass in order finds them all.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy-compiler/overlap.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/policy/limits.h"
#include "runtime/policy/match.h"

enum token_kind { TOKEN_CHAR, TOKEN_ONE, TOKEN_STAR, TOKEN_STARS, TOKEN_END };

struct token {
	uint8_t kind;
	char c;
};

struct tokens {
	struct token v[POLICY_GLOB_BYTES_MAX + 1];
	size_t n; /* without the END */
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* false: a pattern that is not understood here. */
static bool tokenize(const char *s, bool stars_cross, struct tokens *ret)
{
	ret->n = 0;
	for (; *s; s++) {
		struct token *t = &ret->v[ret->n];

		if (ret->n == POLICY_GLOB_BYTES_MAX || strchr("[]{}\\", *s))
			return false;
		t->kind = *s == '*'   ? TOKEN_STAR
			  : *s == '?' ? TOKEN_ONE
				      : TOKEN_CHAR;
		t->c = lower(*s);
		if (*s == '*' && (s[1] == '*' || stars_cross))
			t->kind = TOKEN_STARS;
		while (*s == '*' && s[1] == '*')
			s++;
		ret->n++;
	}
	ret->v[ret->n].kind = TOKEN_END;
	return true;
}

static bool is_star(const struct token *t)
{
	return t->kind == TOKEN_STAR || t->kind == TOKEN_STARS;
}

/* Is there a character that both take? */
static bool share(const struct token *a, const struct token *b, char separator)
{
	if (a->kind == TOKEN_END || b->kind == TOKEN_END)
		return false;
	if (a->kind == TOKEN_CHAR && b->kind == TOKEN_CHAR)
		return a->c == b->c;
	if (a->kind == TOKEN_CHAR)
		return b->kind != TOKEN_STAR || a->c != separator;
	if (b->kind == TOKEN_CHAR)
		return a->kind != TOKEN_STAR || b->c != separator;
	return true;
}

/* Pairs (i, j) and (i + 1, j + 0 or 1) are all that one row leads to. */
static bool product(const struct tokens *a, const struct tokens *b,
		    char separator)
{
	bool rows[2][POLICY_GLOB_BYTES_MAX + 2] = {{false}};

	rows[0][0] = true;
	for (size_t i = 0; i <= a->n; i++) {
		bool *now = rows[i % 2], *next = rows[(i + 1) % 2];

		memset(next, 0, sizeof(rows[0]));
		for (size_t j = 0; j <= b->n; j++) {
			const struct token *x = &a->v[i], *y = &b->v[j];

			if (!now[j])
				continue;
			if (i == a->n && j == b->n)
				return true;
			if (is_star(x))
				next[j] = true;
			if (is_star(y))
				now[j + 1] = true;
			if (!share(x, y, separator))
				continue;
			if (!is_star(x) && !is_star(y))
				next[j + 1] = true;
			else if (!is_star(y))
				now[j + 1] = true;
			else if (!is_star(x))
				next[j] = true;
		}
	}
	return false;
}

static bool overlap(const char *a, const char *b, char separator,
		    bool stars_cross)
{
	struct tokens x, y;

	if (!tokenize(a, stars_cross, &x) || !tokenize(b, stars_cross, &y))
		return true;
	return product(&x, &y, separator);
}

bool overlap_hosts(const char *a, const char *b)
{
	if (!a || !b)
		return true;
	if (!match_is_glob(a) && !match_is_glob(b))
		return match_casecmp(a, b) == 0;
	return overlap(a, b, '.', false);
}

static bool is_everything(const char *path)
{
	return !path || str_eq(path, "**") || str_eq(path, "/**");
}

bool overlap_paths(const char *a, const char *b)
{
	return is_everything(a) || is_everything(b) || overlap(a, b, '/', true);
}
