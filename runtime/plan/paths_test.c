/* SPDX-License-Identifier: Apache-2.0 */
/* Files: masked paths, Landlock, mounts, what must not be seen. */
#include "runtime/plan/test_world.h"

static void test_proc_paths(void **state)
{
	struct world *w = *state;
	const struct oci_linux *l;

	config_with(w, "", "",
		    ",'maskedPaths':['/proc/acpi','/x'],"
		    "'readonlyPaths':['/proc']");
	make_good(w);
	l = w->plan->spec->linux_;
	assert_string_equal(l->masked_paths.v[1], "/x");
	assert_string_equal(l->masked_paths.v[2], "/proc/asound");
	assert_int_equal(l->readonly_paths.n, 1);
	assert_int_equal(w->spec->linux_->masked_paths.n, 2);
}

static void test_landlock(void **state)
{
	struct world *w = *state;
	const struct plan_layer *l;

	config(w, minimal);
	fs(&w->build);
	w->build.header.flags |= POLICY_FS_WORKDIR | POLICY_LANDLOCK_HARD;
	w->build.header.workdir_line = 11;
	ro(&w->build, "/usr/", 12);
	rw(&w->build, "/sandbox", 13);
	policy_build_path(&w->build, "/tmp", 0,
			  POLICY_PATH_WRITE | POLICY_PATH_BASELINE);
	make_good(w);
	l = &w->plan->layer[0];
	assert_int_equal(l->landlock, PLAN_LANDLOCK_PATHS);
	assert_true(l->hard);
	assert_int_equal(l->paths.n, 4);
	assert_string_equal(l->paths.v[0].path, "/usr");
	assert_false(l->paths.v[0].write);
	assert_int_equal(l->paths.v[1].line, 13);
	assert_true(l->paths.v[2].optional);
	assert_string_equal(l->paths.v[3].path, "/work");
	assert_true(l->paths.v[3].write);
	assert_true(w->plan->spec->root->readonly);
	assert_false(w->spec->root->readonly);
	assert_note(&w->plan->changes, "root.readonly: set", "p.yaml:10");
	assert_note(&w->plan->steps,
		    "a Landlock ruleset of 4 paths (hard_requirement)",
		    "p.yaml:10");
	assert_int_equal(w->plan->writable.n, 3);
	assert_string_equal(w->plan->writable.v[0].path, "/tmp");
	assert_note(&w->plan->steps, "bind /sandbox over itself, writable",
		    "p.yaml:13");
}

static void test_workdir_is_root(void **state)
{
	struct world *w = *state;

	config(w, "{'ociVersion':'1.0.0','root':{'path':'r'},"
		  "'process':{'args':['sh'],'cwd':'/./'},"
		  "'linux':{'namespaces':[{'type':'network'}]}}");
	fs(&w->build);
	w->build.header.flags |= POLICY_FS_WORKDIR;
	w->build.header.workdir_line = 11;
	ro(&w->build, "/usr", 12);
	make_good(w);
	assert_int_equal(w->plan->layer[0].paths.n, 1);
	assert_note(&w->plan->warnings,
		    "include_workdir: the working directory is /, which is "
		    "not made writable",
		    "p.yaml:11");
}

static void test_proc_is_closed_with_binaries(void **state)
{
	struct world *w = *state;

	config(w, minimal);
	fs(&w->build);
	allow(&w->build, "a.example");
	rw(&w->build, "/proc", 12);
	make_good(w);
	assert_false(w->plan->layer[0].paths.v[0].write);
	assert_note(&w->plan->changes,
		    "filesystem_policy: /proc is read-only, because the policy "
		    "names binaries",
		    "p.yaml:12");
	assert_note(&w->plan->steps,
		    "find and pin the binaries that it names (1)", ANY);
}

static void test_binaries_without_files(void **state)
{
	struct world *w = *state;

	config(w, minimal);
	allow(&w->build, "a.example");
	make_good(w);
	assert_int_equal(w->plan->layer[0].landlock, PLAN_LANDLOCK_PROC);
	assert_false(w->plan->spec->root->readonly);
	assert_int_equal(w->plan->egress, OCI_EGRESS_POLICY);
}

