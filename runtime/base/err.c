/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"

/*
 * Peers' clients match on Go's wording, which is strerror's in lower case
 * ("no such file or directory"). Only the first letter differs.
 */
const char *err_text(int code)
{
	static _Thread_local char text[128];
	const char *s = strerrordesc_np(code);

	if (!s) {
		snprintf(text, sizeof(text), "error %d", code);
		return text;
	}
	snprintf(text, sizeof(text), "%s", s);
	/* "Input/output error" yes, "RFS specific error" no */
	if (text[0] >= 'A' && text[0] <= 'Z' &&
	    !(text[1] >= 'A' && text[1] <= 'Z'))
		text[0] = (char)(text[0] - 'A' + 'a');
	return text;
}

static __attribute__((format(printf, 3, 0))) void
vformat(struct err *err, int code, const char *fmt, va_list ap)
{
	assert(code > 0);
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	str_make_printable(err->text);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vformat(err, code, fmt, ap);
	va_end(ap);
	return -code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vformat(err, code, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", err_text(code));
	return -code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vformat(err, err->code, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return -err->code;
}
