/* SPDX-License-Identifier: Apache-2.0 */
/* Older kernels have kvcalloc() here. */
#include <linux/slab.h>
