/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command line options as rows of a table.
 *
 * Accepted forms, because clients use them all: --name value, --name=value,
 * -name value and -name=value (Go's flag package), -n value and -nvalue for
 * the short letter. Parsing stops at the first word that is no option, and
 * after "--". An option may be repeated only where its kind says so.
 */
#ifndef OSH_BASE_OPTIONS_H
#define OSH_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;

enum option_kind {
	OPTION_FLAG,   /* bool; --name=true and --name=false too */
	OPTION_STRING, /* const char * */
	OPTION_LIST,   /* struct option_list, repeated */
	OPTION_U32,    /* unsigned int */
	OPTION_IGNORED_FLAG,   /* accepted for peers' clients: no effect here */
	OPTION_IGNORED_STRING, /* the same, with a value */
	OPTION_KIND_N
};

struct option_list {
	const char **v; /* in the arena */
	size_t n;
};

struct option_row {
	const char *name; /* without dashes */
	char letter;	  /* or 0 */
	enum option_kind kind;
	size_t offset;	   /* of the member in the options struct */
	const char *value; /* the value's name in the help, or NULL */
	const char *help;
};

/*
 * Parse @argv[1..] into @ret (zeroed or holding defaults) by @rows, which end
 * with a row without name. Returns the index of the first word that is not an
 * option, or a negative errno. Strings point into argv.
 */
int options_parse(struct arena *a, const struct option_row *rows, int argc,
		  char **argv, void *ret, struct err *err);

/* Print the rows' help, aligned, to stdout. */
void options_help(const struct option_row *rows);

#endif
