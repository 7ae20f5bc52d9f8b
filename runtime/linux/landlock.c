/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/linux/landlock.h"

/* Later than the headers of Debian 12 (Linux 6.1's, as it was released) */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

/* Which right came with which ABI, and what it is for. */
static const struct {
	uint64_t right;
	int abi;
	bool file; /* has a meaning for what is no directory */
	bool read_only;
	bool write_only;
} rows[] = {
	{LANDLOCK_ACCESS_FS_EXECUTE, 1, true, true, false},
	{LANDLOCK_ACCESS_FS_WRITE_FILE, 1, true, false, true},
	{LANDLOCK_ACCESS_FS_READ_FILE, 1, true, true, false},
	{LANDLOCK_ACCESS_FS_READ_DIR, 1, false, true, false},
	{LANDLOCK_ACCESS_FS_REMOVE_DIR, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_REMOVE_FILE, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_MAKE_CHAR, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_MAKE_DIR, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_MAKE_REG, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_MAKE_SOCK, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_MAKE_FIFO, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_MAKE_BLOCK, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_MAKE_SYM, 1, false, false, false},
	{LANDLOCK_ACCESS_FS_REFER, 2, false, false, false},
	{LANDLOCK_ACCESS_FS_TRUNCATE, 3, true, false, true},
	{LANDLOCK_ACCESS_FS_IOCTL_DEV, 5, true, false, false},
};

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

uint64_t landlock_rights(int abi, enum landlock_mode mode, int is_dir)
{
	uint64_t rights = 0;

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		if (rows[i].abi > abi || (!is_dir && !rows[i].file) ||
		    (mode == LANDLOCK_READ_ONLY && !rows[i].read_only) ||
		    (mode == LANDLOCK_WRITE_ONLY && !rows[i].write_only))
			continue;
		rights |= rows[i].right;
	}
	return rights;
}

int landlock_ruleset(int abi, enum landlock_mode handled, int *ret_fd,
		     struct err *err)
{
	struct {
		uint64_t handled_access_fs; /* all that ABI 1 has */
	} attr = {landlock_rights(abi, handled, 1)};
	long fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (fd < 0)
		return err_errno(err, errno, "create Landlock ruleset");
	*ret_fd = (int)fd; /* the kernel makes it close-on-exec */
	return 0;
}

int landlock_grant(int ruleset_fd, int abi, enum landlock_mode mode,
		   int path_fd, const char *path, struct err *err)
{
	struct landlock_path_beneath_attr rule = {.parent_fd = path_fd};
	struct stat st;

	if (fstat(path_fd, &st) < 0)
		return err_errno(err, errno, "stat %s", path);
	rule.allowed_access = landlock_rights(abi, mode, S_ISDIR(st.st_mode));
	if (syscall(SYS_landlock_add_rule, ruleset_fd,
		    LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return err_errno(err, errno, "add Landlock rule for %s", path);
	return 0;
}

int landlock_restrict(int ruleset_fd, struct err *err)
{
	if (syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0)
		return err_errno(err, errno, "enforce Landlock ruleset");
	return 0;
}
