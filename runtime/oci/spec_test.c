/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader against what clients really write (testdata/config, process) and
 * the specification's own cases (testdata/schema). Run from the top of the
 * tree, as `make unit` does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/err.h"
#include "runtime/base/io.h"
#include "runtime/base/json.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/oci/names.h"
#include "runtime/oci/spec_linux.h"
#include "runtime/oci/tables.h"

#define DATA "runtime/oci/testdata"

static struct arena arena;
static struct doc_errors errors;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

static const char *first_message(void)
{
	static char room[600];
	struct strbuf sb = STRBUF_FIXED(room);

	if (errors.n)
		doc_message_text(&sb, &errors, &errors.v[0]);
	return room;
}

static int parse_text(const char *text, size_t len, struct oci_spec **ret)
{
	doc_errors_init(&errors, &arena, "config.json");
	return oci_spec_parse(&arena, text, len, ret, &errors);
}

static void read_file(const char *path, char **ret, size_t *ret_len)
{
	struct err err = ERR_INIT;

	if (io_read_file(&arena, AT_FDCWD, path, DOC_BYTES_MAX, ret, ret_len,
			 &err) < 0)
		fail_msg("%s", err.text);
}

static int parse_file(const char *path, struct oci_spec **ret)
{
	char *text;
	size_t len;

	read_file(path, &text, &len);
	return parse_text(text, len, ret);
}

/* Calls @fn for every file of a folder; there must be at least @min. */
static void each_file(const char *dir, unsigned int min,
		      void (*fn)(const char *path))
{
	own_dir DIR *d = opendir(dir);
	unsigned int n = 0;
	struct dirent *e;

	if (!d)
		fail_msg("no folder %s: run this from the top of the tree",
			 dir);
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len < 5 || !str_eq(e->d_name + len - 5, ".json"))
			continue;
		fn(arena_printf(&arena, "%s/%s", dir, e->d_name));
		n++;
	}
	assert_true(n >= min);
}

static void config_round_trip(const char *path)
{
	own_strbuf struct strbuf one = STRBUF_HEAP, two = STRBUF_HEAP;
	struct json j = json_to(&one, true), k = json_to(&two, true);
	struct oci_spec *spec;

	if (parse_file(path, &spec) < 0)
		fail_msg("%s: %s", path, first_message());
	assert_non_null(spec->process);
	assert_true(spec->linux_->namespaces.n > 0);
	oci_spec_write(&j, NULL, spec);
	if (parse_text(one.s, one.len, &spec) < 0)
		fail_msg("%s, written: %s", path, first_message());
	oci_spec_write(&k, NULL, spec);
	assert_string_equal(one.s, two.s);
}

static void test_clients_configs(void **state)
{
	(void)state;
	each_file(DATA "/config", 21, config_round_trip);
}

static void process_round_trip(const char *path)
{
	own_strbuf struct strbuf one = STRBUF_HEAP, two = STRBUF_HEAP;
	struct json j = json_to(&one, false), k = json_to(&two, false);
	struct oci_process *p;
	char *text;
	size_t len;

	read_file(path, &text, &len);
	doc_errors_init(&errors, &arena, path);
	if (oci_process_parse(&arena, text, len, &p, &errors) < 0)
		fail_msg("%s", first_message());
	assert_true(p->args.n > 0);
	assert_null(p->args.v[p->args.n]);
	oci_process_write(&j, NULL, p);
	assert_int_equal(oci_process_parse(&arena, one.s, one.len, &p, &errors),
			 0);
	oci_process_write(&k, NULL, p);
	assert_string_equal(one.s, two.s);
}

static void test_clients_processes(void **state)
{
	(void)state;
	each_file(DATA "/process", 8, process_round_trip);
}

/* --------------------------------------------- the specification's cases */

static void must_fail(const char *path)
{
	struct oci_spec *spec;

	assert_int_equal(parse_file(path, &spec), -EINVAL);
	assert_true(errors.n_errors > 0);
}

