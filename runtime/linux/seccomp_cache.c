/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file, in this machine's byte order:
 *
 *	magic[8] n_insns:32 flags:32 n_unknown:32 unknown_bytes:32
 *	key[32] digest[32] instructions[8 * n_insns] names[unknown_bytes]
 *
 * where digest is of the whole file with itself zeroed, and names are
 * NUL-terminated.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/seccomp_cache.h"
#include "runtime/linux/seccomp_compile.h"

#define MAGIC "OSHSECC1"

enum {
	FLAG_NOTIFIES = 1,
	NAMES_MAX = 64 << 10,
	NAME_ROOM = DIGEST_HEX + sizeof(".bpf"),
};

struct header {
	char magic[8];
	uint32_t n_insns;
	uint32_t flags;
	uint32_t n_unknown;
	uint32_t unknown_bytes;
	struct digest key;
	struct digest digest;
};
_Static_assert(sizeof(struct header) == 88, "no holes");
_Static_assert(sizeof(struct sock_filter) == 8, "no holes");

static void file_name(const struct digest *key, struct strbuf *sb)
{
	char hex[DIGEST_HEX];

	digest_hex(key, hex);
	strbuf_adds(sb, hex);
	strbuf_adds(sb, ".bpf");
}

/* 0, or the reason why the file is not to be believed. */
static int check_file(int fd, const char *name, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat %s", name);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return err_set(err, EBADMSG, "%s is no plain file", name);
	if (st.st_uid != geteuid())
		return err_set(err, EBADMSG, "%s belongs to user %u", name,
			       st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, EBADMSG, "%s can be written by others",
			       name);
	return 0;
}

static bool names_fit(const char *names, const struct header *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->unknown_bytes; i++)
		n += names[i] == '\0';
	return n == h->n_unknown &&
	       (h->unknown_bytes == 0 || names[h->unknown_bytes - 1] == '\0');
}

static bool is_intact(char *data, size_t len, struct header *h,
		      const struct digest *key)
{
	struct digest is;

	if (len < sizeof(*h))
		return false;
	memcpy(h, data, sizeof(*h));
	if (memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0 ||
	    memcmp(&h->key, key, sizeof(*key)) != 0 || h->n_insns == 0 ||
	    h->n_insns > BPF_MAXINSNS || h->unknown_bytes > NAMES_MAX ||
	    len != sizeof(*h) + sizeof(struct sock_filter) * h->n_insns +
			    h->unknown_bytes)
		return false;
	memset(data + offsetof(struct header, digest), 0, sizeof(h->digest));
	digest_of(&is, data, len);
	return memcmp(&is, &h->digest, sizeof(is)) == 0 &&
	       names_fit(data + len - h->unknown_bytes, h);
}

static void fill(struct arena *a, const char *data, const struct header *h,
		 struct seccomp_prog *ret)
{
	const char *name =
		data + sizeof(*h) + sizeof(struct sock_filter) * h->n_insns;

	*ret = (struct seccomp_prog){
		.insns = arena_array(a, struct sock_filter, h->n_insns),
		.n_insns = h->n_insns,
		.notifies = h->flags & FLAG_NOTIFIES,
		.unknown = arena_array(a, const char *, h->n_unknown),
		.n_unknown = h->n_unknown,
	};
	memcpy(ret->insns, data + sizeof(*h),
	       sizeof(struct sock_filter) * h->n_insns);
	for (size_t i = 0; i < ret->n_unknown; i++) {
		ret->unknown[i] = arena_strdup(a, name);
		name += strlen(name) + 1;
	}
}

int seccomp_cache_load(struct arena *a, int dir_fd, const struct digest *key,
		       struct seccomp_prog *ret, bool *ret_found,
		       struct err *err)
{
	char room[NAME_ROOM];
	struct strbuf name = STRBUF_FIXED(room);
	own_close int fd = -EBADF;
	struct header h;
	char *data = NULL;
	size_t len = 0;
	int r;

	*ret_found = false;
	file_name(key, &name);
	fd = openat(dir_fd, name.s,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, errno, "open %s", name.s);
	r = check_file(fd, name.s, err);
	if (r == 0)
		r = io_read_all(a, fd, sizeof(h) + 8 * BPF_MAXINSNS + NAMES_MAX,
				name.s, &data, &len, err);
	if (r < 0)
		return r;
	if (!is_intact(data, len, &h, key))
		return err_set(err, EBADMSG, "%s is damaged", name.s);
	fill(a, data, &h, ret);
	*ret_found = true;
	return 0;
}

int seccomp_cache_store(int dir_fd, const struct digest *key,
			const struct seccomp_prog *prog, struct err *err)
{
	struct header h = {
		.n_insns = (uint32_t)prog->n_insns,
		.flags = prog->notifies ? FLAG_NOTIFIES : 0,
		.n_unknown = (uint32_t)prog->n_unknown,
		.key = *key,
	};
	own_strbuf struct strbuf file = STRBUF_HEAP;
	char room[NAME_ROOM];
	struct strbuf name = STRBUF_FIXED(room);

	memcpy(h.magic, MAGIC, sizeof(h.magic));
	for (size_t i = 0; i < prog->n_unknown; i++)
		h.unknown_bytes += (uint32_t)strlen(prog->unknown[i]) + 1;
	strbuf_add(&file, &h, sizeof(h));
	strbuf_add(&file, prog->insns, sizeof(*prog->insns) * prog->n_insns);
	for (size_t i = 0; i < prog->n_unknown; i++)
		strbuf_add(&file, prog->unknown[i],
			   strlen(prog->unknown[i]) + 1);
	digest_of(&h.digest, file.s, file.len);
	memcpy(file.s, &h, sizeof(h));
	file_name(key, &name);
	return io_replace_file(dir_fd, name.s, file.s, file.len, err);
}
