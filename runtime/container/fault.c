/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/base/num.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/fault.h"

enum { STEP_DIGITS_MAX = 4 };

int fault_parse(const char *text, struct fault *ret)
{
	char number[STEP_DIGITS_MAX + 1];
	size_t n;

	*ret = (struct fault){ 0 };
	if (!text)
		return 0;
	n = strcspn(text, ":");
	ret->die = str_eq(text + n, ":kill");
	if ((text[n] && !ret->die) || n > STEP_DIGITS_MAX || text[0] == '0')
		return -EINVAL;
	memcpy(number, text, n);
	number[n] = '\0';
	return num_parse_u32(number, UINT32_MAX, &ret->step);
}

int fault_inject(const struct fault *f, uint32_t step, struct err *err)
{
	if (f->step != step)
		return 0;
	if (f->die)
		raise(SIGKILL);
	return err_set(err, ECANCELED, "create: fault injected at step %u",
		       step);
}
