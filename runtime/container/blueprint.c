/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/own.h"
#include "runtime/base/path.h"
#include "runtime/base/strbuf.h"
#include "runtime/container/blueprint.h"
#include "runtime/container/store.h"
#include "runtime/doc/errors.h"
#include "runtime/oci/spec_linux.h"
#include "runtime/policy/limits.h"

enum {
	/* a config with a thousand mounts is half a megabyte */
	BLUEPRINT_CONFIG_MAX = 16 << 20,
	BLUEPRINT_HOST_MAX = 1 << 20,
};

static const char default_host_config[] = "/etc/osh-runtime/config.yaml";
static const char default_log_dir[] = "/var/log/osh-runtime";

/* ------------------------------------------------------- host configuration */

static const char *host_config_place(struct arena *a)
{
	const char *dir;

	if (geteuid() == 0)
		return default_host_config;
	dir = getenv("XDG_CONFIG_HOME");
	if (dir && dir[0] == '/')
		return arena_printf(a, "%s/osh-runtime/config.yaml", dir);
	dir = getenv("HOME");
	if (dir && dir[0] == '/')
		return arena_printf(a, "%s/.config/osh-runtime/config.yaml",
				    dir);
	return default_host_config;
}

int blueprint_host(struct blueprint *b, const char *path, struct err *err)
{
	const char *place = path ? path : host_config_place(b->arena);
	struct doc_errors errors;
	char *text;
	size_t len;
	int r;

	host_config_default(&b->host);
	r = io_read_file(b->arena, AT_FDCWD, place, BLUEPRINT_HOST_MAX, &text,
			 &len, err);
	if (r == -ENOENT && !path)
		return 0;
	if (r < 0)
		return err_wrap(err, "read host configuration");
	doc_errors_init(&errors, b->arena, place);
	r = host_config_parse(b->arena, text, len, &b->host, &errors);
	if (r < 0) {
		doc_errors_err(&errors, err);
		return err_wrap(err, "read host configuration");
	}
	b->host.file = place;
	return 0;
}

const char *blueprint_log_dir(struct blueprint *b, struct err *err)
{
	const char *dir;

	if (b->host.log.dir)
		return b->host.log.dir;
	if (geteuid() == 0)
		return default_log_dir;
	dir = getenv("XDG_STATE_HOME");
	if (dir && dir[0] == '/')
		return arena_printf(b->arena, "%s/osh-runtime", dir);
	dir = getenv("HOME");
	if (dir && dir[0] == '/')
		return arena_printf(b->arena, "%s/.local/state/osh-runtime",
				    dir);
	err_set(err, ENOENT,
		"find folder of decision logs: neither XDG_STATE_HOME nor HOME "
		"is set");
	return NULL;
}

/* ------------------------------------------------------------------- config */

static int find_rootfs(struct blueprint *b, struct err *err)
{
	const char *path = b->spec->root ? b->spec->root->path : NULL;
	char *full;

	if (!path)
		return err_set(err, EINVAL,
			       "check config.json: root.path is missing");
	if (path[0] != '/')
		path = arena_printf(b->arena, "%s/%s", b->bundle, path);
	full = realpath(path, NULL);
	if (!full)
		return err_errno(err, errno, "open root filesystem %s", path);
	b->rootfs = arena_strdup(b->arena, full);
	free(full);
	return 0;
}

int blueprint_config(struct blueprint *b, const char *bundle, bool need_root,
		     blueprint_note note, struct err *err)
{
	char full[PATH_MAX];
	struct doc_errors errors;
	const char *file;
	int r;

	if (!realpath(bundle, full))
		return err_errno(err, errno, "open bundle %s", bundle);
	b->bundle = arena_strdup(b->arena, full);
	file = arena_printf(b->arena, "%s/config.json", full);
	r = io_read_file(b->arena, AT_FDCWD, file, BLUEPRINT_CONFIG_MAX,
			 &b->config_text, &b->config_len, err);
	if (r < 0)
		return r;
	doc_errors_init(&errors, b->arena, file);
	r = oci_spec_parse(b->arena, b->config_text, b->config_len, &b->spec,
			   &errors);
	for (size_t i = 0; note && i < errors.n; i++) {
		own_strbuf struct strbuf sb = STRBUF_HEAP;

		if (!errors.v[i].warning)
			continue;
		doc_message_text(&sb, &errors, &errors.v[i]);
		note("%s", sb.s);
	}
	if (r < 0) {
		doc_errors_err(&errors, err);
		return err_wrap(err, "read config");
	}
	if (!b->spec->process)
		return err_set(err, EINVAL, "read %s: process is missing",
			       file);
	return need_root ? find_rootfs(b, err) : 0;
}

/* ------------------------------------------------------------------- policy */

static int read_document(struct blueprint *b, const char *path, char **ret_text,
			 size_t *ret_len, struct err *err)
{
	int r = io_read_file(b->arena, AT_FDCWD, path,
			     POLICY_DOCUMENT_BYTES_MAX, ret_text, ret_len, err);

	return r < 0 ? err_wrap(err, "read policy") : 0;
}

