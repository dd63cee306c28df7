/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the size of elements by how much was written. It must not believe the driver's names. */
#include "source/activity/nvml/process_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* As much of its name as the kernel keeps. */
#define MPS_SERVER "nvidia-cuda-mps"
#define BYTES_AT 8

/* What ends in the value that stands for "unwritten" is taken for shorter than it is; no more. */
static size_t written_size(const uint8_t *buf, size_t size)
{
	while (size > 0 && buf[size - 1] == WATT_NVML_UNWRITTEN)
		size--;
	return size;
}

int watt_nvml_list_parse(const uint8_t *buf, size_t size, size_t n, struct watt_nvml_process *ret)
{
	static const size_t strides[] = { 16, 24, WATT_NVML_ELEMENT_MAX };
	size_t written = written_size(buf, size), i = 0, stride;

	if (n > size / WATT_NVML_ELEMENT_MAX)
		return -EBADMSG;
	while (i < WATT_ARRAY_SIZE(strides) && n * strides[i] < written)
		i++;
	if (i == WATT_ARRAY_SIZE(strides))
		return -EBADMSG;
	stride = strides[i];
	/* less was written than the smallest elements take */
	if (n && written <= (n - 1) * strides[0])
		return -EBADMSG;
	for (i = 0; i < n; i++) {
		const uint8_t *element = buf + i * stride;

		ret[i] = (struct watt_nvml_process){ 0 };
		memcpy(&ret[i].pid, element, sizeof(ret[i].pid));
		memcpy(&ret[i].bytes, element + BYTES_AT, sizeof(ret[i].bytes));
	}
	return 0;
}

/* ---- asking ---- */

typedef int (*list_fn)(void *device, unsigned int *count, void *infos);

/* Appends a list, of the newest layout that works. 0, or what the driver returned. */
static int append_list(void *device, const list_fn fns[3], struct watt_nvml_processes *ret)
{
	static const size_t size = (size_t)WATT_NVML_MAX_LISTED * WATT_NVML_ELEMENT_MAX;
	int code = WATT_NVML_FUNCTION_NOT_FOUND;
	uint8_t *buf = malloc(size);
	size_t i;

	if (!buf)
		return WATT_NVML_INSUFFICIENT_SIZE;
	for (i = 0; i < 3 && code != WATT_NVML_SUCCESS; i++) {
		unsigned int n = (unsigned int)(WATT_NVML_MAX_LISTED - ret->n);

		if (!fns[i])
			continue;
		memset(buf, WATT_NVML_UNWRITTEN, size);
		code = fns[i](device, &n, buf);
		if (code == WATT_NVML_SUCCESS &&
		    (n > WATT_NVML_MAX_LISTED - ret->n ||
		     watt_nvml_list_parse(buf, size, n, ret->list + ret->n) < 0))
			code = WATT_NVML_NOT_SUPPORTED;
		if (code == WATT_NVML_SUCCESS)
			ret->n += n;
	}
	free(buf);
	return code;
}

static struct watt_nvml_process *find_in(struct watt_nvml_process *list, size_t n, uint32_t pid)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].pid == pid)
			return &list[i];
	return NULL;
}

/* Who is in two lists has the larger of what they say: a list may not know of its memory. */
static void merge(struct watt_nvml_process *to, const struct watt_nvml_process *from)
{
	if (to->bytes == WATT_NVML_BYTES_UNKNOWN ||
	    (from->bytes != WATT_NVML_BYTES_UNKNOWN && from->bytes > to->bytes))
		to->bytes = from->bytes;
}

/* Each once, the clients of MPS at the end: those from *first_client on, in whatever other list. */
static void sort_out(struct watt_nvml_processes *all, size_t first_client)
{
	struct watt_nvml_process *found;
	size_t i, kept = 0;

	for (i = first_client; i < all->n; i++)
		if ((found = find_in(all->list, first_client, all->list[i].pid))) {
			merge(&all->list[i], found);
			found->pid = 0;
		}
	for (i = 0; i < all->n; i++) {
		if (!all->list[i].pid)
			continue;
		found = find_in(all->list, kept, all->list[i].pid);
		if (found) {
			merge(found, &all->list[i]);
			continue;
		}
		all->n_clients += i >= first_client;
		all->list[kept++] = all->list[i];
	}
	all->n = kept;
}

static bool is_mps_server(const struct watt_root *procfs, uint32_t pid)
{
	char path[32], comm[32];

	snprintf(path, sizeof(path), "%u/comm", pid);
	return watt_root_read(procfs, path, comm, sizeof(comm)) >= 0 &&
	       !strncmp(comm, MPS_SERVER, strlen(MPS_SERVER));
}

static void find_servers(const struct watt_nvml *nvml, struct watt_nvml_processes *all)
{
	size_t i;

	for (i = 0; all->n_clients && i < all->n - all->n_clients; i++)
		all->list[i].is_server = is_mps_server(&nvml->env->procfs, all->list[i].pid);
}

int watt_nvml_list_fetch(const struct watt_nvml *nvml, void *device,
			 struct watt_nvml_processes *ret)
{
	const struct watt_nvml_api *api = &nvml->api;
	const list_fn lists[][3] = {
		{ api->compute_v3, api->compute_v2, api->compute_v1 },
		{ api->graphics_v3, api->graphics_v2, api->graphics_v1 },
		/* clients of one server that shares the GPU */
		{ api->mps_v3, api->mps_v2, api->mps_v1 },
	};
	int code, worst = WATT_NVML_FUNCTION_NOT_FOUND;
	size_t first_client = 0, i;
	bool is_any = false;

	ret->n = ret->n_clients = 0;
	ret->is_whole = true;
	for (i = 0; i < WATT_ARRAY_SIZE(lists); i++) {
		first_client = ret->n; /* of the last list */
		code = append_list(device, lists[i], ret);
		if (code == WATT_NVML_SUCCESS) {
			is_any = true;
		} else if (watt_nvml_error(code) != -EOPNOTSUPP) {
			ret->is_whole = false;
			worst = code;
		}
	}
	sort_out(ret, first_client);
	find_servers(nvml, ret);
	return is_any ? WATT_NVML_SUCCESS : worst;
}
