/* SPDX-License-Identifier: Apache-2.0 */
/* The decode tables that files of oci/ share. Private to oci/. */
#ifndef OSH_OCI_TABLES_H
#define OSH_OCI_TABLES_H

#include "runtime/doc/decode.h"

struct oci_spec;

extern const struct decode_table oci_spec_table;
extern const struct decode_table oci_process_table;
extern const struct decode_table oci_id_map_table;
extern const struct decode_table oci_linux_table;
extern const struct decode_table oci_resources_table;
extern const struct decode_table oci_seccomp_table;
extern const struct decode_table host_config_table;

/* What the specification wants of every map: extra keys are no error, and
 * Go's writers put null for what is absent. */
#define OCI_TABLE_FLAGS (DECODE_IGNORE_UNKNOWN | DECODE_NULL_ABSENT)
#define OCI_TABLE(type, rows, ...) \
	DECODE_TABLE(type, rows, .flags = OCI_TABLE_FLAGS, ##__VA_ARGS__)

/* Parse a file that holds one object of @table. */
int oci_parse(struct arena *a, const char *data, size_t len,
	      const struct decode_table *table, void *obj,
	      struct doc_errors *errors);

/* check.c: what no single section can tell. */
void oci_spec_check(struct oci_spec *spec, struct doc_errors *errors);

/* Members that must be absolute paths. */
void oci_check_absolute(struct decode *d, const struct doc_node *map,
			const char *key);

#endif
