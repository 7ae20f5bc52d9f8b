/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/base/arena.h"
#include "runtime/base/num.h"
#include "runtime/base/strbuf.h"
#include "runtime/base/utf8.h"
#include "runtime/doc/build.h"
#include "runtime/doc/errors.h"

static const char *const kind_texts[] = {
	[DOC_NULL] = "null",	   [DOC_BOOL] = "a boolean",
	[DOC_NUMBER] = "a number", [DOC_STRING] = "a string",
	[DOC_LIST] = "a list",	   [DOC_MAP] = "a map",
};
_Static_assert(sizeof(kind_texts) / sizeof(kind_texts[0]) == DOC_N,
	       "each kind has a text");

const char *doc_kind_text(enum doc_kind kind)
{
	return kind_texts[kind];
}

static const struct doc_pos start = {.line = 1, .col = 1};

static bool is_json(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r\n", data[i]))
			return data[i] == '{';
	return false;
}

static int check_utf8(const char *data, size_t len, struct doc_errors *errors)
{
	size_t i = 0, n;

	while (i < len) {
		if (!(data[i] & 0x80)) { /* most of it, quickly */
			i++;
			continue;
		}
		n = utf8_len(data + i, len - i);
		if (!n) {
			doc_error(errors, doc_advance(start, data, 0, i),
				  "not valid UTF-8");
			return -EINVAL;
		}
		i += n;
	}
	return 0;
}

int doc_parse(struct arena *a, const char *data, size_t len,
	      enum doc_format format, const struct doc_node **ret_root,
	      struct doc_errors *errors)
{
	struct doc_build b = {.arena = a, .errors = errors};
	size_t n_before = errors->n_errors;
	int r;

	*ret_root = NULL;
	if (len > DOC_BYTES_MAX) {
		doc_error(errors, start, "larger than %d bytes", DOC_BYTES_MAX);
		return -EINVAL;
	}
	if (check_utf8(data, len, errors) < 0)
		return -EINVAL;
	if (format == DOC_AUTO)
		format = is_json(data, len) ? DOC_JSON : DOC_YAML;
	r = format == DOC_JSON ? doc_json(&b, data, len)
			       : doc_yaml(&b, data, len);
	if (r < 0 || errors->n_errors != n_before)
		return -EINVAL;
	*ret_root = b.root;
	return 0;
}

const struct doc_node *doc_get(const struct doc_node *map, const char *key)
{
	if (!map || map->kind != DOC_MAP)
		return NULL;
	doc_for_each (it, map)
		if (str_eq(it->key, key))
			return it;
	return NULL;
}

static size_t index_of(const struct doc_node *node)
{
	size_t i = 0;

	for (const struct doc_node *it = node->parent->first; it != node;
	     it = it->next)
		i++;
	return i;
}

/* Would the key be misread inside a path that is written with dots? */
static bool is_plain_key(const char *key)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return *key && !key[strspn(key, plain)];
}

void doc_path(struct strbuf *sb, const struct doc_node *node)
{
	const struct doc_node *up[DOC_DEPTH_MAX + 1];
	size_t n = 0;

	for (; node->parent && n < DOC_DEPTH_MAX + 1; node = node->parent)
		up[n++] = node;
	for (size_t i = n; i-- > 0;) {
		if (!up[i]->key)
			strbuf_addf(sb, "[%zu]", index_of(up[i]));
		else if (!is_plain_key(up[i]->key))
			strbuf_addf(sb, "[\"%s\"]", up[i]->key);
		else
			strbuf_addf(sb, "%s%s", i + 1 < n ? "." : "",
				    up[i]->key);
	}
}

/* YAML 1.2: 0x, 0o, 0b and a sign; decimal otherwise. */
static int parse_magnitude(const char *s, uint64_t *ret)
{
	static const struct {
		char letter;
		unsigned int base;
	} prefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};
	static const char digits[] = "0123456789abcdef";
	unsigned int base = 10;
	uint64_t v = 0;

	for (size_t i = 0; s[0] == '0' && i < 3; i++)
		if (s[1] == prefixes[i].letter)
			base = prefixes[i].base;
	if (base == 10)
		return num_parse_u64(s, ret);
	if (!s[2])
		return -EINVAL;
	for (s += 2; *s; s++) {
		char c = *s >= 'A' && *s <= 'F' ? (char)(*s + 32) : *s;
		const char *d = memchr(digits, c, base);

		if (!d)
			return -EINVAL;
		if (__builtin_mul_overflow(v, base, &v))
			return -ERANGE;
		v += (uint64_t)(d - digits);
	}
	*ret = v;
	return 0;
}

int doc_u64(const struct doc_node *node, uint64_t *ret)
{
	const char *s = node->text;

	if (node->kind != DOC_NUMBER)
		return -EINVAL;
	if (*s == '-') {
		int64_t v;
		int r = doc_i64(node, &v);

		if (r == 0 && v != 0)
			return -ERANGE;
		if (r == 0)
			*ret = 0;
		return r;
	}
	return parse_magnitude(s + (*s == '+'), ret);
}

int doc_i64(const struct doc_node *node, int64_t *ret)
{
	const char *s = node->text;
	uint64_t v;
	bool minus;
	int r;

	if (node->kind != DOC_NUMBER)
		return -EINVAL; /* lists and maps have no text */
	minus = *s == '-';
	r = parse_magnitude(s + (minus || *s == '+'), &v);
	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX + minus)
		return -ERANGE;
	*ret = (int64_t)(minus ? 0 - v : v);
	return 0;
}
