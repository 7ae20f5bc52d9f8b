/* SPDX-License-Identifier: Apache-2.0 */
/* Every check of the config, by a document that fails it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/base/arena.h"
#include "runtime/base/own.h"
#include "runtime/base/strbuf.h"
#include "runtime/doc/errors.h"
#include "runtime/oci/spec.h"

/* In the texts ' stands for ". */
static int parse(struct arena *a, const char *text, struct doc_errors *errors)
{
	char *json = arena_strdup(a, text);
	struct oci_spec *spec;

	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	doc_errors_init(errors, a, "f");
	return oci_spec_parse(a, json, strlen(json), &spec, errors);
}

struct bad_case {
	const char *text; /* a member of the object */
	const char *message; /* without the position */
};

static void run_cases(const struct bad_case *cases, size_t n,
		      const char *before, const char *after)
{
	for (size_t i = 0; i < n; i++) {
		own_arena struct arena a = ARENA_INIT;
		struct doc_errors errors;
		own_strbuf struct strbuf got = STRBUF_HEAP;

		parse(&a,
		      arena_printf(&a, "%s%s%s", before, cases[i].text, after),
		      &errors);
		for (size_t k = 0; k < errors.n; k++) {
			assert_int_not_equal(errors.v[k].pos.line, 0);
			strbuf_addf(&got, "%s%s", k ? "\n" : "",
				    errors.v[k].text);
		}
		if (!got.s || !str_eq(got.s, cases[i].message))
			fail_msg("%s:\n%s", cases[i].text,
				 got.s ? got.s : "no error");
	}
}

static void test_top(void **state)
{
	static const struct bad_case cases[] = {
		{"'ociVersion':'1.0','root':{'path':'r'}",
		 "ociVersion: \"1.0\" is not a version 1.x.y of the "
		 "specification"},
		{"'ociVersion':'2.0.0','root':{'path':'r'}",
		 "ociVersion: \"2.0.0\" is not a version 1.x.y of the "
		 "specification"},
		{"'ociVersion':'1.0.0x','root':{'path':'r'}",
		 "ociVersion: \"1.0.0x\" is not a version 1.x.y of the "
		 "specification"},
		{"'ociVersion':'1.99999999999999.0','root':{'path':'r'}",
		 "ociVersion: \"1.99999999999999.0\" is not a version 1.x.y "
		 "of the specification"},
		{"'root':{}", "root: missing key \"path\"\n"
			      "missing key \"ociVersion\""},
		{"'ociVersion':'1.0.0'", "missing key \"root\""},
		{"'ociVersion':'1.0.0','root':{'path':''}",
		 "root.path: must not be empty"},
		{"'ociVersion':'1.0.0','root':{'path':'r'},"
		 "'annotations':{'':'x'}",
		 "annotations[\"\"]: a key must not be empty"},
		{"'ociVersion':'1.0.0','root':{'path':'r'},"
		 "'annotations':{'a':1}",
		 "annotations.a: expected a string, found a number"},
		{"'ociVersion':'1.0.0','root':{'path':'r'},"
		 "'mounts':[{'source':'/x'}]",
		 "mounts[0]: missing key \"destination\""},
		{"'ociVersion':'1.0.0','root':{'path':'r'},"
		 "'mounts':[{'destination':'/x','uidMappings':["
		 "{'containerID':0,'hostID':0,'size':1}]}]",
		 "mounts[0]: uidMappings and gidMappings go together"},
		{"'ociVersion':'1.0.0','root':{'path':'r'},"
		 "'hooks':{'prestart':[{'path':'x'}]}",
		 "hooks.prestart[0].path: must be an absolute path: "
		 "\"x\""},
		{"'ociVersion':'1.0.0','root':{'path':'r'},"
		 "'hooks':{'prestart':[{'path':'/x','timeout':0}]}",
		 "hooks.prestart[0].timeout: 0 is out of range (1 to "
		 "9223372036854775807)"},
	};

	(void)state;
	run_cases(cases, N_ELEMENTS(cases), "{", "}");
}

