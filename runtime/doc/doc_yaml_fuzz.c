/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/doc/fuzz_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_doc(DOC_YAML, data, size);
}
