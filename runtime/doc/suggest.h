/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": is a word probably a misspelling of another? */
#ifndef OSH_DOC_SUGGEST_H
#define OSH_DOC_SUGGEST_H

#include <stdbool.h>

/* Equal but for case, '-' and '_', or one letter wrong, missing, added or
 * swapped with its neighbour. Words of one or two letters never are. */
bool suggest_is_near(const char *word, const char *known);

#endif
