/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where errors become statuses, so that every source means the same by them. */
#include "source/host/status.h"

#include <errno.h>
#include <string.h>

enum watt_status watt_status_from_errno(int r)
{
	if (r >= 0)
		return WATT_STATUS_OK;
	switch (-r) {
	case EAGAIN:
	case ENODATA:
	case EBUSY:
		return WATT_STATUS_NODATA;
	case ENODEV:
	case ENOENT:
	case ENXIO:
		return WATT_STATUS_ABSENT;
	case EACCES:
	case EPERM:
		return WATT_STATUS_FORBIDDEN;
	default:
		return WATT_STATUS_BROKEN;
	}
}

enum watt_availability watt_availability_from_errno(int r)
{
	switch (watt_status_from_errno(r)) {
	case WATT_STATUS_OK:
		return WATT_AVAILABLE;
	case WATT_STATUS_ABSENT:
		return WATT_ABSENT;
	case WATT_STATUS_FORBIDDEN:
		return WATT_FORBIDDEN;
	default:
		return WATT_BROKEN;
	}
}

const char *watt_error_text(int r)
{
	const char *text;

	switch (-r) {
	case EBADMSG:
		return "its content makes no sense";
	case ERANGE:
		return "its number is out of range";
	case ENOENT:
	case ENODEV:
		return "it is not there";
	default:
		text = strerrordesc_np(-r);
		return text ? text : "unknown error";
	}
}
