/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/linux/keyring.h"

/* KEY_USR_SEARCH of <linux/key.h>, which is not for user space */
enum { USER_SEARCH = 0x00080000 };

/*
 * A process of the same user that does not possess the keyring (one that exec
 * brings in) may find keys in it only with the user's search bit. The
 * permission word can be replaced only as a whole, so it is read first;
 * KEYCTL_DESCRIBE gives "type;uid;gid;perm;description".
 */
static int allow_search(int32_t id, struct err *err)
{
	char text[512];
	long n = syscall(SYS_keyctl, KEYCTL_DESCRIBE, id, text, sizeof(text));
	unsigned long perm = 0;
	int field = 0;

	if (n < 0)
		return err_errno(err, errno, "describe the session keyring");
	for (const char *p = text; p < text + sizeof(text) && *p; p++) {
		if (*p == ';') {
			field++;
			continue;
		}
		if (field != 3)
			continue;
		perm = perm << 4 |
		       (unsigned long)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	}
	if (field < 4)
		return err_set(err, EPROTO,
			       "describe the session keyring: "
			       "unknown format");
	if (syscall(SYS_keyctl, KEYCTL_SETPERM, id, perm | USER_SEARCH) < 0)
		return err_errno(err, errno,
				 "set the session keyring's rights");
	return 0;
}

int keyring_join(const char *name, int32_t *ret_id, struct err *err)
{
	long id = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name);
	int r;

	if (id < 0)
		return err_errno(err, errno, "join session keyring %s",
				 name ? name : "(new)");
	r = allow_search((int32_t)id, err);
	if (r == 0 && ret_id)
		*ret_id = (int32_t)id;
	return r;
}
