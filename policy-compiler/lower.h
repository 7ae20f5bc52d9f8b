/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering: a checked document becomes the sections of a compiled policy, one
 * file for each target. Nothing here can fail: what could, check.h refused.
 */
#ifndef OSH_COMPILER_LOWER_H
#define OSH_COMPILER_LOWER_H

struct doc_errors;
struct policy_build;
struct spec;

/* Entries, endpoints, binaries, layer 7 trees, middlewares. */
void lower_network(struct policy_build *b, const struct spec *s);

/*
 * Landlock's paths: the document's, and in front of them OpenShell's
 * baseline, which applies where there is a network section.
 */
void lower_filesystem(struct policy_build *b, const struct spec *s);

/* User and group. */
void lower_process(struct policy_build *b, const struct spec *s);

/* The seccomp programs: the same for every policy. */
void lower_seccomp(struct policy_build *b);

#endif
