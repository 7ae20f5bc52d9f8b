/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/num.h"
#include "runtime/base/options.h"
#include "runtime/base/strbuf.h"

static bool takes_value(const struct option_row *r)
{
	return r->kind != OPTION_FLAG && r->kind != OPTION_IGNORED_FLAG;
}

static const struct option_row *find_long(const struct option_row *rows,
					  const char *name, size_t n)
{
	for (; rows->name; rows++)
		if (strlen(rows->name) == n && !memcmp(rows->name, name, n))
			return rows;
	return NULL;
}

static const struct option_row *find_letter(const struct option_row *rows,
					    char letter)
{
	for (; rows->name; rows++)
		if (rows->letter && rows->letter == letter)
			return rows;
	return NULL;
}

static int set_flag(const struct option_row *r, const char *value, bool *ret,
		    struct err *err)
{
	if (!value || str_eq(value, "true") || str_eq(value, "1")) {
		*ret = true;
		return 0;
	}
	if (str_eq(value, "false") || str_eq(value, "0")) {
		*ret = false;
		return 0;
	}
	return err_set(err, EINVAL, "parse option --%s: '%s' is not a boolean",
		       r->name, value);
}

static int set_u32(const struct option_row *r, const char *value, void *ret,
		   struct err *err)
{
	uint32_t v;

	if (num_parse_u32(value, UINT32_MAX, &v) < 0)
		return err_set(err, EINVAL,
			       "parse option --%s: '%s' is not a number",
			       r->name, value);
	*(unsigned int *)ret = v;
	return 0;
}

static int set(struct arena *a, const struct option_row *r, const char *value,
	       void *base, struct err *err)
{
	void *at = (char *)base + r->offset;

	switch (r->kind) {
	case OPTION_FLAG:
		return set_flag(r, value, at, err);
	case OPTION_STRING:
		*(const char **)at = value;
		return 0;
	case OPTION_LIST: {
		struct option_list *list = at;

		list->v = arena_grow(a, list->v, list->n, sizeof(*list->v));
		list->v[list->n++] = value;
		return 0;
	}
	case OPTION_U32:
		return set_u32(r, value, at, err);
	case OPTION_IGNORED_FLAG:
	case OPTION_IGNORED_STRING:
	case OPTION_KIND_N:
		return 0;
	}
	return 0;
}

/* One word "-x..." or "--x...": the row, and its value if it is attached. */
static const struct option_row *match(const struct option_row *rows,
				      const char *word, const char **ret_value)
{
	const char *name = word + (word[1] == '-' ? 2 : 1);
	const char *eq = strchr(name, '=');
	size_t n = eq ? (size_t)(eq - name) : strlen(name);
	const struct option_row *r;

	*ret_value = NULL;
	if (n == 1)
		r = find_letter(rows, name[0]);
	else
		r = find_long(rows, name, n);
	if (r) {
		*ret_value = eq ? eq + 1 : NULL;
		return r;
	}
	/* -nvalue */
	if (word[1] != '-') {
		r = find_letter(rows, name[0]);
		if (r && takes_value(r)) {
			*ret_value = name + 1;
			return r;
		}
	}
	return NULL;
}

int options_parse(struct arena *a, const struct option_row *rows, int argc,
		  char **argv, void *ret, struct err *err)
{
	int i = 1;

	while (i < argc) {
		const struct option_row *r;
		const char *value;
		int e;

		if (argv[i][0] != '-' || argv[i][1] == '\0')
			break;
		if (str_eq(argv[i], "--"))
			return i + 1;
		r = match(rows, argv[i], &value);
		if (!r)
			return err_set(err, EINVAL,
				       "parse options: unknown option '%s'",
				       argv[i]);
		i++;
		if (takes_value(r) && !value) {
			if (i >= argc)
				return err_set(err, EINVAL,
					       "parse option --%s: it needs "
					       "a value",
					       r->name);
			value = argv[i++];
		}
		e = set(a, r, value, ret, err);
		if (e < 0)
			return e;
	}
	return i;
}

void options_help(const struct option_row *rows)
{
	for (; rows->name; rows++) {
		char room[64];
		struct strbuf sb = STRBUF_FIXED(room);

		if (rows->letter)
			strbuf_addf(&sb, "-%c, ", rows->letter);
		strbuf_addf(&sb, "--%s", rows->name);
		if (rows->value)
			strbuf_addf(&sb, " %s", rows->value);
		printf("   %-28s %s\n", room, rows->help ? rows->help : "");
	}
}