static void test_process(void **state)
{
	static const struct bad_case cases[] = {
		{"'cwd':'/'", "process: args must not be empty"},
		{"'args':['a']", "process: missing key \"cwd\""},
		{"'args':['a'],'cwd':'x'",
		 "process.cwd: must be an absolute path: \"x\""},
		{"'args':[''],'cwd':'/'",
		 "process.args[0]: the program must not be empty"},
		{"'args':['a'],'cwd':'/','env':['A=1','B','=x']",
		 "process.env[1]: not NAME=value: \"B\"\n"
		 "process.env[2]: not NAME=value: \"=x\""},
		{"'args':['a'],'cwd':'/','user':{'umask':512}",
		 "process.user.umask: 512 is out of range (0 to 511)"},
		{"'args':['a'],'cwd':'/','user':{'uid':4294967296}",
		 "process.user.uid: 4294967296 is out of range (0 to "
		 "4294967294)"},
		{"'args':['a'],'cwd':'/','oomScoreAdj':1001",
		 "process.oomScoreAdj: 1001 is out of range (-1000 to "
		 "1000)"},
		{"'args':['a'],'cwd':'/','capabilities':{'bounding':1}",
		 "process.capabilities.bounding: expected a list, found a "
		 "number"},
		{"'args':['a'],'cwd':'/','capabilities':{'bounding':[1]}",
		 "process.capabilities.bounding[0]: expected a string, found "
		 "a number"},
		{"'args':['a'],'cwd':'/','rlimits':[{'type':'RLIMIT_CPU',"
		 "'soft':2,'hard':1}]",
		 "process.rlimits[0].soft: above the hard limit"},
		{"'args':['a'],'cwd':'/','rlimits':[{'type':'RLIMIT_CPU',"
		 "'soft':1,'hard':1},{'type':'RLIMIT_CPU','soft':1,"
		 "'hard':1}]",
		 "process.rlimits[1].type: RLIMIT_CPU a second time"},
		{"'args':['a'],'cwd':'/','rlimits':[{'type':'RLIMIT_X',"
		 "'soft':1,'hard':1}]",
		 "process.rlimits[0].type: unknown value \"RLIMIT_X\""},
		{"'args':['a'],'cwd':'/','scheduler':{"
		 "'policy':'SCHED_FIFO'}",
		 "process.scheduler: a real-time policy needs a priority of "
		 "1 to 99"},
		{"'args':['a'],'cwd':'/','scheduler':{"
		 "'policy':'SCHED_OTHER','priority':1}",
		 "process.scheduler: priority is for SCHED_FIFO and "
		 "SCHED_RR"},
		{"'args':['a'],'cwd':'/','scheduler':{"
		 "'policy':'SCHED_BATCH','runtime':1}",
		 "process.scheduler: runtime, deadline and period are for "
		 "SCHED_DEADLINE"},
		{"'args':['a'],'cwd':'/','scheduler':{"
		 "'policy':'SCHED_DEADLINE','nice':1}",
		 "process.scheduler: nice with SCHED_DEADLINE\n"
		 "process.scheduler: SCHED_DEADLINE needs runtime, deadline "
		 "and period"},
		{"'args':['a'],'cwd':'/','ioPriority':{"
		 "'class':'IOPRIO_CLASS_BE','priority':8}",
		 "process.ioPriority.priority: 8 is out of range (0 to 7)"},
		{"'args':['a'],'cwd':'/','execCPUAffinity':{'final':'a'}",
		 "process.execCPUAffinity.final: not a list of CPUs: "
		 "\"a\""},
		{"'args':['a'],'cwd':'/','consoleSize':{}",
		 "process.consoleSize: missing key \"height\"\n"
		 "process.consoleSize: missing key \"width\""},
	};

	(void)state;
	run_cases(cases, N_ELEMENTS(cases),
		  "{'ociVersion':'1.0.0','root':{'path':'r'},'process':{",
		  "}}");
}

