// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: made, given sensors, shown, hidden and removed. Knows no subsystem.
 */
#include "device.h"

#include <linux/device.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/string.h>

static struct sim_device *find_device(const struct sim_device_class *class, const char *name)
{
	struct sim_device *device;

	list_for_each_entry(device, &class->devices, node)
		if (!strcmp(device->name, name))
			return device;
	return NULL;
}

static int get_device_of(const struct sim_device_class *class, const char *name,
			 struct sim_device **ret)
{
	*ret = find_device(class, name);
	return *ret ? 0 : sim_fail(-ENOENT, "there is no %s '%s'", class->noun, name);
}

int sim_device_add(struct sim_device_class *class, const char *target)
{
	struct sim_device *device;

	if (find_device(class, target))
		return sim_fail(-EEXIST, "there is a %s '%s' already", class->noun, target);
	if (class->n_devices == SIM_DEVICES_MAX)
		return sim_fail(-ENOSPC, "there are %d %ss already", SIM_DEVICES_MAX, class->noun);
	device = kzalloc(class->device_size, GFP_KERNEL);
	if (!device)
		return sim_fail(-ENOMEM, "out of memory");
	strscpy(device->name, target, sizeof(device->name));
	device->platform =
		platform_device_register_simple(class->platform, class->next_id++, NULL, 0);
	if (IS_ERR(device->platform)) {
		int r = (int)PTR_ERR(device->platform);

		kfree(device);
		return sim_fail(r, "%s '%s' gets no device", class->noun, target);
	}
	list_add_tail(&device->node, &class->devices);
	class->n_devices++;
	return 0;
}
EXPORT_SYMBOL_GPL(sim_device_add);

int sim_device_show(struct sim_device_class *class, const char *target)
{
	struct sim_device *device;
	int r = get_device_of(class, target, &device);

	if (r)
		return r;
	if (device->shown)
		return sim_fail(-EALREADY, "%s '%s' is shown already", class->noun, target);
	if (!device->n_sensors)
		return sim_fail(-EINVAL, "%s '%s' has no %s: '%s %s' adds one", class->noun, target,
				class->part, class->noun, class->part);
	return class->show(device);
}
EXPORT_SYMBOL_GPL(sim_device_show);

static void hide_device(const struct sim_device_class *class, struct sim_device *device)
{
	if (device->shown)
		class->hide(device);
	device->shown = NULL;
}

int sim_device_hide(struct sim_device_class *class, const char *target)
{
	struct sim_device *device;
	int r = get_device_of(class, target, &device);

	if (r)
		return r;
	if (!device->shown)
		return sim_fail(-EALREADY, "%s '%s' is hidden already", class->noun, target);
	hide_device(class, device);
	return 0;
}
EXPORT_SYMBOL_GPL(sim_device_hide);

static void free_device(struct sim_device_class *class, struct sim_device *device)
{
	unsigned int i;

	hide_device(class, device);
	platform_device_unregister(device->platform);
	for (i = 0; i < device->n_sensors; i++) {
		sim_counter_done(&device->sensors[i]->counter);
		kfree(device->sensors[i]);
	}
	list_del(&device->node);
	class->n_devices--;
	kfree(device);
}

int sim_device_remove(struct sim_device_class *class, const char *target)
{
	struct sim_device *device;
	int r = get_device_of(class, target, &device);

	if (!r)
		free_device(class, device);
	return r;
}
EXPORT_SYMBOL_GPL(sim_device_remove);

void sim_devices_free(struct sim_device_class *class)
{
	struct sim_device *device, *next;

	list_for_each_entry_safe(device, next, &class->devices, node)
		free_device(class, device);
}
EXPORT_SYMBOL_GPL(sim_devices_free);

/* ---- sensors ---- */

