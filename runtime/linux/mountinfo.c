/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/linux/mountinfo.h"

enum { TEXT_MAX = 16 << 20 };

int mountinfo_read(struct arena *a, char **ret_text, struct err *err)
{
	return io_read_file(a, AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX,
			    ret_text, NULL, err);
}

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
	       s[2] >= '0' && s[2] <= '7';
}

/* "\040" is a blank. In place. */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (*s == '\\' && is_octal(s + 1)) {
			*out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 +
					(s[3] - '0'));
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

static bool parse_dev(char *s, dev_t *ret)
{
	const char *high = strsep(&s, ":");
	uint32_t major;
	uint32_t minor;

	if (!s || num_parse_u32(high, UINT32_MAX, &major) < 0 ||
	    num_parse_u32(s, UINT32_MAX, &minor) < 0)
		return false;
	*ret = makedev(major, minor);
	return true;
}

static bool parse(char *line, struct mountinfo *ret)
{
	/* id, parent, device, root, mount point, options */
	char *field[6];
	char *tail = strstr(line, " - ");

	if (!tail)
		return false;
	*tail = '\0';
	tail += 3;
	for (int i = 0; i < 6; i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return false;
	}
	if (!parse_dev(field[2], &ret->dev))
		return false;
	ret->root = field[3];
	ret->mountpoint = field[4];
	ret->type = strsep(&tail, " ");
	/* the source is of no use to us */
	if (!tail || !strsep(&tail, " ") || !tail)
		return false;
	ret->super = tail;
	unescape(ret->root);
	unescape(ret->mountpoint);
	return true;
}

bool mountinfo_next(char **text, struct mountinfo *ret)
{
	char *line;

	while ((line = strsep(text, "\n")))
		if (parse(line, ret))
			return true;
	return false;
}

bool mountinfo_is_visible(const struct mountinfo *m)
{
	struct stat st;

	return stat(m->mountpoint, &st) == 0 && st.st_dev == m->dev;
}