/* /etc/openshell/policy.yaml of the image: beneath its root, a regular file */
static int read_image_document(struct blueprint *b, char **ret_text,
			       size_t *ret_len, struct err *err)
{
	own_close int root_fd = -EBADF;
	own_close int fd = -EBADF;
	struct stat st;
	int r;

	root_fd = open(b->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return err_errno(err, errno, "open root filesystem %s",
				 b->rootfs);
	r = path_open_in(root_fd, b->source.path, O_RDONLY | O_NONBLOCK, &fd,
			 err);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "stat %s", b->source.label);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "read %s: not a regular file",
			       b->source.label);
	return io_read_all(b->arena, fd, POLICY_DOCUMENT_BYTES_MAX,
			   b->source.label, ret_text, ret_len, err);
}

static int find_document(struct blueprint *b, const char *option,
			 char **ret_text, size_t *ret_len, struct err *err)
{
	struct plan_source *s = &b->source;
	int r = plan_source_find(b->arena, b->spec, &b->host, option, s, err);

	if (r < 0)
		return r;
	if (s->kind == PLAN_SOURCE_IMAGE && b->rootfs) {
		r = read_image_document(b, ret_text, ret_len, err);
		if (r != -ENOENT)
			return r;
		r = plan_source_missing(b->arena, &b->host, s, err);
		if (r < 0)
			return r;
	}
	if (s->text) {
		*ret_text = arena_strndup(b->arena, s->text, s->len);
		*ret_len = s->len;
		return 0;
	}
	return s->path ? read_document(b, s->path, ret_text, ret_len, err) : 0;
}

int blueprint_policy(struct blueprint *b, const char *option,
		     blueprint_note note, struct err *err)
{
	char *text = NULL;
	size_t len = 0;
	int r = find_document(b, option, &text, &len, err);

	if (r < 0)
		return r;
	if (b->source.warning && note)
		note("%s", b->source.warning);
	if (b->source.kind == PLAN_SOURCE_PLAIN)
		return 0;
	r = policy_file_compile(b->arena, text, len, b->source.label, note,
				&b->policy, err);
	if (r == 0)
		r = plan_source_check(&b->source, &b->policy.digest, err);
	if (r < 0)
		return r;
	b->has_policy = true;
	if (!b->host.ceiling)
		return 0;
	r = read_document(b, b->host.ceiling, &text, &len, err);
	if (r == 0)
		r = policy_file_compile(b->arena, text, len, b->host.ceiling,
					note, &b->ceiling, err);
	b->has_ceiling = r == 0;
	return r;
}

/* --------------------------------------------------------------------- plan */

/* @path of the host with all links followed; NULL when it leads nowhere. */
static const char *resolve(struct blueprint *b, const char *path)
{
	char room[PATH_MAX];

	if (path[0] != '/')
		path = arena_printf(b->arena, "%s/%s", b->bundle, path);
	return realpath(path, room) ? arena_strdup(b->arena, room) : NULL;
}

static const char *const *resolve_sources(struct blueprint *b)
{
	const struct oci_mount *m = b->spec->mounts.v;
	const char **v =
		arena_array(b->arena, const char *, b->spec->mounts.n);

	for (size_t i = 0; i < b->spec->mounts.n; i++)
		v[i] = m[i].source ? resolve(b, m[i].source) : NULL;
	return v;
}

static void add_private(struct blueprint *b, struct plan_input *in,
			const char *path)
{
	struct str_list *l = &in->private_dirs;
	const char *real;

	if (!path || path[0] != '/')
		return;
	real = resolve(b, path);
	/* what is made later on the way is there when paths are masked */
	if (!real)
		real = arena_strdup(b->arena, path);
	l->v = arena_grow(b->arena, (void *)(uintptr_t)l->v, l->n,
			  sizeof(*l->v));
	l->v[l->n++] = real;
}

void blueprint_plan_input(struct blueprint *b, const struct store *store,
			  struct plan_input *ret)
{
	struct err ignored;

	*ret = (struct plan_input){
		.spec = b->spec,
		.host = &b->host,
		.source = &b->source,
		.policy = b->has_policy ? &b->policy.view : NULL,
		.ceiling = b->has_ceiling ? &b->ceiling.view : NULL,
		.rootfs = b->rootfs,
		.sources = resolve_sources(b),
	};
	add_private(b, ret, "/etc/osh-runtime");
	add_private(b, ret, "/run/osh-runtime");
	add_private(b, ret, blueprint_log_dir(b, &ignored));
	add_private(b, ret, store ? store->root : NULL);
	add_private(b, ret, b->host.file);
	add_private(b, ret, b->host.policies);
	add_private(b, ret, b->host.default_policy);
	add_private(b, ret, b->host.ceiling);
}

int blueprint_plan(struct blueprint *b, const struct store *store,
		   struct err *err)
{
	struct plan_input in;

	blueprint_plan_input(b, store, &in);
	return plan_make(b->arena, &in, &b->plan, err);
}

void blueprint_done(struct blueprint *b)
{
	policy_file_done(&b->policy);
	policy_file_done(&b->ceiling);
}
