// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control types live as long as a zone is in them. A name that a driver has is left to it.
 */
#include "powercap_control.h"

#include <linux/device.h>
#include <linux/device/class.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *control = "";
module_param(control, charp, 0444);
MODULE_PARM_DESC(control, "usual control type; default: intel-rapl, or if taken intel-rapl-sim");

static LIST_HEAD(controls);

static int add_control(const char *name, struct sim_control **ret)
{
	struct sim_control *added = kzalloc(sizeof(*added), GFP_KERNEL);

	if (!added)
		return sim_fail(-ENOMEM, "out of memory");
	strscpy(added->name, name, sizeof(added->name));
	added->type = powercap_register_control_type(NULL, name, NULL);
	if (IS_ERR(added->type)) {
		int r = PTR_ERR(added->type);

		kfree(added);
		return sim_fail(r, "control type '%s' can't be made", name);
	}
	list_add_tail(&added->node, &controls);
	*ret = added;
	return 0;
}

void sim_control_put(struct sim_control *used)
{
	if (--used->users)
		return;
	list_del(&used->node);
	powercap_unregister_control_type(used->type);
	kfree(used);
}

/* Does a device of this name exist in the class? Any control type of ours knows the class. */
static bool is_taken(const struct sim_control *any, const char *name)
{
	struct device *device = class_find_device_by_name(any->type->dev.class, name);

	if (device)
		put_device(device);
	return device;
}

static struct sim_control *find_control(const char *name)
{
	struct sim_control *found;

	list_for_each_entry(found, &controls, node)
		if (!strcmp(found->name, name))
			return found;
	return NULL;
}

/* A name that is taken must not be tried: the driver core would complain aloud. */
static int get_named_control(const char *name, struct sim_control **ret)
{
	struct sim_control *probe, *found = find_control(name);
	bool is_free;
	int r = 0;

	if (!found) {
		r = add_control("wattsim-probe", &probe);
		if (r)
			return r;
		probe->users++;
		is_free = !is_taken(probe, name);
		sim_control_put(probe);
		r = is_free ? add_control(name, &found) : -EEXIST;
	}
	if (r)
		return r;
	found->users++;
	*ret = found;
	return 0;
}

int sim_control_get(const char *name, struct sim_control **ret)
{
	const char *wanted = *name ? name : control;
	int r;

	r = get_named_control(*wanted ? wanted : "intel-rapl", ret);
	if (r == -EEXIST && !*wanted)
		r = get_named_control("intel-rapl-sim", ret);
	return r == -EEXIST ? sim_fail(r, "control type '%s' belongs to a driver",
				       *wanted ? wanted : "intel-rapl-sim") :
			      r;
}