static const struct oci_mount *mount_at(const struct world *w, const char *dst)
{
	const struct oci_spec *spec = w->plan->spec;

	for (size_t i = 0; i < spec->mounts.n; i++)
		if (str_eq(spec->mounts.v[i].destination, dst))
			return &spec->mounts.v[i];
	fail_msg("no mount %s", dst);
	return NULL;
}

static const char *last_option(const struct oci_mount *m)
{
	return m->options.n ? m->options.v[m->options.n - 1] : "";
}

static void test_mounts(void **state)
{
	struct world *w = *state;

	config_with(w,
		    ",'mounts':["
		    "{'destination':'/proc','type':'proc','source':'proc'},"
		    "{'destination':'/dev','type':'tmpfs','source':'t'},"
		    "{'destination':'/dev/shm','type':'tmpfs','source':'t'},"
		    "{'destination':'/data','type':'bind','source':'/d',"
		    "'options':['rbind','rw']},"
		    "{'destination':'/sandbox','type':'bind','source':'/s',"
		    "'options':['bind']},"
		    "{'destination':'/sandbox/sub','type':'bind','source':'/s',"
		    "'options':['bind']},"
		    "{'destination':'/fixed','type':'bind','source':'/f',"
		    "'options':['bind','ro']}]",
		    "", "");
	fs(&w->build);
	rw(&w->build, "/sandbox", 12);
	rw(&w->build, "/data/out", 13);
	rw(&w->build, "/data/out/deep", 14);
	rw(&w->build, "/fixed/x", 15);
	rw(&w->build, "/dev/null", 16);
	rw(&w->build, "/home", 17);
	make_good(w);
	assert_string_equal(last_option(mount_at(w, "/data")), "rro");
	assert_int_equal(mount_at(w, "/data")->options.n, 2);
	assert_string_equal(last_option(mount_at(w, "/sandbox")), "bind");
	assert_string_equal(last_option(mount_at(w, "/sandbox/sub")), "bind");
	assert_string_equal(last_option(mount_at(w, "/dev/shm")), "ro");
	assert_string_equal(last_option(mount_at(w, "/dev")), "");
	assert_string_equal(last_option(mount_at(w, "/proc")), "");
	assert_string_equal(w->spec->mounts.v[3].options.v[1], "rw");
	assert_int_equal(w->plan->writable.n, 2);
	assert_string_equal(w->plan->writable.v[0].path, "/home");
	assert_string_equal(w->plan->writable.v[1].path, "/data/out");
	assert_note(&w->plan->changes, "mounts: /data is read-only",
		    "p.yaml:10");
	assert_note(&w->plan->warnings,
		    "/fixed/x stays read-only: the config's /fixed is",
		    "p.yaml:15");
}

static void test_readonly_root_stays(void **state)
{
	struct world *w = *state;

	config(w, "{'ociVersion':'1.0.0','root':{'path':'r','readonly':true},"
		  "'process':{'args':['sh'],'cwd':'/'},"
		  "'linux':{'namespaces':[{'type':'network'}]}}");
	fs(&w->build);
	rw(&w->build, "/sandbox", 12);
	policy_build_path(&w->build, "/tmp", 0,
			  POLICY_PATH_WRITE | POLICY_PATH_BASELINE);
	make_good(w);
	assert_int_equal(w->plan->writable.n, 0);
	assert_int_equal(w->plan->warnings.n, 1);
	assert_note(&w->plan->warnings,
		    "/sandbox stays read-only: the config's root is",
		    "p.yaml:12");
}

