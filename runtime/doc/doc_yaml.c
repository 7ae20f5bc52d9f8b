/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML into a tree, by libyaml's events. This file alone knows libyaml.
 *
 * Refused, because two readers could see two documents: anchors and aliases
 * (also a way to make a small file a huge tree), tags, merge keys, keys that
 * are not scalars, %TAG directives, a second document.
 *
 * Plain scalars are what serde_yaml, OpenShell's reader, takes them for: the
 * core schema of YAML 1.2 (10.3.2), numbers with leading zeros being strings.
 */
#include <errno.h>
#include <yaml.h>

#include "runtime/base/strbuf.h"
#include "runtime/doc/build.h"
#include "runtime/doc/errors.h"

struct reader {
	struct doc_build *b;
	bool wants_key[DOC_DEPTH_MAX + 1]; /* by depth: in a map, a key next */
	unsigned int n_documents;
};

static bool in_list(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(s, *list))
			return true;
	return false;
}

static const char *skip_digits(const char *s)
{
	return s + strspn(s, "0123456789");
}

static bool is_prefixed_int(const char *s)
{
	static const struct {
		const char *prefix, *digits;
	} kinds[] = {
		{"0x", "0123456789abcdefABCDEF"},
		{"0o", "01234567"},
		{"0b", "01"},
	};

	for (size_t i = 0; i < 3; i++) {
		const char *d = str_after(s, kinds[i].prefix);

		if (d && *d && !d[strspn(d, kinds[i].digits)])
			return true;
	}
	return false;
}

static bool is_number(const char *s)
{
	static const char *const special[] = {".inf", ".Inf", ".INF", ".nan",
					      ".NaN", ".NAN", NULL};
	const char *whole, *fraction, *end;

	if (*s == '-' || *s == '+')
		s++;
	if (is_prefixed_int(s) || in_list(s, special))
		return true;
	whole = skip_digits(s);
	if (!*whole) /* an integer, or a string: 0755 */
		return whole != s && (*s != '0' || whole == s + 1);
	end = whole;
	if (*end == '.') {
		fraction = ++end;
		end = skip_digits(end);
		if (whole == s && end == fraction)
			return false; /* "." */
	} else if (whole == s) {
		return false;
	}
	if (*end == 'e' || *end == 'E') {
		end++;
		if (*end == '-' || *end == '+')
			end++;
		fraction = end;
		end = skip_digits(end);
		if (end == fraction)
			return false;
	}
	return !*end;
}

static enum doc_kind plain_kind(const char *s)
{
	static const char *const nulls[] = {"",	    "~",    "null",
					    "Null", "NULL", NULL};
	static const char *const bools[] = {"true",  "True",  "TRUE", "false",
					    "False", "FALSE", NULL};

	if (in_list(s, nulls))
		return DOC_NULL;
	if (in_list(s, bools))
		return DOC_BOOL;
	return is_number(s) ? DOC_NUMBER : DOC_STRING;
}

static struct doc_pos mark_pos(const yaml_mark_t *m)
{
	return (struct doc_pos){.line = (uint32_t)m->line + 1,
				.col = (uint32_t)m->column + 1};
}

static int refuse(struct reader *r, const yaml_event_t *ev, const char *what)
{
	doc_error(r->b->errors, mark_pos(&ev->start_mark),
		  "%s not allowed here", what);
	return -EINVAL;
}

/* Is the value that starts now a key? Notes what comes after it. */
static bool take_turn(struct reader *r)
{
	struct doc_build *b = r->b;
	bool key = r->wants_key[b->depth];

	if (b->top && b->top->kind == DOC_MAP)
		r->wants_key[b->depth] = !key;
	return key;
}

