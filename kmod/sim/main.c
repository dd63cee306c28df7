// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wattribute's simulator: sensors that show what a script says, and the truth about who used
 * what. For tests only.
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "core.h"
#include "truth.h"

static struct dentry *dir;

static int __init sim_init(void)
{
	int r;

	dir = debugfs_create_dir("wattsim", NULL);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	sim_meter_init();
	r = sim_truth_init(dir);
	if (r)
		goto err_truth;
	r = sim_script_init(dir);
	if (r)
		goto err_script;
	return 0;

err_script:
	/* a script may have been written to what is there of it */
	debugfs_remove(dir);
	sim_schedule_exit();
	sim_meter_exit();
	sim_truth_exit();
	return r;
err_truth:
	debugfs_remove(dir);
	sim_meter_exit();
	return r;
}

static void __exit sim_exit(void)
{
	debugfs_remove(dir);
	sim_schedule_exit();
	sim_meter_exit();
	sim_truth_exit();
}

module_init(sim_init);
module_exit(sim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute: simulated energy sensors with a known truth, for tests only");
