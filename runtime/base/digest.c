/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sodium/crypto_hash_sha256.h>
#include <unistd.h>

#include "runtime/base/digest.h"
#include "runtime/base/err.h"
#include "runtime/base/strbuf.h"

_Static_assert(DIGEST_BYTES == crypto_hash_sha256_BYTES, "SHA-256");

void digest_of(struct digest *ret, const void *data, size_t n)
{
	crypto_hash_sha256(ret->b, data, n);
}

int digest_of_fd(struct digest *ret, int fd, const char *what, struct err *err)
{
	crypto_hash_sha256_state st;
	unsigned char chunk[8192];
	off_t at = 0;

	crypto_hash_sha256_init(&st);
	for (;;) {
		ssize_t n = pread(fd, chunk, sizeof(chunk), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "read %s", what);
		if (n == 0)
			break;
		crypto_hash_sha256_update(&st, chunk, (size_t)n);
		at += n;
	}
	crypto_hash_sha256_final(&st, ret->b);
	return 0;
}

void digest_hex(const struct digest *d, char ret_hex[DIGEST_HEX])
{
	struct strbuf sb = { .s = ret_hex, .size = DIGEST_HEX };

	strbuf_addhex(&sb, d->b, DIGEST_BYTES);
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int digest_parse(struct digest *ret, const char *s)
{
	const char *hex = str_after(s, "sha256:");

	if (!hex)
		hex = s;
	if (strlen(hex) != 2 * DIGEST_BYTES)
		return -EINVAL;
	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		int hi = nibble(hex[2 * i]), lo = nibble(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return -EINVAL;
		ret->b[i] = (uint8_t)(hi << 4 | lo);
	}
	return 0;
}