static void test_private_dirs(void **state)
{
	struct world *w = *state;
	const struct str_list *masked;

	config_with(w,
		    ",'mounts':[{'destination':'/host','type':'bind',"
		    "'source':'/','options':['rbind']},"
		    "{'destination':'/r','type':'bind','source':'/run/',"
		    "'options':['bind']},"
		    "{'destination':'/t','type':'tmpfs','source':'/run'},"
		    "{'destination':'/rel','type':'bind','source':'run'}]",
		    "", "");
	make_good(w);
	masked = &w->plan->spec->linux_->masked_paths;
	assert_string_equal(masked->v[masked->n - 3], "/host/run/osh-runtime");
	assert_string_equal(masked->v[masked->n - 2], "/host/etc/osh-runtime");
	assert_string_equal(masked->v[masked->n - 1], "/r/osh-runtime");
	config_with(w,
		    ",'mounts':[{'destination':'/x','type':'bind',"
		    "'source':'/etc/../run/osh-runtime/c'}]",
		    "", "");
	make_bad(w, "check mount /x: its source /etc/../run/osh-runtime/c is "
		    "osh-runtime's own (/run/osh-runtime)");
	config_with(w,
		    ",'mounts':[{'destination':'/x','type':'bind',"
		    "'source':'/run/osh-runtime-other'}]",
		    "", "");
	make_good(w);
}

/* Where links lead is the caller's to say. */
static void test_private_dirs_by_links(void **state)
{
	static const char *const sources[] = {"/run", NULL};
	struct world *w = *state;
	const struct str_list *masked;

	w->in.sources = sources;
	w->in.rootfs = "/";
	config_with(w,
		    ",'mounts':[{'destination':'/r','type':'bind',"
		    "'source':'/var/run'},"
		    "{'destination':'/t','type':'tmpfs','source':'t'}]",
		    "", "");
	make_good(w);
	masked = &w->plan->spec->linux_->masked_paths;
	assert_string_equal(masked->v[masked->n - 3], "/r/osh-runtime");
	assert_string_equal(masked->v[masked->n - 2], "/run/osh-runtime");
	assert_string_equal(masked->v[masked->n - 1], "/etc/osh-runtime");
}

static void test_sockets(void **state)
{
	struct world *w = *state;

	config_with(w,
		    ",'mounts':[{'destination':'/d.sock','type':'bind',"
		    "'source':'/run/docker.sock'},"
		    "{'destination':'/e','type':'bind','source':'/e'}]",
		    "", "");
	make_good(w);
	assert_int_equal(w->plan->warnings.n, 1);
	assert_non_null(strstr(w->plan->warnings.v[0].text,
			       "/run/docker.sock is a socket of the host"));
}

static void test_devices(void **state)
{
	struct world *w = *state;
	const struct oci_resources *r;

	config_with(w, "", "",
		    ",'resources':{'devices':[{'allow':false},"
		    "{'allow':true,'type':'a','major':-1,'access':'rwm'},"
		    "{'allow':true,'type':'b','access':'r'},"
		    "{'allow':true,'type':'c','major':10,'minor':200}]}");
	make_good(w);
	assert_note(&w->plan->changes,
		    "linux.resources.devices: the rule that opens every "
		    "device of the host is removed",
		    ANY);
	r = w->plan->spec->linux_->resources;
	assert_int_equal(r->devices.n, 2);
	assert_false(r->devices.v[0].allow);
	assert_int_equal(r->devices.v[1].major.v, 10);
	/* to make nodes is not to open them */
	config_with(w, "", "",
		    ",'resources':{'devices':[{'allow':false},"
		    "{'allow':true,'type':'c','access':'m'}]}");
	make_good(w);
	assert_int_equal(w->plan->spec->linux_->resources->devices.n, 2);
}

static void test_notes_are_printable(void **state)
{
	struct world *w = *state;

	config_with(w,
		    ",'mounts':[{'destination':'/\\u001b[2J','type':'bind',"
		    "'source':'/x.sock\\n.sock'}]",
		    "", "");
	make_good(w);
	assert_non_null(str_after(w->plan->warnings.v[0].text,
				  "mount /?[2J: /x.sock?.sock is"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_proc_paths),
		TEST(test_landlock),
		TEST(test_workdir_is_root),
		TEST(test_proc_is_closed_with_binaries),
		TEST(test_binaries_without_files),
		TEST(test_mounts),
		TEST(test_readonly_root_stays),
		TEST(test_private_dirs),
		TEST(test_private_dirs_by_links),
		TEST(test_sockets),
		TEST(test_devices),
		TEST(test_notes_are_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
