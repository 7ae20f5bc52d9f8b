/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From config.json's structs (oci) to those of the kernel's mechanisms
 * (linux), which know nothing of each other. Results live in the arena and
 * borrow strings from the spec.
 */
#ifndef OSH_CONTAINER_CONVERT_H
#define OSH_CONTAINER_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct capability_sets;
struct cgroup_resources;
struct device;
struct err;
struct idmap;
struct idmap_line;
struct mount_request;
struct ns_set;
struct ns_time_offset;
struct oci_capabilities;
struct oci_id_map;
struct oci_process;
struct oci_resources;
struct oci_seccomp;
struct oci_spec;
struct scheduler_spec;
struct seccomp_spec;

/* A list of mappings, of the container or of one mount. */
const struct idmap_line *convert_id_maps(struct arena *a,
					 const struct oci_id_map *v, size_t n);
/* "linux.uidMappings" and "gidMappings". */
void convert_idmap(struct arena *a, const struct oci_spec *spec,
		   struct idmap *ret);
/* Opens what is to be joined; @ret is initialized here. */
int convert_namespaces(const struct oci_spec *spec, struct ns_set *ret,
		       struct err *err);
/*
 * One request for each mount, in order. Sources of bind mounts that are
 * relative are relative to @bundle.
 */
int convert_mounts(struct arena *a, const struct oci_spec *spec,
		   const char *bundle, struct mount_request **ret, size_t *ret_n,
		   struct err *err);
void convert_devices(struct arena *a, const struct oci_spec *spec,
		     struct device **ret, size_t *ret_n);
/* @res may be NULL. With @defaults the device rules that every container has
 * are added. */
void convert_resources(struct arena *a, const struct oci_resources *res,
		       bool defaults, struct cgroup_resources *ret);
void convert_capabilities(const struct oci_capabilities *caps,
			  struct capability_sets *ret);
/* Scheduler and I/O priority; NULL names where the process has none. */
void convert_scheduler(struct arena *a, const struct oci_process *p,
		       struct scheduler_spec *ret, const char **ret_ioclass);
/* The execution domain's name; NULL when the config has none. */
const char *convert_personality(const struct oci_spec *spec);
/* "linux.timeOffsets". */
void convert_time_offsets(struct arena *a, const struct oci_spec *spec,
			  struct ns_time_offset **ret, size_t *ret_n);
void convert_seccomp(struct arena *a, const struct oci_seccomp *sec,
		     struct seccomp_spec *ret);

#endif