static void test_schema(void **state)
{
	struct oci_spec *spec;

	(void)state;
	each_file(DATA "/schema/config/bad", 4, must_fail);
	assert_int_equal(
		parse_file(DATA "/schema/config/good/minimal.json", &spec), 0);
	assert_null(spec->process);
	assert_non_null(spec->linux_);
	assert_int_equal(
		parse_file(DATA "/schema/config/good/minimal-for-start.json",
			   &spec),
		0);
	assert_int_equal(
		parse_file(DATA "/schema/config/good/linux-rdma.json", &spec),
		0);
	assert_int_equal(spec->linux_->resources->rdma.n, 3);
	/* good for the schema; without a namespace they would go nowhere */
	assert_int_equal(parse_file(DATA
				    "/schema/config/good/linux-netdevice.json",
				    &spec),
			 -EINVAL);
	assert_int_equal(errors.n_errors, 1);
	assert_non_null(
		strstr(first_message(), "needs a namespace of type network"));
}

/* The longest example there is; its version is from before 1.0. */
static void test_schema_example(void **state)
{
	struct oci_spec *spec;
	char *text, *version;
	size_t len;

	(void)state;
	read_file(DATA "/schema/config/good/spec-example.json", &text, &len);
	assert_int_equal(parse_text(text, len, &spec), -EINVAL);
	assert_int_equal(errors.n_errors, 1);
	assert_non_null(strstr(first_message(),
			       "2:19: ociVersion: \"0.5.0-dev\" is not a "
			       "version 1.x.y"));
	version = strstr(text, "0.5.0-dev");
	memcpy(version, "1.5.0", 5);
	if (parse_text(text, len, &spec) < 0)
		fail_msg("%s", first_message());
	assert_int_equal(spec->process->capabilities->bounding,
			 UINT64_C(1) << CAP_AUDIT_WRITE |
				 UINT64_C(1) << CAP_KILL |
				 UINT64_C(1) << CAP_NET_BIND_SERVICE);
	assert_int_equal(spec->process->rlimits.v[0].type, RLIMIT_CORE);
	assert_int_equal(spec->hooks->prestart.n, 2);
	assert_int_equal(spec->linux_->devices.v[1].type, S_IFBLK);
	assert_int_equal(spec->linux_->rootfs_propagation, MS_SLAVE);
	assert_int_equal(spec->linux_->seccomp->default_action,
			 SECCOMP_RET_ALLOW);
	assert_string_equal(oci_annotation(spec, "com.example.key1"), "value1");
	assert_null(oci_annotation(spec, "x"));
	assert_null(oci_namespace(spec, CLONE_NEWUSER + 1));
	assert_non_null(oci_namespace(spec, CLONE_NEWNET));
}

/* ------------------------------------------------------- one whole config */

