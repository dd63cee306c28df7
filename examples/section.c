/* SPDX-License-Identifier: Apache-2.0 */
/* What a section of code takes: cc section.c $(pkg-config --cflags --libs libwattribute) */
#include <stdio.h>

#include <wattribute/meter.h>

static double work(void)
{
	double sum = 0;
	long i;

	for (i = 1; i < 50000000; i++)
		sum += 1.0 / (double)i;
	return sum;
}

int main(void)
{
	struct watt_meter *meter = watt_meter_open(NULL);
	struct watt_meter_result result = { sizeof(result) };
	double sum;
	int r;

	watt_meter_begin(meter);
	sum = work();
	r = watt_meter_end(meter, &result);
	if (r < 0)
		fprintf(stderr, "not measured: %s\n", watt_meter_get_problem(meter));
	else
		printf("%.6f: the machine took %.3f J in %.3f s (%.2f W, %s), we %.3f J of it\n",
		       sum, result.energy_j, result.elapsed_s, result.power_w,
		       watt_origin_name(result.origin), result.own_energy_j);
	watt_meter_close(meter);
	return r < 0;
}
