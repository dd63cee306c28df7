/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server, by libmicrohttpd: threads of its own answer from what the monitor has. Clients
 * that are slow, hang or talk rubbish cost a connection each, for a limited time.
 *
 * One thread opens and closes it.
 */
#ifndef WATT_AGENT_SERVER_H
#define WATT_AGENT_SERVER_H

#include "address.h"
#include "checkup.h"
#include "gate.h"
#include "monitor.h"
#include "recordings.h"
#include "settings.h"

struct MHD_Daemon;

struct server {
	struct monitor *monitor;
	struct recordings *recordings; /* owned; NULL: none can be made */
	struct checkup *checkup;       /* owned */
	struct gate *gate;             /* owned; NULL: everybody may ask */
	struct MHD_Daemon *daemons[ADDRESSES_MAX];
	union address addresses[ADDRESSES_MAX]; /* with the ports that they got */
	int n;
};

/* 0 or a negative errno; the log has the sentence. */
int server_open(struct server *server, struct monitor *monitor, const struct settings *settings);
/*
 * Reads the web configuration again, with its certificates; connections end. One that is wrong
 * changes nothing, and the log says why.
 */
void server_reload(struct server *server, const struct settings *settings);
/* Ends all connections. */
void server_close(struct server *server);

#endif