static void test_linux(void **state)
{
	static const struct bad_case cases[] = {
		{"'namespaces':[{'type':'pid'},{'type':'pid'}]",
		 "linux.namespaces: \"pid\" a second time"},
		{"'namespaces':[{'type':'x'}]",
		 "linux.namespaces[0].type: unknown value \"x\" (one of: "
		 "cgroup, ipc, mount, network, pid, time, user, uts)"},
		{"'namespaces':[{'type':'network','path':'x'}]",
		 "linux.namespaces[0].path: must be an absolute path: "
		 "\"x\""},
		{"'namespaces':[{'type':'user'}]",
		 "linux.namespaces: a new user namespace needs uidMappings "
		 "and gidMappings"},
		{"'uidMappings':[{'containerID':0,'hostID':0,'size':1}]",
		 "linux.uidMappings: needs a namespace of type user, which the "
		 "config does not have"},
		{"'gidMappings':[{'containerID':0,'hostID':0,'size':0}]",
		 "linux.gidMappings[0].size: 0 is out of range (1 to "
		 "4294967295)"},
		{"'maskedPaths':['x']",
		 "linux.maskedPaths[0]: must be an absolute path: \"x\""},
		{"'maskedPaths':['/x']",
		 "linux.maskedPaths: needs a namespace of type mount, which the "
		 "config does not have"},
		{"'readonlyPaths':['x']",
		 "linux.readonlyPaths[0]: must be an absolute path: \"x\""},
		{"'rootfsPropagation':'x'",
		 "linux.rootfsPropagation: unknown value \"x\" (one of: "
		 "shared, slave, private, unbindable, rshared, rslave, "
		 "rprivate, runbindable)"},
		{"'cgroupsPath':'/a/../b'",
		 "linux.cgroupsPath: must not hold \"..\""},
		{"'cgroupsPath':'..'",
		 "linux.cgroupsPath: must not hold \"..\""},
		{"'sysctl':{'net.a':'1'}",
		 "linux.sysctl[\"net.a\"]: needs a namespace of type network, which "
		 "the config does not have"},
		{"'sysctl':{'net/a':'1'}",
		 "linux.sysctl[\"net/a\"]: needs a namespace of type network, which "
		 "the config does not have"},
		{"'sysctl':{'kernel.shmmax':'1'}",
		 "linux.sysctl[\"kernel.shmmax\"]: needs a namespace of type ipc, "
		 "which the config does not have"},
		{"'sysctl':{'kernel.shmmaxx':'1'}",
		 "linux.sysctl[\"kernel.shmmaxx\"]: would change the host: "
		 "no namespace has it"},
		{"'sysctl':{'vm.x':'1'}",
		 "linux.sysctl[\"vm.x\"]: would change the host: no "
		 "namespace has it"},
		{"'sysctl':{'kernel.hostname':'1'}",
		 "linux.sysctl[\"kernel.hostname\"]: use hostname"},
		{"'sysctl':{'net/../../x':'1'}",
		 "linux.sysctl[\"net/../../x\"]: not a name of a sysctl"},
		{"'sysctl':{'/etc/passwd':'1'}",
		 "linux.sysctl[\"/etc/passwd\"]: not a name of a sysctl"},
		{"'sysctl':{'net.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa':'1'}",
		 "linux.sysctl[\"net.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]: the name "
		 "is too long"},
		{"'timeOffsets':{'monotonic':{'secs':1}}",
		 "linux.timeOffsets: needs a namespace of type time, which the "
		 "config does not have"},
		{"'timeOffsets':{'real':{'secs':1}}",
		 "linux.timeOffsets.real: unknown clock (one of: monotonic, "
		 "boottime)"},
		{"'timeOffsets':{'monotonic':{'nanosecs':1000000000}}",
		 "linux.timeOffsets.monotonic.nanosecs: 1000000000 is out "
		 "of range (0 to 999999999)"},
		{"'namespaces':[{'type':'time','path':'/x'}],"
		 "'timeOffsets':{'monotonic':{'secs':1}}",
		 "linux.timeOffsets: the time namespace is joined: its "
		 "clocks are set already"},
		{"'devices':[{'path':'x','type':'c','major':1,'minor':3}]",
		 "linux.devices[0].path: must be an absolute path: \"x\""},
		{"'devices':[{'path':'/x','type':'c'}]",
		 "linux.devices[0]: a device needs major and minor"},
		{"'devices':[{'path':'/x','type':'d'}]",
		 "linux.devices[0].type: unknown value \"d\" (one of: c, b, "
		 "p, u)"},
		{"'devices':[{'path':'/x','type':'c','major':4096,"
		 "'minor':-1}]",
		 "linux.devices[0]: device number 4096:-1 is out of range"},
		{"'netDevices':{'a/b':{}}",
		 "linux.netDevices[\"a/b\"]: not a name of an interface"},
		{"'netDevices':{'..':{'name':'aaaaaaaaaaaaaaaa'}}",
		 "linux.netDevices[\"..\"]: not a name of an interface\n"
		 "linux.netDevices[\"..\"].name: not a name of an "
		 "interface"},
		{"'intelRdt':{'closID':'a/b','memBwSchema':'x'}",
		 "linux.intelRdt.closID: not a name of a class\n"
		 "linux.intelRdt.memBwSchema: must be one line that begins "
		 "with MB:"},
		{"'personality':{'domain':'LINUX','flags':['x']}",
		 "linux.personality.flags: the specification has no flags "
		 "yet"},
		{"'memoryPolicy':{'nodes':'0'}",
		 "linux.memoryPolicy: missing key \"mode\""},
	};

	(void)state;
	run_cases(cases, N_ELEMENTS(cases),
		  "{'ociVersion':'1.0.0','root':{'path':'r'},'linux':{", "}}");
}

