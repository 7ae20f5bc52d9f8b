/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/errors.h"

void doc_errors_init(struct doc_errors *e, struct arena *a, const char *file)
{
	*e = (struct doc_errors){.arena = a, .file = file};
}

static void add(struct doc_errors *e, struct doc_pos pos, bool warning,
		const struct strbuf *text)
{
	char *copy;

	if (warning)
		e->n_warnings++;
	else
		e->n_errors++;
	if (e->n == DOC_ERRORS_MAX) {
		e->n_dropped++;
		return;
	}
	copy = arena_strndup(e->arena, text->s, text->len);
	str_make_printable(copy);
	e->v = arena_grow(e->arena, e->v, e->n, sizeof(*e->v));
	e->v[e->n++] = (struct doc_message){
		.pos = pos,
		.text = copy,
		.warning = warning,
	};
}

void doc_error(struct doc_errors *e, struct doc_pos pos, const char *fmt, ...)
{
	char room[480];
	struct strbuf text = STRBUF_FIXED(room);
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	add(e, pos, false, &text);
}

static void add_at(struct doc_errors *e, const struct doc_node *node,
		   bool warning, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));

static void add_at(struct doc_errors *e, const struct doc_node *node,
		   bool warning, const char *fmt, va_list ap)
{
	char room[480];
	struct strbuf text = STRBUF_FIXED(room);
	struct doc_pos pos = {0, 0};

	if (node) {
		pos = node->pos;
		doc_path(&text, node);
		if (text.len)
			strbuf_adds(&text, ": ");
	}
	strbuf_vaddf(&text, fmt, ap);
	add(e, pos, warning, &text);
}

void doc_error_at(struct doc_errors *e, const struct doc_node *node,
		  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_at(e, node, false, fmt, ap);
	va_end(ap);
}

void doc_warning_at(struct doc_errors *e, const struct doc_node *node,
		    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_at(e, node, true, fmt, ap);
	va_end(ap);
}

void doc_message_text(struct strbuf *sb, const struct doc_errors *e,
		      const struct doc_message *m)
{
	if (e->file)
		strbuf_addf(sb, "%s:", e->file);
	if (m->pos.line)
		strbuf_addf(sb, "%u:%u:", m->pos.line, m->pos.col);
	if (sb->len)
		strbuf_addc(sb, ' ');
	if (m->warning)
		strbuf_adds(sb, "warning: ");
	strbuf_adds(sb, m->text);
}

int doc_errors_err(const struct doc_errors *e, struct err *err)
{
	char room[sizeof(err->text)];
	struct strbuf sb = STRBUF_FIXED(room);
	size_t i = 0;

	while (i < e->n && e->v[i].warning)
		i++;
	if (i == e->n) /* dropped, behind many warnings */
		return err_set(err, EINVAL, "%s: %zu errors", e->file,
			       e->n_errors);
	doc_message_text(&sb, e, &e->v[i]);
	if (e->n_errors > 1)
		strbuf_addf(&sb, " (and %zu more)", e->n_errors - 1);
	return err_set(err, EINVAL, "%s", sb.s);
}
