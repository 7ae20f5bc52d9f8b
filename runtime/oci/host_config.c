/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/arena.h"
#include "runtime/doc/decode.h"
#include "runtime/oci/host_config.h"
#include "runtime/oci/tables.h"

static const struct decode_name when_missing_names[] = {
	{"deny-network", HOST_DENY_NETWORK},
	{"refuse", HOST_REFUSE},
	{"restrictive", HOST_RESTRICTIVE},
	{"none", HOST_NONE},
	{NULL, 0},
};

static const struct decode_name image_policy_names[] = {
	{"refuse", HOST_IMAGE_REFUSE},
	{"allow", HOST_IMAGE_ALLOW},
	{NULL, 0},
};

static const struct decode_name inbound_names[] = {
	{"listening", HOST_INBOUND_LISTENING},
	{"none", HOST_INBOUND_NONE},
	{NULL, 0},
};

static const struct decode_name shim_death_names[] = {
	{"keep", HOST_SHIM_DEATH_KEEP},
	{"kill", HOST_SHIM_DEATH_KILL},
	{NULL, 0},
};

enum {
	/* a record is below 4 KiB; rotating less than each thousand records
	 * would only make files */
	LOG_BYTES_MIN = 64 << 10,
	LOG_FILES_MAX = 1000,
};

static void check_log(struct decode *d, const struct doc_node *node, void *obj)
{
	(void)obj;
	oci_check_absolute(d, node, "dir");
}

static const struct decode_row log_rows[] = {
	DECODE_ROW(struct host_log, dir, "dir", DECODE_STR,
		   .flags = DECODE_NONEMPTY),
	DECODE_ROW(struct host_log, max_bytes, "max_bytes", DECODE_U64,
		   .min = LOG_BYTES_MIN, .max = UINT64_MAX),
	DECODE_ROW(struct host_log, max_files, "max_files", DECODE_U64,
		   .min = 1, .max = LOG_FILES_MAX),
};
static const struct decode_table log_table =
	DECODE_TABLE(struct host_log, log_rows, .check = check_log);

/* For the gateway's decoder: only the place is noted. */
static void take_credentials(struct decode *d, const struct decode_row *row,
			     const struct doc_node *node, void *at)
{
	(void)d;
	(void)row;
	*(const struct doc_node **)at = node;
}

/* The host configuration is read, never written. */
static void put_nothing(struct json *j, const struct decode_row *row,
			const void *at)
{
	(void)j;
	(void)row;
	(void)at;
}

static void check_host_config(struct decode *d, const struct doc_node *node,
			      void *obj)
{
	(void)obj;
	oci_check_absolute(d, node, "default_policy");
	oci_check_absolute(d, node, "ceiling");
	oci_check_absolute(d, node, "policies");
}

static const struct decode_row host_config_rows[] = {
	DECODE_ROW(struct host_config, default_policy, "default_policy",
		   DECODE_STR, .flags = DECODE_NONEMPTY),
	DECODE_ROW(struct host_config, when_missing, "when_missing",
		   DECODE_ENUM, .names = when_missing_names),
	DECODE_ROW(struct host_config, image_policy, "image_policy",
		   DECODE_ENUM, .names = image_policy_names),
	DECODE_ROW(struct host_config, ceiling, "ceiling", DECODE_STR,
		   .flags = DECODE_NONEMPTY),
	DECODE_ROW(struct host_config, policies, "policies", DECODE_STR,
		   .flags = DECODE_NONEMPTY),
	DECODE_ROW(struct host_config, inbound, "inbound", DECODE_ENUM,
		   .names = inbound_names),
	DECODE_ROW(struct host_config, on_shim_death, "on_shim_death",
		   DECODE_ENUM, .names = shim_death_names),
	DECODE_ROW(struct host_config, dial_from_host, "dial_from_host",
		   DECODE_BOOL),
	DECODE_ROW(struct host_config, log, "log", DECODE_STRUCT,
		   .table = &log_table, .flags = DECODE_INLINE),
	DECODE_ROW(struct host_config, credentials, "credentials", DECODE_FN,
		   .fn = take_credentials, .write = put_nothing),
};
const struct decode_table host_config_table =
	DECODE_TABLE(struct host_config, host_config_rows,
		     .node_at = DECODE_AT(struct host_config, node),
		     .check = check_host_config);

void host_config_default(struct host_config *ret)
{
	*ret = (struct host_config){.when_missing = HOST_DENY_NETWORK};
}

int host_config_parse(struct arena *a, const char *data, size_t len,
		      struct host_config *ret, struct doc_errors *errors)
{
	const struct doc_node *root;
	int r = doc_parse(a, data, len, DOC_AUTO, &root, errors);

	host_config_default(ret);
	ret->file = errors->file;
	return r < 0 ? r : decode(a, &host_config_table, root, ret, errors);
}

const char *host_when_missing_name(uint32_t when_missing)
{
	return decode_name_of(when_missing_names, when_missing);
}
