/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "runtime/base/json.h"
#include "runtime/base/strbuf.h"
#include "runtime/base/utf8.h"

static void newline(struct json *j)
{
	if (!j->pretty)
		return;
	strbuf_addc(j->sb, '\n');
	for (unsigned int i = 0; i < j->depth; i++)
		strbuf_addc(j->sb, '\t');
}

static void start(struct json *j, const char *key)
{
	unsigned int level = j->depth;

	if (level) {
		if (j->some[level - 1])
			strbuf_addc(j->sb, ',');
		j->some[level - 1] = true;
		newline(j);
	}
	if (key) {
		assert(level && !j->array[level - 1]);
		json_quote(j->sb, key, strlen(key));
		strbuf_adds(j->sb, j->pretty ? ": " : ":");
	}
}

static void open_level(struct json *j, const char *key, bool array)
{
	assert(j->depth < JSON_DEPTH_MAX);
	start(j, key);
	strbuf_addc(j->sb, array ? '[' : '{');
	j->some[j->depth] = false;
	j->array[j->depth] = array;
	j->depth++;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, false);
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, true);
}

void json_end(struct json *j)
{
	assert(j->depth);
	j->depth--;
	if (j->some[j->depth])
		newline(j);
	strbuf_addc(j->sb, j->array[j->depth] ? ']' : '}');
}

void json_quote(struct strbuf *sb, const char *s, size_t n)
{
	size_t i = 0;

	strbuf_addc(sb, '"');
	while (i < n) {
		unsigned char c = (unsigned char)s[i];
		size_t len = utf8_len(s + i, n - i);

		if (len == 0) {
			strbuf_adds(sb, "\xef\xbf\xbd");
			i++;
		} else if (len > 1) {
			strbuf_add(sb, s + i, len);
			i += len;
		} else {
			if (c == '"' || c == '\\')
				strbuf_addf(sb, "\\%c", c);
			else if (c == '\n')
				strbuf_adds(sb, "\\n");
			else if (c < 0x20 || c == 0x7f)
				strbuf_addf(sb, "\\u%04x", c);
			else
				strbuf_addc(sb, (char)c);
			i++;
		}
	}
	strbuf_addc(sb, '"');
}

void json_strn(struct json *j, const char *key, const char *s, size_t n)
{
	start(j, key);
	json_quote(j->sb, s, n);
}

void json_str(struct json *j, const char *key, const char *s)
{
	if (s)
		json_strn(j, key, s, strlen(s));
	else
		json_null(j, key);
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	start(j, key);
	strbuf_addf(j->sb, "%llu", (unsigned long long)v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	start(j, key);
	strbuf_addf(j->sb, "%lld", (long long)v);
}

void json_raw(struct json *j, const char *key, const char *text)
{
	start(j, key);
	strbuf_adds(j->sb, text);
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_raw(j, key, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	json_raw(j, key, "null");
}
