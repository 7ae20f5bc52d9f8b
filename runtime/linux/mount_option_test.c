/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mount.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/linux/compat.h"
#include "runtime/linux/mount.h"
#include "runtime/linux/mount_option.h"

static struct mount_options parse(struct arena *a, const char *const *v,
				  size_t n)
{
	struct err err = ERR_INIT;
	struct mount_options o;

	if (mount_options_parse(a, v, n, &o, &err) < 0)
		fail_msg("%s", err.text);
	return o;
}

#define PARSE(a, ...)                                \
	parse(a, (const char *const[]){__VA_ARGS__}, \
	      N_ELEMENTS(((const char *const[]){__VA_ARGS__})))

static void table_is_sorted_and_found(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; mount_option_name(i); i++, n++) {
		own_arena struct arena a = ARENA_INIT;
		const char *name = mount_option_name(i);

		if (i)
			assert_true(strcmp(mount_option_name(i - 1), name) < 0);
		/* a word that is found is not data */
		assert_null(PARSE(&a, name).data);
	}
	assert_int_equal(n, mount_option_n);
}

/* The words of runtime-spec 1.3, config.md, "Linux mount options". */
static void the_specification_is_covered(void **state)
{
	static const char *const names[] = {
		"async",	"atime",	"bind",
		"defaults",	"dev",		"diratime",
		"dirsync",	"exec",		"iversion",
		"lazytime",	"loud",		"mand",
		"noatime",	"nodev",	"nodiratime",
		"noexec",	"noiversion",	"nolazytime",
		"nomand",	"norelatime",	"nostrictatime",
		"nosuid",	"nosymfollow",	"private",
		"ratime",	"rbind",	"rdev",
		"rdiratime",	"relatime",	"remount",
		"rexec",	"rnoatime",	"rnodiratime",
		"rnoexec",	"rnorelatime",	"rnostrictatime",
		"rnosuid",	"rnosymfollow", "ro",
		"rprivate",	"rrelatime",	"rro",
		"rrw",		"rshared",	"rslave",
		"rstrictatime", "rsuid",	"rsymfollow",
		"runbindable",	"rw",		"shared",
		"silent",	"slave",	"strictatime",
		"suid",		"symfollow",	"sync",
		"tmpcopyup",	"unbindable",	"idmap",
		"ridmap",
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(names); i++) {
		own_arena struct arena a = ARENA_INIT;

		assert_null(PARSE(&a, names[i]).data);
	}
}

static void the_last_word_counts(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct mount_options o = PARSE(&a, "ro", "nosuid", "rw");

	(void)state;
	assert_int_equal(o.flags, MS_NOSUID);
	assert_int_equal(o.cleared, MS_RDONLY);
	o = PARSE(&a, "rw", "ro");
	assert_int_equal(o.flags, MS_RDONLY);
	assert_int_equal(o.cleared, 0);
	o = PARSE(&a, "rro", "rrw");
	assert_int_equal(o.rec_set, 0);
	assert_int_equal(o.rec_clear, MOUNT_ATTR_RDONLY);
}

static void unknown_words_are_data(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct mount_options o =
		PARSE(&a, "mode=755", "nodev", "size=65536k", "rprivate");

	(void)state;
	assert_string_equal(o.data, "mode=755,size=65536k");
	assert_int_equal(o.flags, MS_NODEV);
	assert_int_equal(o.n_propagation, 1);
	assert_int_equal(o.propagation[0], MS_PRIVATE | MS_REC);
}

static void binds(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct mount_options o = PARSE(&a, "rbind", "ridmap", "tmpcopyup");

	(void)state;
	assert_true(o.bind && o.recursive && o.tmpcopyup);
	assert_int_equal(o.idmap, MOUNT_IDMAP_RECURSIVE);
	o = PARSE(&a, "bind", "idmap");
	assert_true(o.bind && !o.recursive);
	assert_int_equal(o.idmap, MOUNT_IDMAP_TOP);
}

/* mount_setattr(2): a way of keeping access times is set by clearing all. */
static void access_times_are_one_field(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	struct mount_options o = PARSE(&a, "rnoatime", "rstrictatime");
	uint64_t set;
	uint64_t clear;

	(void)state;
	assert_int_equal(o.rec_set, MOUNT_ATTR_STRICTATIME);
	assert_int_equal(o.rec_clear, MOUNT_ATTR__ATIME);
	o = PARSE(&a, "rnoatime", "rrelatime");
	assert_int_equal(o.rec_set, 0);
	assert_int_equal(o.rec_clear, MOUNT_ATTR__ATIME);
	o = PARSE(&a, "noatime", "ro", "suid");
	mount_option_attrs(&o, &set, &clear);
	assert_int_equal(set, MOUNT_ATTR_NOATIME | MOUNT_ATTR_RDONLY);
	assert_int_equal(clear, MOUNT_ATTR__ATIME | MOUNT_ATTR_NOSUID);
	o = PARSE(&a, "nodev");
	mount_option_attrs(&o, &set, &clear);
	assert_int_equal(set, MOUNT_ATTR_NODEV);
	assert_int_equal(clear, 0);
}

static void limits(void **state)
{
	own_arena struct arena a = ARENA_INIT;
	const char *many[MOUNT_PROPAGATIONS_MAX + 1];
	struct err err = ERR_INIT;
	struct mount_options o;
	char word[5000];
	const char *const big[] = {word};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(many); i++)
		many[i] = "rslave";
	assert_int_equal(
		mount_options_parse(&a, many, N_ELEMENTS(many), &o, &err),
		-EINVAL);
	assert_int_equal(
		mount_options_parse(&a, many, N_ELEMENTS(many) - 1, &o, &err),
		0);
	memset(word, 'x', sizeof(word));
	word[4096] = '\0';
	assert_int_equal(mount_options_parse(&a, big, 1, &o, &err), -EINVAL);
	word[4095] = '\0';
	assert_int_equal(mount_options_parse(&a, big, 1, &o, &err), 0);
}

static void propagation_by_name(void **state)
{
	(void)state;
	assert_int_equal(mount_propagation_parse("rslave"), MS_SLAVE | MS_REC);
	assert_int_equal(mount_propagation_parse("shared"), MS_SHARED);
	assert_int_equal(mount_propagation_parse("ro"), 0);
	assert_int_equal(mount_propagation_parse(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_sorted_and_found),
		cmocka_unit_test(the_specification_is_covered),
		cmocka_unit_test(the_last_word_counts),
		cmocka_unit_test(unknown_words_are_data),
		cmocka_unit_test(binds),
		cmocka_unit_test(access_times_are_one_field),
		cmocka_unit_test(limits),
		cmocka_unit_test(propagation_by_name),
	};

	return cmocka_run_group_tests_name("mount_option", tests, NULL, NULL);
}
