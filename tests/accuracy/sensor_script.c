/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts. Times are those at which something is asked for; when it happened is what the log
 * says.
 */
#include "sensor_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../guest/sim.h"
#include "power_log.h"

#define NS_PER_MS 1000000ULL
#define REST_MS 300 /* at both ends: several readings of every sensor */

static const char *const meters[] = { "a", "b", "c", "d", "e", "f", "g" };

static const struct sensor_script *playing;
static FILE *log_file;
static uint64_t begin_ns;

static void at(unsigned int ms)
{
	uint64_t t_ns = begin_ns + (REST_MS + ms) * NS_PER_MS;
	struct timespec ts = { .tv_sec = (time_t)(t_ns / 1000000000),
			       .tv_nsec = (long)(t_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void power(const char *meter, double power_w)
{
	sim_say("meter set %s power_uw=%.0f\n", meter, power_w * 1e6);
	power_log_write(log_file, meter);
}

/* All of them to 0, and the rest after it. */
static void end(unsigned int ms)
{
	unsigned int i;

	at(ms);
	for (i = 0; i < playing->n_meters; i++)
		power(meters[i], 0);
	at(ms + REST_MS);
}

/* ---- zones: two packages with what is in them ---- */

static void play_zones(void)
{
	at(0);
	power("a", 2000);
	power("b", 100);
	power("c", 300);
	power("d", 150);
	power("e", 80);
	power("f", 60);
	power("g", 900);
	at(200);
	sim_say("zone fail package-0/core errno=5\nzone fail package-0/uncore errno=5\n");
	at(400);
	power("a", 5);
	sim_say("zone reset package-0/dram\n");
	at(500);
	sim_say("zone hide package-1\n");
	at(600);
	sim_say("zone add stranger meter=d\n");
	power("a", 1900);
	at(700);
	/* with so little power that it shows less than before when it is back: more could not be told
	 * from a counter that went on */
	power("f", 5);
	sim_say("zone fail package-0/core errno=0\nzone reset package-1/dram\n");
	at(800);
	sim_say("zone show package-1\n");
	power("d", 20);
	at(900);
	sim_say("zone show package-1/core\nzone show package-1/dram\n");
	at(1000);
	sim_say("zone remove stranger\n");
	at(1400);
	sim_say("zone fail package-0/uncore errno=0\n");
	end(1700);
}

/* A wrap, a reset and a steep change, for the shortest of runs. */
static void play_brief(void)
{
	at(0);
	power("a", 2000);
	power("b", 100);
	power("c", 300);
	at(300);
	sim_say("zone reset package-0/dram\n");
	at(700);
	power("a", 1);
	end(900);
}

/* ---- chips of hwmon ---- */

/* Up by step_w every 50 ms, then steeply down and up. */
static void play_ramp(const char *meter, double step_w)
{
	int i;

	for (i = 1; i <= 16; i++) {
		at((unsigned int)i * 50);
		power(meter, i * step_w);
	}
	at(1000);
	power(meter, step_w);
	at(1200);
	power(meter, 20 * step_w);
}

static void play_chips(void)
{
	at(0);
	power("a", 100);
	power("b", 50);
	power("c", 40);
	power("d", 30);
	power("e", 10);
	sim_say("at 200 chip fail counts sensor=energy1 errno=5\n"
		"at 200 chip fail shows sensor=power2 errno=11\n"
		"at 400 chip reset counts sensor=energy2\n"
		"at 500 chip hide goes\n"
		"at 600 chip fail counts sensor=energy1 errno=0\n"
		"at 600 chip fail shows sensor=power2 errno=0\n");
	play_ramp("f", 6);
	at(1300);
	power("e", 25);
	end(1500);
}

/* ---- monitors of IIO ---- */

static void play_monitors(void)
{
	at(0);
	power("a", 40);
	power("b", 10);
	power("c", 30);
	sim_say("at 200 monitor fail ina channel=power1 errno=11\n"
		"at 300 monitor fail adc channel=current0 errno=5\n"
		"at 500 monitor hide goes\n"
		"at 600 monitor fail ina channel=power1 errno=0\n"
		"at 700 monitor fail adc channel=current0 errno=0\n");
	play_ramp("d", 6);
	at(1300);
	power("b", 25);
	end(1500);
}

/* ---- registers that the kernel's own driver reads ---- */

static void play_registers(void)
{
	/* less than four times what register 0x614 states: more would not be believed */
	at(0);
	power("a", 600);
	power("b", 90);
	at(300);
	sim_say("msr fail 0x611 errno=5 package=1\n");
	at(500);
	power("a", 2);
	at(700);
	sim_say("msr fail 0x611 errno=0 package=1\n");
	power("a", 300);
	end(1000);
}

/* ---- all of them ---- */

/*
 * Of package-0 a wrap is 1,718 J, the first after 718 J; of its uncore 859 J. A counter
 * that stays at 0 would be taken for one of a virtual machine.
 */
static const char zones_up[] = "zone add package-0 meter=a unit_nj=400 shown_uj=1000000000\n"
			       "zone add package-0/core meter=b shown_uj=3000000\n"
			       "zone add package-0/dram meter=c shown_uj=3000000\n"
			       "zone add package-0/uncore meter=g unit_nj=200 shown_uj=3000000\n"
			       "zone add package-1 meter=d shown_uj=3000000\n"
			       "zone add package-1/core meter=e shown_uj=3000000\n"
			       "zone add package-1/dram meter=f shown_uj=3000000\n";

static const char zones_down[] =
	"zone remove package-1/dram\nzone remove package-1/core\nzone remove package-1\n"
	"zone remove package-0/uncore\nzone remove package-0/dram\nzone remove package-0/core\n"
	"zone remove package-0\n";

static const char chips_up[] = "chip add counts\n"
			       "chip sensor counts sensor=energy1 meter=a label=fails\n"
			       "chip sensor counts sensor=energy2 meter=b label=begins_anew\n"
			       "chip show counts\n"
			       "chip add shows\n"
			       "chip sensor shows sensor=power1 meter=f label=ramp\n"
			       "chip sensor shows sensor=power2 meter=c label=busy\n"
			       "chip show shows\n"
			       "chip add goes\n"
			       "chip sensor goes sensor=power1 meter=d label=goes\n"
			       "chip show goes\n"
			       "chip add ina3221\n"
			       "chip sensor ina3221 sensor=in1 meter=e label=rail voltage_mv=5000\n"
			       "chip sensor ina3221 sensor=curr1 meter=e voltage_mv=5000\n"
			       "chip show ina3221\n";

static const char chips_down[] =
	"chip remove counts\nchip remove shows\nchip remove goes\nchip remove ina3221\n";

static const char monitors_up[] =
	"monitor add ina\n"
	"monitor channel ina channel=power0 meter=d label=ramp scale=25000\n"
	"monitor channel ina channel=power1 meter=a label=busy scale=25000\n"
	"monitor show ina\n"
	"monitor add adc\n"
	"monitor channel adc channel=voltage0 meter=b label=rail voltage_mv=5000\n"
	"monitor channel adc channel=current0 meter=b label=rail voltage_mv=5000\n"
	"monitor show adc\n"
	"monitor add goes\n"
	"monitor channel goes channel=power0 meter=c label=goes\n"
	"monitor show goes\n";

static const char monitors_down[] = "monitor remove ina\nmonitor remove adc\nmonitor remove goes\n";

/* 200 J before it wraps. */
static const char registers_up[] = "msr counter 0x611 meter=a package=0\n"
				   "msr counter 0x611 meter=b package=1\n"
				   "msr set 0x611 value=4291690496 package=0\n"
				   "msr set 0x611 value=49152 package=1\n";

static const char registers_down[] = "msr remove 0x611 package=0\nmsr remove 0x611 package=1\n";

static const struct sensor_script scripts[] = {
	{ "zones", "powercap", 7, zones_up, false, play_zones, zones_down },
	{ "brief", "powercap", 7, zones_up, false, play_brief, zones_down },
	{ "chips", "hwmon", 6, chips_up, true, play_chips, chips_down },
	{ "monitors", "iio", 4, monitors_up, false, play_monitors, monitors_down },
	{ "registers", "powercap", 2, registers_up, false, play_registers, registers_down },
};

const struct sensor_script *sensor_script_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (!strcmp(scripts[i].name, name))
			return &scripts[i];
	fprintf(stderr, "there is no script '%s'\n", name);
	exit(1);
}

static void count_a_little(const struct sensor_script *script)
{
	static const struct timespec a_little = { .tv_nsec = 20 * NS_PER_MS };
	unsigned int i;

	for (i = 0; i < script->n_meters; i++)
		sim_say("meter set %s power_uw=1000000\n", meters[i]);
	nanosleep(&a_little, NULL);
	for (i = 0; i < script->n_meters; i++)
		sim_say("meter set %s power_uw=0\n", meters[i]);
}

void sensor_script_set_up(const struct sensor_script *script)
{
	unsigned int i;

	for (i = 0; i < script->n_meters; i++)
		sim_say("meter add %s power_uw=0\n", meters[i]);
	sim_say("%s", script->up);
	if (script->begins_above_0)
		count_a_little(script);
}

void sensor_script_tear_down(const struct sensor_script *script)
{
	unsigned int i;

	sim_say("%s", script->down);
	for (i = 0; i < script->n_meters; i++)
		sim_say("meter remove %s\n", meters[i]);
}

void sensor_script_play(const struct sensor_script *script)
{
	struct timespec ts;

	playing = script;
	log_file = fopen(SENSOR_SCRIPT_LOG, "we");
	if (!log_file) {
		fprintf(stderr, "%s: %s\n", SENSOR_SCRIPT_LOG, strerror(errno));
		exit(1);
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	begin_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	script->play();
	fclose(log_file);
}
