/* SPDX-License-Identifier: Apache-2.0 */
/* The server's connections, and what they ask of the rest of it. */
#ifndef OSH_SHIM_SERVER_CONN_H
#define OSH_SHIM_SERVER_CONN_H

#include "shim/notify/sandbox.h"

struct err;
struct server;

/* Begin to accept. */
int server_conn_init(struct server *s, struct err *err);
/* The resolver has @ref's policy, or @why not: dnslink's callback. */
void server_conn_on_policy(void *server, struct sandbox_ref ref,
			   const struct err *why);
/* Deadlines; each second while there are connections. */
void server_conn_tick(struct server *s);

/* In server.c. Let go of a container, and of what it alone needed. */
void server_forget(struct server *s, struct sandbox_ref ref);
/* Make the table's upstream sets those of all containers. */
int server_set_upstreams(struct server *s, struct err *err);

#endif
