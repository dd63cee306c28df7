/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent may do. It begins with what it was given, by root as a rule, and keeps what
 * reading sensors and processes takes: capabilities(7) CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH
 * and CAP_SYS_PTRACE, and CAP_NET_BIND_SERVICE where it serves on a port below 1024.
 */
#ifndef WATT_AGENT_RIGHTS_H
#define WATT_AGENT_RIGHTS_H

#include <stdbool.h>

/*
 * Gives up everything else, for ever, for this process and what it starts. Before there is any
 * other thread: rights belong to threads. user: whom to become, a name; NULL: stays who it is.
 * 0 or a negative errno; the log has the sentence. What the kernel can't do is passed over: a
 * filter of system calls where it has none.
 */
int rights_drop(const char *user, bool has_low_port);

#endif
