/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON (RFC 8259) into a strbuf: commas, quotes and escapes are kept
 * right here. Compact output on one line, or indented by tabs.
 *
 * Strings come from hostile places (paths, arguments): bytes that are not
 * valid UTF-8 become U+FFFD, control characters are escaped, so that one
 * record is always one line.
 *
 *	struct json j = json_to(&sb, false);
 *	json_object(&j, NULL);
 *	json_str(&j, "id", id);
 *	json_end(&j);
 */
#ifndef OSH_BASE_JSON_H
#define OSH_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

enum { JSON_DEPTH_MAX = 32 };

struct json {
	struct strbuf *sb; /* borrowed */
	bool pretty;
	unsigned int depth;
	bool some[JSON_DEPTH_MAX];  /* this level has a member already */
	bool array[JSON_DEPTH_MAX]; /* this level is an array */
};

static inline struct json json_to(struct strbuf *sb, bool pretty)
{
	return (struct json){ .sb = sb, .pretty = pretty };
}

/* @key is NULL for array members and for the outermost value. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);
/* @s may be NULL: then null is written. */
void json_str(struct json *j, const char *key, const char *s);
void json_strn(struct json *j, const char *key, const char *s, size_t n);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/* @text is JSON already. */
void json_raw(struct json *j, const char *key, const char *text);

/* Only the escaping: adds @n bytes of @s in quotes. */
void json_quote(struct strbuf *sb, const char *s, size_t n);

#endif
