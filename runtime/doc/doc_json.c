/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON into a tree, by yajl's streaming interface. This file alone knows
 * yajl. Its tree interface is not used: it overflows the stack on deep
 * documents, keeps duplicate keys and loses the length of strings.
 *
 * yajl tells where a token ended, never where it began. Every token except
 * comma and colon has a callback, so a token begins behind the end of the one
 * before, after blanks, commas and colons: that gives exact positions, in one
 * pass over the text. The raw text of a string is looked at for what yajl lets
 * pass: a lone surrogate (it becomes '?').
 */
#include <errno.h>
#include <yajl/yajl_parse.h>

#include "runtime/base/strbuf.h"
#include "runtime/base/utf8.h"
#include "runtime/doc/build.h"
#include "runtime/doc/errors.h"

struct reader {
	struct doc_build *b;
	yajl_handle yajl; /* owned */
	const char *data;
	size_t len;
	size_t end; /* of the last token */
	size_t seen; /* @pos is the position of data[seen] */
	struct doc_pos pos;
};

static void move_to(struct reader *r, size_t at)
{
	r->pos = doc_advance(r->pos, r->data, r->seen, at);
	r->seen = at;
}

/* Go to the token behind the last one that had a callback. */
static size_t next_token(struct reader *r)
{
	size_t at = r->end;

	while (at < r->len && r->data[at] && strchr(" \t\r\n,:", r->data[at]))
		at++;
	move_to(r, at);
	return at;
}

/* Where the token begins that yajl has just read; notes where it ended. */
static size_t token_start(struct reader *r)
{
	size_t at = next_token(r);

	r->end = yajl_get_bytes_consumed(r->yajl);
	return at;
}

static unsigned int hex4(const char *s)
{
	unsigned int v = 0;

	for (int i = 0; i < 4; i++) {
		unsigned int c = (unsigned char)s[i];

		v = v * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return v;
}

/* Does a string token hold half a surrogate pair? yajl has checked syntax. */
static bool has_lone_surrogate(const char *s, const char *end)
{
	while (s < end) {
		unsigned int v;

		if (*s != '\\') {
			s++;
			continue;
		}
		if (s[1] != 'u') {
			s += 2;
			continue;
		}
		v = hex4(s + 2);
		s += 6;
		if (v < 0xd800 || v > 0xdfff)
			continue;
		if (v > 0xdbff || end - s < 6 || s[0] != '\\' || s[1] != 'u')
			return true;
		v = hex4(s + 2);
		if (v < 0xdc00 || v > 0xdfff)
			return true;
		s += 6;
	}
	return false;
}

static int check_string(struct reader *r, size_t at)
{
	if (!has_lone_surrogate(r->data + at, r->data + r->end))
		return 0;
	doc_error(r->b->errors, r->pos, "string with half a surrogate pair");
	return -EINVAL;
}

/* yajl goes on when a callback returns 1. */
static int on_scalar(struct reader *r, enum doc_kind kind, const char *text,
		     size_t len)
{
	token_start(r);
	return doc_build_scalar(r->b, kind, text, len, r->pos) == 0;
}

static int on_null(void *ctx)
{
	return on_scalar(ctx, DOC_NULL, "null", 4);
}

static int on_boolean(void *ctx, int v)
{
	return v ? on_scalar(ctx, DOC_BOOL, "true", 4)
		 : on_scalar(ctx, DOC_BOOL, "false", 5);
}

static int on_number(void *ctx, const char *text, size_t len)
{
	return on_scalar(ctx, DOC_NUMBER, text, len);
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	struct reader *r = ctx;
	size_t at = token_start(r);

	return check_string(r, at) == 0 &&
	       doc_build_scalar(r->b, DOC_STRING, (const char *)text, len,
				r->pos) == 0;
}

static int on_map_key(void *ctx, const unsigned char *text, size_t len)
{
	struct reader *r = ctx;
	size_t at = token_start(r);

	return check_string(r, at) == 0 &&
	       doc_build_key(r->b, (const char *)text, len, r->pos) == 0;
}

static int on_start_map(void *ctx)
{
	struct reader *r = ctx;

	token_start(r);
	return doc_build_open(r->b, DOC_MAP, r->pos) == 0;
}

static int on_start_array(void *ctx)
{
	struct reader *r = ctx;

	token_start(r);
	return doc_build_open(r->b, DOC_LIST, r->pos) == 0;
}

static int on_end(void *ctx)
{
	struct reader *r = ctx;

	token_start(r);
	doc_build_close(r->b);
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_map_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end,
};

/* yajl does not look at what its allocator returns. */
static void *checked(void *p)
{
	if (!p) {
		fputs("osh: out of memory\n", stderr);
		abort();
	}
	return p;
}

static void *alloc_fn(void *ctx, size_t size)
{
	(void)ctx;
	return checked(malloc(size ? size : 1));
}

static void *realloc_fn(void *ctx, void *p, size_t size)
{
	(void)ctx;
	return checked(realloc(p, size ? size : 1));
}

static void free_fn(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

/*
 * yajl doesn't see a token that the end of the text cuts off behind a whole
 * document: {}"x
 */
static int check_rest(struct reader *r)
{
	if (!r->b->root || r->b->top || next_token(r) == r->len)
		return 0;
	doc_error(r->b->errors, r->pos, "invalid JSON: trailing garbage");
	return -EINVAL;
}

/* yajl's "parse error: reason\n" as "invalid JSON: reason"; it came to @at. */
static void report(struct reader *r, size_t at)
{
	unsigned char *raw = yajl_get_error(r->yajl, 0, NULL, 0);
	const char *text = (const char *)raw;
	const char *reason = strstr(text, "error: ");
	bool lexical = str_after(text, "lexical") != NULL;

	/* the place inside a token, or the token that was not expected */
	if (next_token(r) < at && lexical)
		move_to(r, at);
	reason = reason ? reason + strlen("error: ") : text;
	doc_error(r->b->errors, r->pos, "invalid JSON: %.*s",
		  (int)strcspn(reason, "\n"), reason);
	yajl_free_error(r->yajl, raw);
}

int doc_json(struct doc_build *b, const char *data, size_t len)
{
	yajl_alloc_funcs alloc = {alloc_fn, realloc_fn, free_fn, NULL};
	struct reader r = {
		.b = b,
		.data = data,
		.len = len,
		.pos = {.line = 1, .col = 1},
	};
	yajl_status status;
	int ret = 0;
	size_t at;

	r.yajl = yajl_alloc(&callbacks, &alloc, &r);
	status = yajl_parse(r.yajl, (const unsigned char *)data, len);
	at = yajl_get_bytes_consumed(r.yajl);
	if (status == yajl_status_ok)
		ret = check_rest(&r);
	if (status == yajl_status_ok && ret == 0) {
		status = yajl_complete_parse(r.yajl);
		r.end = at = len;
	}
	if (status == yajl_status_error)
		report(&r, at);
	yajl_free(r.yajl);
	return status == yajl_status_ok ? ret : -EINVAL;
}
