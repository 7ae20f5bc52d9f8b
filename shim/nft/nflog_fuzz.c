/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that an agent sent, as the privileged shim reads them. */
#include <assert.h>

#include "shim/nft/nflog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nflog_packet p;

	if (nflog_parse(data, size, &p))
		assert(size >= 20);
	return 0;
}