struct sim_sensor *sim_device_find_sensor(const struct sim_device *device, int type,
					  unsigned int index)
{
	unsigned int i;

	for (i = 0; i < device->n_sensors; i++)
		if (device->sensors[i]->type == type && device->sensors[i]->index == index)
			return device->sensors[i];
	return NULL;
}
EXPORT_SYMBOL_GPL(sim_device_find_sensor);

static int init_sensor(const struct sim_device_class *class, const struct sim_device *device,
		       struct sim_sensor *sensor, const struct sim_value *values)
{
	const char *name = values[SIM_SENSOR_NAME].text;
	int r = sim_sensor_parse(&class->naming, name, &sensor->type, &sensor->index);

	if (r)
		return r;
	if (sim_device_find_sensor(device, sensor->type, sensor->index))
		return sim_fail(-EEXIST, "%s '%s' has %s already", class->noun, device->name, name);
	return sim_sensor_init(sensor, values);
}

int sim_device_add_sensor(struct sim_device_class *class, const char *target,
			  const struct sim_value *values, struct sim_sensor **ret)
{
	struct sim_sensor *sensor;
	struct sim_device *device;
	int r = get_device_of(class, target, &device);

	if (r)
		return r;
	if (device->shown)
		return sim_fail(-EBUSY, "%s '%s' is shown: hide it first", class->noun, target);
	if (device->n_sensors == class->sensors_max)
		return sim_fail(-ENOSPC, "%s '%s' has %u %ss already", class->noun, target,
				class->sensors_max, class->part);
	sensor = kzalloc(class->sensor_size, GFP_KERNEL);
	if (!sensor)
		return sim_fail(-ENOMEM, "out of memory");
	r = init_sensor(class, device, sensor, values);
	if (r) {
		kfree(sensor);
		return r;
	}
	device->sensors[device->n_sensors++] = sensor;
	*ret = sensor;
	return 0;
}
EXPORT_SYMBOL_GPL(sim_device_add_sensor);

int sim_device_get_sensor(struct sim_device_class *class, const char *target, const char *name,
			  struct sim_sensor **ret)
{
	struct sim_device *device;
	unsigned int index;
	int type, r = get_device_of(class, target, &device);

	if (!r)
		r = sim_sensor_parse(&class->naming, name, &type, &index);
	if (r)
		return r;
	*ret = sim_device_find_sensor(device, type, index);
	return *ret ? 0 : sim_fail(-ENOENT, "%s '%s' has no %s", class->noun, target, name);
}
EXPORT_SYMBOL_GPL(sim_device_get_sensor);

int sim_device_fail_sensor(struct sim_device_class *class, const char *target,
			   const struct sim_value *values)
{
	struct sim_sensor *sensor;
	int r = sim_device_get_sensor(class, target, values[0].text, &sensor);

	if (!r)
		sim_counter_fail(&sensor->counter, -(int)values[1].number);
	return r;
}
EXPORT_SYMBOL_GPL(sim_device_fail_sensor);

static void list_device(const struct sim_device_class *class, const struct sim_device *device,
			struct seq_file *file)
{
	unsigned int i;

	seq_printf(file, "%s %s %s\n", class->noun, device->name,
		   device->shown ? dev_name(device->shown) : "hidden");
	for (i = 0; i < device->n_sensors; i++) {
		struct sim_sensor *sensor = device->sensors[i];
		struct sim_energy origin;
		long value = 0;
		int r = class->read(sensor, &value);

		sim_counter_origin(&sensor->counter, &origin);
		seq_printf(file, "%s %s %s meter=%s %s=%ld errno=%d origin_nj=%llu.%06u\n",
			   class->noun, device->name, sensor->name,
			   sim_meter_name(sensor->counter.meter), class->value, value, -r,
			   origin.nj, origin.fj);
	}
}

void sim_devices_list(const struct sim_device_class *class, struct seq_file *file)
{
	struct sim_device *device;

	list_for_each_entry(device, &class->devices, node)
		list_device(class, device, file);
}
EXPORT_SYMBOL_GPL(sim_devices_list);
