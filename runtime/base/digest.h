/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), by libsodium. */
#ifndef OSH_BASE_DIGEST_H
#define OSH_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	DIGEST_BYTES = 32,
	DIGEST_HEX = 65, /* with the NUL */
};

struct digest {
	uint8_t b[DIGEST_BYTES];
};

void digest_of(struct digest *ret, const void *data, size_t n);
/* Of the whole file behind @fd, read from offset 0 with pread. */
int digest_of_fd(struct digest *ret, int fd, const char *what,
		 struct err *err);
void digest_hex(const struct digest *d, char ret_hex[DIGEST_HEX]);
/* "sha256:HEX" or "HEX", lower case; 0 or -EINVAL. */
int digest_parse(struct digest *ret, const char *s);

#endif