static const char whole[] =
	"{\"ociVersion\":\"1.2.1-rc.1+dev\",\"process\":{\"terminal\":true,"
	"\"consoleSize\":{\"height\":24,\"width\":80},"
	"\"user\":{\"uid\":0,\"gid\":0,\"umask\":0,\"additionalGids\":[0,5]},"
	"\"args\":[\"sh\"],\"env\":[\"A=\"],\"cwd\":\"/\","
	"\"capabilities\":{\"bounding\":[\"CAP_CHOWN\"],"
	"\"inheritable\":[\"CAP_CHECKPOINT_RESTORE\"],"
	"\"permitted\":[\"CAP_CHECKPOINT_RESTORE\"],"
	"\"ambient\":[\"CAP_CHECKPOINT_RESTORE\"]},"
	"\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\","
	"\"hard\":18446744073709551615,\"soft\":0}],"
	"\"noNewPrivileges\":true,\"apparmorProfile\":\"p\","
	"\"oomScoreAdj\":0,\"selinuxLabel\":\"l\","
	"\"scheduler\":{\"policy\":\"SCHED_DEADLINE\","
	"\"flags\":[\"SCHED_FLAG_RECLAIM\",\"SCHED_FLAG_DL_OVERRUN\"],"
	"\"runtime\":1,\"deadline\":2,\"period\":3},"
	"\"ioPriority\":{\"class\":\"IOPRIO_CLASS_IDLE\",\"priority\":0},"
	"\"execCPUAffinity\":{\"initial\":\"0-3\",\"final\":\"0, 2\"}},"
	"\"root\":{\"path\":\"rootfs\",\"readonly\":true},"
	"\"hostname\":\"h\",\"domainname\":\"d\","
	"\"mounts\":[{\"destination\":\"/m\",\"type\":\"bind\","
	"\"source\":\"/s\",\"options\":[\"bind\"],"
	"\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":2}],"
	"\"gidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":2}]}],"
	"\"hooks\":{\"poststop\":[{\"path\":\"/h\",\"args\":[\"h\"],"
	"\"env\":[\"X=1\"],\"timeout\":5}]},"
	"\"annotations\":{\"k\":\"v\"},"
	"\"linux\":{\"uidMappings\":[{\"containerID\":0,\"hostID\":0,"
	"\"size\":1}],\"gidMappings\":[{\"containerID\":0,\"hostID\":0,"
	"\"size\":1}],\"sysctl\":{\"net.ipv4.ip_forward\":\"1\"},"
	"\"resources\":{\"devices\":[{\"allow\":false},{\"allow\":true,"
	"\"type\":\"c\",\"major\":1,\"minor\":-1,\"access\":\"rwm\"}],"
	"\"memory\":{\"limit\":1,\"reservation\":-1,\"swap\":0,\"kernel\":1,"
	"\"kernelTCP\":1,\"swappiness\":0,\"disableOOMKiller\":false,"
	"\"useHierarchy\":true,\"checkBeforeUpdate\":true},"
	"\"cpu\":{\"shares\":2,\"quota\":-1,\"burst\":1,\"period\":1,"
	"\"realtimeRuntime\":1,\"realtimePeriod\":1,\"cpus\":\"0\","
	"\"mems\":\"0\",\"idle\":1},\"pids\":{\"limit\":0},"
	"\"blockIO\":{\"weight\":10,\"leafWeight\":11,\"weightDevice\":["
	"{\"major\":8,\"minor\":0,\"weight\":1,\"leafWeight\":2}],"
	"\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":1}],"
	"\"throttleWriteBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":1}],"
	"\"throttleReadIOPSDevice\":[{\"major\":8,\"minor\":0,\"rate\":1}],"
	"\"throttleWriteIOPSDevice\":[{\"major\":8,\"minor\":0,\"rate\":0}]},"
	"\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":0}],"
	"\"network\":{\"classID\":1,\"priorities\":[{\"name\":\"eth0\","
	"\"priority\":0}]},\"rdma\":{\"mlx\":{\"hcaHandles\":3}},"
	"\"unified\":{\"memory.high\":\"max\"}},\"cgroupsPath\":\"/a/b\","
	"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\","
	"\"path\":\"/n\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},"
	"{\"type\":\"mount\"},{\"type\":\"user\"},{\"type\":\"time\"},"
	"{\"type\":\"cgroup\"}],"
	"\"devices\":[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":1,"
	"\"minor\":3,\"fileMode\":438,\"uid\":0,\"gid\":0},"
	"{\"path\":\"/dev/p\",\"type\":\"p\",\"major\":0,\"minor\":0}],"
	"\"netDevices\":{\"eth1\":{\"name\":\"e\"},\"eth2\":{}},"
	"\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\","
	"\"defaultErrnoRet\":38,\"architectures\":[\"SCMP_ARCH_X86_64\","
	"\"SCMP_ARCH_X32\"],\"flags\":[],\"listenerPath\":\"/l\","
	"\"listenerMetadata\":\"m\",\"syscalls\":[{\"names\":[\"read\"],"
	"\"action\":\"SCMP_ACT_NOTIFY\"},{\"names\":[\"a\",\"b\"],"
	"\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1,\"args\":[{"
	"\"index\":5,\"value\":18446744073709551615,\"valueTwo\":1,"
	"\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]},"
	"\"rootfsPropagation\":\"rslave\",\"maskedPaths\":[\"/m\"],"
	"\"readonlyPaths\":[\"/r\"],\"mountLabel\":\"l\","
	"\"intelRdt\":{\"closID\":\"c\",\"schemata\":[\"L3:0=f\"],"
	"\"l3CacheSchema\":\"L3:0=f\",\"memBwSchema\":\"MB:0=1\","
	"\"enableMonitoring\":true},\"personality\":{\"domain\":\"LINUX32\"},"
	"\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0-1\","
	"\"flags\":[\"MPOL_F_STATIC_NODES\"]},"
	"\"timeOffsets\":{\"monotonic\":{\"secs\":-1,\"nanosecs\":9},"
	"\"boottime\":{}}}}";

