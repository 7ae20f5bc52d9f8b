/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "shim/notify/hashes.h"

struct entry {
	struct file_id file;
	struct digest sum;
	bool used;
};

/* Oldest goes first: hashing again is only slow, never wrong. */
static struct entry entries[SHIM_HASHES_MAX];
static unsigned int next_entry;

static const struct entry *find(const struct file_id *file)
{
	for (unsigned int i = 0; i < SHIM_HASHES_MAX && entries[i].used; i++)
		if (file_id_equal(&entries[i].file, file))
			return &entries[i];
	return NULL;
}

static bool is_still(int fd, const struct file_id *file)
{
	struct file_id now;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	now = file_id_of(&st);
	return file_id_equal(&now, file);
}

bool hashes_of_exe(int proc_fd, int pid, const struct file_id *file,
		   uint64_t max_bytes, struct digest *ret)
{
	const struct entry *known = find(file);
	own_close int fd = -EBADF;
	struct err err = ERR_INIT;
	struct entry *e;
	char path[32];

	if (known) {
		*ret = known->sum;
		return true;
	}
	if (file->size > max_bytes)
		return false;
	snprintf(path, sizeof(path), "%d/exe", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || !is_still(fd, file) ||
	    digest_of_fd(ret, fd, path, &err) < 0 || !is_still(fd, file))
		return false;
	e = &entries[next_entry];
	next_entry = (next_entry + 1) % SHIM_HASHES_MAX;
	*e = (struct entry){ .file = *file, .sum = *ret, .used = true };
	return true;
}