static int on_scalar(struct reader *r, const yaml_event_t *ev)
{
	const char *text = (const char *)ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	enum doc_kind kind = plain ? plain_kind(text) : DOC_STRING;
	struct doc_pos pos = mark_pos(&ev->start_mark);

	if (ev->data.scalar.anchor)
		return refuse(r, ev, "anchors are");
	if (ev->data.scalar.tag)
		return refuse(r, ev, "tags are");
	if (!take_turn(r))
		return doc_build_scalar(r->b, kind, text, len, pos);
	if (kind == DOC_NULL)
		return refuse(r, ev, "a null key is");
	if (plain && str_eq(text, "<<"))
		return refuse(r, ev, "merge keys are");
	return doc_build_key(r->b, text, len, pos);
}

static int on_open(struct reader *r, const yaml_event_t *ev, enum doc_kind kind,
		   bool anchor, bool tag)
{
	if (anchor)
		return refuse(r, ev, "anchors are");
	if (tag)
		return refuse(r, ev, "tags are");
	if (take_turn(r))
		return refuse(r, ev, "a key that is no string is");
	if (doc_build_open(r->b, kind, mark_pos(&ev->start_mark)) < 0)
		return -EINVAL;
	r->wants_key[r->b->depth] = kind == DOC_MAP;
	return 0;
}

static int on_document(struct reader *r, const yaml_event_t *ev)
{
	if (ev->data.document_start.tag_directives.start !=
	    ev->data.document_start.tag_directives.end)
		return refuse(r, ev, "tags are");
	if (r->n_documents++)
		return refuse(r, ev, "a second document is");
	return 0;
}

static int on_event(struct reader *r, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return on_document(r, ev);
	case YAML_SCALAR_EVENT:
		return on_scalar(r, ev);
	case YAML_SEQUENCE_START_EVENT:
		return on_open(r, ev, DOC_LIST,
			       ev->data.sequence_start.anchor != NULL,
			       ev->data.sequence_start.tag != NULL);
	case YAML_MAPPING_START_EVENT:
		return on_open(r, ev, DOC_MAP,
			       ev->data.mapping_start.anchor != NULL,
			       ev->data.mapping_start.tag != NULL);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		doc_build_close(r->b);
		return 0;
	case YAML_ALIAS_EVENT:
		return refuse(r, ev, "aliases are");
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

static void report(struct reader *r, const yaml_parser_t *p, const char *data,
		   size_t len)
{
	static const struct doc_pos first = {.line = 1, .col = 1};
	struct doc_pos pos = mark_pos(&p->problem_mark);
	size_t at = p->problem_offset < len ? p->problem_offset : len;

	/* the reader, below the scanner, knows an offset only */
	if (p->error == YAML_READER_ERROR)
		pos = doc_advance(first, data, 0, at);
	if (p->context)
		doc_error(r->b->errors, pos, "invalid YAML: %s, %s", p->context,
			  p->problem);
	else
		doc_error(r->b->errors, pos, "invalid YAML: %s",
			  p->problem ? p->problem : "out of memory");
}

static int read_events(struct reader *r, yaml_parser_t *p, const char *data,
		       size_t len)
{
	bool end = false;
	int ret = 0;

	while (ret == 0 && !end) {
		yaml_event_t ev;

		if (!yaml_parser_parse(p, &ev)) {
			report(r, p, data, len);
			return -EINVAL;
		}
		ret = on_event(r, &ev);
		end = ev.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&ev);
	}
	return ret;
}

int doc_yaml(struct doc_build *b, const char *data, size_t len)
{
	struct reader r = {.b = b};
	yaml_parser_t p;
	int ret;

	if (!yaml_parser_initialize(&p)) {
		doc_error(b->errors, (struct doc_pos){0, 0}, "out of memory");
		return -EINVAL;
	}
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p, (const unsigned char *)data, len);
	ret = read_events(&r, &p, data, len);
	yaml_parser_delete(&p);
	if (ret == 0 && !b->root) {
		doc_error(b->errors, (struct doc_pos){1, 1}, "empty document");
		return -EINVAL;
	}
	return ret;
}