static void test_seccomp(void **state)
{
	static const struct bad_case cases[] = {
		{"", "linux.seccomp: missing key \"defaultAction\""},
		{"'defaultAction':'SCMP_ACT_NOTIFY'",
		 "linux.seccomp.defaultAction: SCMP_ACT_NOTIFY can't be the "
		 "default"},
		{"'defaultAction':'SCMP_ACT_ALLOW','syscalls':[{'names':[],"
		 "'action':'SCMP_ACT_ALLOW'}]",
		 "linux.seccomp.syscalls[0].names: must not be empty"},
		{"'defaultAction':'SCMP_ACT_ALLOW','syscalls':[{"
		 "'names':['read'],'action':'SCMP_ACT_NOTIFY'}]",
		 "linux.seccomp: SCMP_ACT_NOTIFY needs listenerPath"},
		{"'defaultAction':'SCMP_ACT_ALLOW','listenerPath':'/l',"
		 "'syscalls':[{'names':['write'],"
		 "'action':'SCMP_ACT_NOTIFY'}]",
		 "linux.seccomp.syscalls[0]: SCMP_ACT_NOTIFY can't be used "
		 "for write"},
		{"'defaultAction':'SCMP_ACT_ALLOW','listenerMetadata':'x'",
		 "linux.seccomp: listenerMetadata needs listenerPath"},
		{"'defaultAction':'SCMP_ACT_ALLOW','syscalls':[{"
		 "'names':['a'],'action':'SCMP_ACT_ERRNO','errnoRet':65536,"
		 "'args':[{'index':6,'value':0,'op':'SCMP_CMP_EQ'}]}]",
		 "linux.seccomp.syscalls[0].errnoRet: 65536 is out of range "
		 "(0 to 65535)\n"
		 "linux.seccomp.syscalls[0].args[0].index: 6 is out of "
		 "range (0 to 5)"},
		{"'defaultAction':'SCMP_ACT_ALLOW','flags':['X'],"
		 "'architectures':['Y']",
		 "linux.seccomp.flags[0]: unknown value \"X\" (one of: "
		 "SECCOMP_FILTER_FLAG_LOG, SECCOMP_FILTER_FLAG_SPEC_ALLOW, "
		 "SECCOMP_FILTER_FLAG_TSYNC, "
		 "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)\n"
		 "linux.seccomp.architectures[0]: unknown value \"Y\""},
	};

	(void)state;
	run_cases(
		cases, N_ELEMENTS(cases),
		"{'ociVersion':'1.0.0','root':{'path':'r'},'linux':{'seccomp':{",
		"}}}");
}

static void test_resources(void **state)
{
	static const struct bad_case cases[] = {
		{"'devices':[{}]",
		 "linux.resources.devices[0]: missing key \"allow\""},
		{"'devices':[{'allow':true,'type':'x','access':'rx',"
		 "'major':-2}]",
		 "linux.resources.devices[0].type: unknown value \"x\" (one "
		 "of: a, b, c)\n"
		 "linux.resources.devices[0].access: \"rx\" is not made of "
		 "r, w and m\n"
		 "linux.resources.devices[0]: major and minor are -1 (all) "
		 "or above"},
		{"'hugepageLimits':[{'pageSize':'02MB','limit':1}]",
		 "linux.resources.hugepageLimits[0].pageSize: \"02MB\" is "
		 "not a size like 64KB, 2MB or 1GB"},
		{"'hugepageLimits':[{'pageSize':'2M','limit':1}]",
		 "linux.resources.hugepageLimits[0].pageSize: \"2M\" is not "
		 "a size like 64KB, 2MB or 1GB"},
		{"'hugepageLimits':[{'pageSize':'2','limit':1}]",
		 "linux.resources.hugepageLimits[0].pageSize: \"2\" is not "
		 "a size like 64KB, 2MB or 1GB"},
		{"'blockIO':{'weight':65536}",
		 "linux.resources.blockIO.weight: 65536 is out of range (0 "
		 "to 65535)"},
		{"'unified':{'a/b':'1','.x':'1','':'1'}",
		 "linux.resources.unified[\"a/b\"]: not the name of a "
		 "control file\n"
		 "linux.resources.unified[\".x\"]: not the name of a "
		 "control file\n"
		 "linux.resources.unified[\"\"]: not the name of a control "
		 "file"},
	};

	(void)state;
	run_cases(
		cases, N_ELEMENTS(cases),
		"{'ociVersion':'1.0.0','root':{'path':'r'},'linux':{'resources':{",
		"}}}");
}

static void test_needs_of_top(void **state)
{
	static const struct bad_case cases[] = {
		{"'hostname':'x'",
		 "hostname: needs a namespace of type uts, which "
		 "the config does not have"},
		{"'domainname':'x'",
		 "domainname: needs a namespace of type uts, "
		 "which the config does not have"},
	};
	own_arena struct arena a = ARENA_INIT;
	struct doc_errors errors;

	(void)state;
	run_cases(cases, N_ELEMENTS(cases),
		  "{'ociVersion':'1.0.0','root':{'path':'r'},", "}");
	/* empty ones set nothing */
	assert_int_equal(parse(&a,
			       "{'ociVersion':'1.0.0','root':{'path':'r'},"
			       "'hostname':'','linux':{'maskedPaths':[],"
			       "'netDevices':{},'timeOffsets':null}}",
			       &errors),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_linux),
		cmocka_unit_test(test_seccomp),
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_needs_of_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