static void test_whole(void **state)
{
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);
	struct oci_spec *spec;

	(void)state;
	if (parse_text(whole, strlen(whole), &spec) < 0)
		fail_msg("%s", first_message());
	assert_true(spec->process->user.umask.set);
	assert_int_equal(spec->linux_->namespaces.n, 8);
	assert_string_equal(spec->linux_->net_devices.v[0].host_name, "eth1");
	assert_true(spec->linux_->seccomp->flags.set);
	assert_int_equal(spec->linux_->seccomp->syscalls.v[1].args.v[0].op,
			 OCI_SECCOMP_MASKED_EQ);
	assert_int_equal(spec->linux_->rootfs_propagation, MS_SLAVE | MS_REC);
	assert_int_equal(spec->linux_->resources->devices.v[1].minor.v, -1);
	oci_spec_write(&j, NULL, spec);
	assert_string_equal(sb.s, whole);
}

static void test_go_nulls_and_unknown_keys(void **state)
{
	static const char text[] =
		"{\"ociVersion\":\"1.0.2-dev\",\"root\":{\"path\":\"r\","
		"\"x\":1},\"hooks\":null,\"annotations\":null,"
		"\"mounts\":null,\"process\":{\"args\":[\"a\"],\"cwd\":\"/\","
		"\"capabilities\":null,\"user\":{\"additionalGids\":null}},"
		"\"vm\":{},\"linux\":{\"namespaces\":[{\"type\":\"network\","
		"\"path\":\"\"}],\"seccomp\":null}}";
	struct oci_spec *spec;

	(void)state;
	if (parse_text(text, strlen(text), &spec) < 0)
		fail_msg("%s", first_message());
	assert_null(spec->process->capabilities);
	assert_null(spec->linux_->namespaces.v[0].path);
}

static void test_unknown_capabilities_are_kept(void **state)
{
	static const char text[] =
		"{\"args\":[\"a\"],\"cwd\":\"/\",\"capabilities\":{"
		"\"bounding\":[\"CAP_NEW\",\"CAP_KILL\",\"CAP_X\"],"
		"\"effective\":[\"CAP_NEW\"]}}";
	struct oci_process *p;

	(void)state;
	doc_errors_init(&errors, &arena, "p");
	assert_int_equal(
		oci_process_parse(&arena, text, strlen(text), &p, &errors), 0);
	assert_int_equal(p->capabilities->bounding, UINT64_C(1) << CAP_KILL);
	assert_int_equal(p->capabilities->unknown.n, 2);
	assert_string_equal(p->capabilities->unknown.v[0], "CAP_NEW");
	assert_string_equal(p->capabilities->unknown.v[1], "CAP_X");
}

