/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where containers are remembered: ROOT/ID/, mode 0700.
 *
 *	state.json	what oci/state.h writes: replaced atomically
 *	config.json	the config as the client gave it
 *	start		a FIFO; the init reads one byte from it, then runs. It
 *			is gone once start has written
 *	policy, ceiling	the compiled policies, for exec and live change
 *
 * ROOT is --root, else /run/osh-runtime (rootless:
 * $XDG_RUNTIME_DIR/osh-runtime). Making the folder is what makes an id taken:
 * of two creates for one id, one wins. Whoever changes a container holds
 * flock(2) on its folder; readers don't need it, since the state is replaced
 * atomically.
 */
#ifndef OSH_CONTAINER_STORE_H
#define OSH_CONTAINER_STORE_H

#include <errno.h>
#include <stdbool.h>

struct arena;
struct err;

/* NAME_MAX, less what a decision log's name adds (".jsonl.N") */
enum { STORE_ID_MAX = 240 };

struct store {
	char *root;  /* in the arena */
	int root_fd; /* owned; -EBADF when the folder does not exist */
};

struct store_entry {
	char *id;   /* in the arena */
	char *path; /* ROOT/ID */
	int dir_fd; /* owned */
};

#define STORE_INIT	  { .root_fd = -EBADF }
#define STORE_ENTRY_INIT  { .dir_fd = -EBADF }

/* @root NULL: the default. With @make the folder is made (mode 0711: the
 * entries are 0700). Without, a missing folder is no error: it is empty. */
int store_open(struct arena *a, const char *root, bool make,
	       struct store *ret, struct err *err);
void store_done(struct store *s);

/*
 * An id is [a-zA-Z0-9_+-][a-zA-Z0-9_+.-]*, at most STORE_ID_MAX bytes: it
 * becomes the name of folders. EINVAL otherwise.
 */
int store_check_id(const char *id, struct err *err);

/* Take @id and lock it. EEXIST: "container with id X already exists". */
int store_take(struct arena *a, const struct store *s, const char *id,
	       struct store_entry *ret, struct err *err);
/* Open an entry. ENOENT: "container X does not exist". With @lock, waits for
 * the exclusive lock, then makes sure that the folder is still there. */
int store_get(struct arena *a, const struct store *s, const char *id,
	      bool lock, struct store_entry *ret, struct err *err);
void store_entry_done(struct store_entry *e);
/* Remove the folder and what we keep in it. What is gone already is fine. */
int store_remove(const struct store *s, const struct store_entry *e,
		 struct err *err);
/* Files that io_replace_file() left when it was killed, of names that begin
 * with @prefix. */
void store_remove_temporaries(int dir_fd, const char *prefix);
/* The ids, sorted; in the arena. */
int store_list(struct arena *a, const struct store *s, char ***ret_ids,
	       unsigned int *ret_n, struct err *err);

/* The folder for sockets of shims, whatever --root says: made when missing,
 * 0700. Owned descriptor. */
int store_open_shims(int *ret_fd, struct err *err);
/* The folder for caches (compiled policies and filters), the same way. */
int store_open_cache(const char *name, int *ret_fd, struct err *err);

#endif