static void test_ambient_that_can_not_be(void **state)
{
	static const char text[] =
		"{\"args\":[\"a\"],\"cwd\":\"/\",\"capabilities\":{"
		"\"ambient\":[\"CAP_KILL\",\"CAP_CHOWN\"],"
		"\"inheritable\":[\"CAP_KILL\",\"CAP_CHOWN\"],"
		"\"permitted\":[\"CAP_KILL\"]}}";
	struct oci_process *p;

	(void)state;
	doc_errors_init(&errors, &arena, "p");
	assert_int_equal(
		oci_process_parse(&arena, text, strlen(text), &p, &errors), 0);
	assert_int_equal(p->capabilities->ambient, UINT64_C(1) << CAP_KILL);
	assert_int_equal(errors.n_warnings, 1);
	assert_string_equal(first_message(),
			    "p:1:51: warning: capabilities.ambient: left out "
			    "where it is not inheritable and permitted as "
			    "well");
}

static void test_relative_destination(void **state)
{
	static const char text[] =
		"{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},"
		"\"mounts\":[{\"destination\":\"data\"}]}";
	struct oci_spec *spec;

	(void)state;
	assert_int_equal(parse_text(text, strlen(text), &spec), 0);
	assert_string_equal(spec->mounts.v[0].destination, "/data");
}

static void test_resources_file(void **state)
{
	static const char text[] = "{\"memory\":{\"limit\":5},\"pids\":{}}";
	own_strbuf struct strbuf sb = STRBUF_HEAP;
	struct json j = json_to(&sb, false);
	struct oci_resources *r;

	(void)state;
	doc_errors_init(&errors, &arena, "r");
	assert_int_equal(
		oci_resources_parse(&arena, text, strlen(text), &r, &errors),
		0);
	assert_int_equal(r->memory->limit.v, 5);
	assert_false(r->pids->limit.set);
	oci_resources_write(&j, NULL, r);
	assert_string_equal(sb.s, text);
	assert_int_equal(oci_resources_parse(&arena, "[]", 2, &r, &errors),
			 -EINVAL);
}

static void test_default(void **state)
{
	for (int rootless = 0; rootless < 2; rootless++) {
		own_strbuf struct strbuf sb = STRBUF_HEAP;
		struct json j = json_to(&sb, true);
		struct oci_spec *spec;

		(void)state;
		oci_spec_write(&j, NULL,
			       oci_spec_default(&arena, rootless, 1000, 100));
		if (parse_text(sb.s, sb.len, &spec) < 0)
			fail_msg("%s", first_message());
		assert_int_equal(oci_namespace(spec, CLONE_NEWNET) != NULL,
				 !rootless);
		assert_int_equal(oci_namespace(spec, CLONE_NEWUSER) != NULL,
				 rootless);
		assert_int_equal(spec->linux_->uid_mappings.n, rootless);
		if (rootless) {
			assert_int_equal(
				spec->linux_->gid_mappings.v[0].host_id, 100);
			assert_string_equal(spec->mounts.v[5].source, "/sys");
			assert_int_equal(spec->mounts.v[2].options.n, 5);
		} else {
			assert_int_equal(spec->mounts.v[2].options.n, 6);
			assert_false(
				spec->linux_->resources->devices.v[0].allow);
		}
	}
}

static void test_tables(void **state)
{
	(void)state;
	assert_null(decode_table_fault(&oci_spec_table));
	assert_null(decode_table_fault(&host_config_table));
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned int cap = 0; cap <= CAP_LAST_CAP; cap++)
		assert_non_null(oci_capability_name(cap));
	assert_null(oci_capability_name(CAP_LAST_CAP + 1));
	for (uint32_t i = 0; i < RLIM_NLIMITS; i++)
		assert_non_null(decode_name_of(oci_rlimit_names, i));
	assert_string_equal(oci_namespace_name(CLONE_NEWNET), "network");
	assert_null(oci_namespace_name(0));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_clients_configs),
		TEST(test_clients_processes),
		TEST(test_schema),
		TEST(test_schema_example),
		TEST(test_whole),
		TEST(test_go_nulls_and_unknown_keys),
		TEST(test_unknown_capabilities_are_kept),
		TEST(test_ambient_that_can_not_be),
		TEST(test_relative_destination),
		TEST(test_resources_file),
		TEST(test_default),
		TEST(test_tables),
		TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
