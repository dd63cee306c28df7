/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report of a recording that never was: for tests of what is shown, with names that nobody
 * should have, sensors that fail, and nothing at all.
 *
 * usage: made_report KIND html|json|text|svg|png     KIND: see kinds[]
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "sink/registry.h"
#include "text.h"
#include "view/series.h"
#include "xalloc.h"

#define WINDOW_NS 1000000000ULL
#define START_NS 5000000000000ULL

enum {
	PACKAGE,
	CORE,
	DRAM,
	RAIL,
	N_DOMAINS
};

struct kind {
	const char *name;
	size_t n_windows;
	size_t n_processes;
	bool has_marks;
	bool has_losses;
	bool is_hostile;
	bool is_compared;
	bool has_context;
	enum watt_origin origin;
};

static const struct kind kinds[] = {
	{ "full", 600, 200, true, true, false, false, true, WATT_ORIGIN_MEASURED },
	{ "plain", 120, 12, false, false, false, false, true, WATT_ORIGIN_MEASURED },
	{ "hostile", 60, 30, true, true, true, true, true, WATT_ORIGIN_SIMULATED },
	{ "estimate", 90, 25, false, false, false, false, false, WATT_ORIGIN_ESTIMATED },
	{ "one", 1, 5, false, false, false, false, true, WATT_ORIGIN_MEASURED },
	{ "empty", 0, 0, false, false, false, false, true, WATT_ORIGIN_MEASURED },
	{ "dark", 30, 6, false, false, false, false, false,
	  WATT_ORIGIN_MEASURED }, /* no sensor answers */
	/* everything stood still for a while, in the middle of a window */
	{ "stretched", 120, 12, false, false, false, false, true, WATT_ORIGIN_MEASURED },
	{ "versus", 600, 60, true, false, false, true, false, WATT_ORIGIN_MEASURED },
	/* compared with nearly the same, and too short to say anything of it */
	{ "alike", 1, 5, false, false, false, true, false, WATT_ORIGIN_MEASURED },
	{ "cards", 120, 24, false, false, false, false, false,
	  WATT_ORIGIN_MEASURED }, /* has a GPU */
	{ "kilo", 300, 20, true, false, false, false, false,
	  WATT_ORIGIN_MEASURED }, /* takes some kW */
};

static const char *const commands[] = {
	"/usr/bin/postgres -D /var/lib/postgresql/15/main",
	"python3 train.py --epochs 40 --batch-size 256 --data /srv/images --resume checkpoint.pt",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet -imultiarch x86_64-linux-gnu main.cc",
	"nginx: worker process",
	"/usr/lib/jvm/java-17/bin/java -Xmx4g -jar service.jar",
	"systemd",
	"sshd: anna@pts/0",
	"containerd-shim-runc-v2 -namespace moby -id 3f2a",
	"node server.js",
	"/usr/bin/dockerd -H fd://",
};

static const char *const hostile[] = {
	"</script><script>document.title='owned'</script>",
	"<img src=x onerror=\"document.title='owned'\">",
	"\"'><svg/onload=document.title='owned'>",
	"<!--<script>",
	"]]>&lt;b&gt;&amp;",
	("evil\xe2\x80\xae"
	 "gnp.exe"),
	"__proto__",
	"constructor",
	"broken \xff\xfe utf-8",
	"new\nline\ttab\x1b[31mred\x07",
	"\xe2\x80\xa8line separator",
	"javascript:alert(1)",
	"{{constructor.constructor('document.title=1')()}}",
	"\\u003cscript\\u003e \\\\ \\\"",
};

/* Of context: what there is, around what it moves, and how much. */
#define CPUS 12
#define MAX_GAUGES 32

static const struct context {
	const char *name;
	enum watt_quantity quantity;
	double middle;
	double swing;
} contexts[] = {
	{ "context/gpu/load", WATT_QUANTITY_RATIO, 0.5, 0.4 },
	{ "context/memory/emc", WATT_QUANTITY_RATIO, 0.2, 0.1 },
	{ "context/cpu-thermal/temperature", WATT_QUANTITY_TEMPERATURE, 48.2, 6 },
	{ "context/gpu-thermal/temperature", WATT_QUANTITY_TEMPERATURE, 51.4, 8 },
	{ "context/tboard-thermal/temperature", WATT_QUANTITY_TEMPERATURE, -4.5, 0.5 },
	{ "context/policy0/clock", WATT_QUANTITY_FREQUENCY, 1.9e9, 4e8 },
	{ "context/memory/used", WATT_QUANTITY_MEMORY, 11e9, 3e9 },
	{ "context/fan/fan1_input", WATT_QUANTITY_SPEED, 2400, 900 },
};

struct machine {
	const struct kind *kind;
	uint64_t random;
	double drift_w; /* slow changes, so that windows depend on each other */
	double factor;
	struct watt_domain domain[N_DOMAINS];
	struct watt_domain_state state[N_DOMAINS];
	const struct watt_domain *domains[N_DOMAINS];
	const struct watt_domain_state *states[N_DOMAINS];
	struct watt_row *row;
	struct watt_entity *entity;
	struct watt_identity *who;
	struct watt_cgroup *cgroup;
	char (*name)[64];
	int64_t (*window_nj)[N_DOMAINS];
	const struct watt_row **rows;
	struct watt_quality quality;
	struct watt_gauge gauge[MAX_GAUGES];
	const struct watt_gauge *gauges[MAX_GAUGES];
	struct watt_view view;
};

static void check(int r)
{
	if (r == 0)
		return;
	fprintf(stderr, "made_report: %s\n", strerror(-r));
	exit(1);
}

static double draw(struct machine *m)
{
	m->random = m->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(m->random >> 11) / 9007199254740992.0;
}

static void init_domains(struct machine *m)
{
	static const char *const paths[] = { "package-0", "package-0/core", "dram-0", "vdd_soc" };
	static const enum watt_domain_kind domain_kinds[] = { WATT_DOMAIN_PACKAGE,
							      WATT_DOMAIN_CORES, WATT_DOMAIN_DRAM,
							      WATT_DOMAIN_RAIL };
	size_t d;

	for (d = 0; d < N_DOMAINS; d++) {
		const char *slash = strrchr(paths[d], '/');

		m->domain[d] = (struct watt_domain){
			.path = paths[d],
			.name = slash ? slash + 1 : paths[d],
			.kind = domain_kinds[d],
			.origin = m->kind->origin,
			.key = d == RAIL ? WATT_KEY_NONE : WATT_KEY_CPU_TIME,
			.parent = d == CORE ? PACKAGE : -1,
			.is_summed = d != CORE,
			.is_partition = d != CORE,
			.uncertainty_ppm = m->kind->origin == WATT_ORIGIN_ESTIMATED ? 300000 :
										      20000,
		};
		if (!strcmp(m->kind->name, "cards") && d == DRAM) {
			m->domain[d].path = m->domain[d].name = "gpu-0000:0d:00_0";
			m->domain[d].kind = WATT_DOMAIN_GPU;
			m->domain[d].key = WATT_KEY_GPU_TIME;
		}
		if (m->kind->is_hostile && d == RAIL)
			m->domain[d].path = m->domain[d].name = "<b onclick=x>rail</b>";
		m->domains[d] = &m->domain[d];
		m->states[d] = &m->state[d];
	}
}

static void init_rows(struct machine *m)
{
	size_t n = m->kind->n_processes, i;

	for (i = 0; i < n; i++) {
		const char *text = m->kind->is_hostile ? hostile[i % ARRAY_SIZE(hostile)] :
							 commands[i % ARRAY_SIZE(commands)];
		size_t length = strcspn(text, " :");
		const char *slash = memrchr(text, '/', length);

		snprintf(m->name[i], sizeof(m->name[i]), "%.15s",
			 m->kind->is_hostile || !slash ? text : slash + 1);
		if (!m->kind->is_hostile)
			m->name[i][strcspn(m->name[i], " :")] = '\0';
		m->who[i] = (struct watt_identity){
			.pid = (uint32_t)(1000 + i), .parent_pid = 1, .uid = 1000, .cmdline = text
		};
		m->cgroup[i] = (struct watt_cgroup){ .path = "/x",
						     .unit = "web.service",
						     .container = i % 3 ? NULL : "web-1" };
		m->entity[i] = (struct watt_entity){
			.id = 10 + i,
			.count = 1,
			.alive = 1,
			.name = m->name[i],
			.kind = i % 17 == 5 ? WATT_ENTITY_KTHREAD : WATT_ENTITY_PROCESS,
			.identity = &m->who[i],
			.cgroup = &m->cgroup[i],
		};
		m->row[i].entity = &m->entity[i];
		m->row[i].window_nj = m->window_nj[i];
		m->rows[i] = &m->row[i];
	}
	/* The last two are sums over others. */
	m->entity[n] = (struct watt_entity){
		.id = 5, .kind = WATT_ENTITY_CONTAINER, .count = 3, .alive = 1, .name = "web-1"
	};
	m->entity[n + 1] = (struct watt_entity){
		.id = 6, .kind = WATT_ENTITY_TRACKED, .count = 3, .alive = 1, .name = "command"
	};
	for (i = n; i < n + 2; i++) {
		m->row[i].entity = &m->entity[i];
		m->row[i].window_nj = m->window_nj[i];
		m->rows[i] = &m->row[i];
	}
	m->view.n_rows = n ? n + (*m->kind->name == 'p' ? 1 : 2) : 0;
}

static void init(struct machine *m, const struct kind *kind, uint64_t seed, double factor)
{
	size_t n = kind->n_processes + 2;

	*m = (struct machine){ .kind = kind, .random = seed, .factor = factor };
	m->row = xcalloc(n, sizeof(*m->row));
	m->entity = xcalloc(n, sizeof(*m->entity));
	m->who = xcalloc(n, sizeof(*m->who));
	m->cgroup = xcalloc(n, sizeof(*m->cgroup));
	m->name = xcalloc(n, sizeof(*m->name));
	m->window_nj = xcalloc(n, sizeof(*m->window_nj));
	m->rows = xcalloc(n, sizeof(const struct watt_row *));
	m->view = (struct watt_view){ .domains = m->domains,
				      .states = m->states,
				      .rows = m->rows,
				      .n_domains = N_DOMAINS,
				      .quality = &m->quality };
	init_domains(m);
	init_rows(m);
	m->quality = (struct watt_quality){ .checks = 4 * kind->n_windows,
					    .sweeps = 20,
					    .coverage_ppm = 999731,
					    .missed_reads = 3 };
}

/* What a process takes in a window, in W: some always, some in bursts, most nearly nothing. */
static double demand_w(struct machine *m, size_t i, size_t w)
{
	double size = 6.0 / (1.0 + (double)i * (double)i * 0.08);

	if (i % 5 == 3 && (w / 40 + i) % 4)
		return 0;
	if (i > 20 && draw(m) < 0.7)
		return 0;
	return size * (0.6 + 0.4 * draw(m) + 0.4 * sin((double)w / (15 + (double)(i % 7) * 9)));
}

static void put_row(struct machine *m, size_t i, double power_w)
{
	size_t last = m->kind->n_processes, d;
	const double parts[] = { 1, 0.8, 0.15, 0 };

	for (d = 0; d < N_DOMAINS; d++) {
		int64_t energy_nj = (int64_t)(power_w * parts[d] * (double)WINDOW_NS);

		m->window_nj[i][d] = energy_nj;
		m->state[d].window_nj += energy_nj;
		if (m->cgroup[i].container && m->row[i].entity->kind == WATT_ENTITY_PROCESS)
			m->window_nj[last][d] += energy_nj;
		if (i % 4 == 0)
			m->window_nj[last + 1][d] += energy_nj;
	}
	m->row[i].window_cpu_ns = (uint64_t)(power_w * 7e7);
}

static void make_window(struct machine *m, size_t w)
{
	size_t d, i;

	memset(m->window_nj, 0, (m->kind->n_processes + 2) * sizeof(*m->window_nj));
	m->drift_w = 0.8 * m->drift_w + draw(m) - 0.5;
	for (d = 0; d < N_DOMAINS; d++) {
		uint64_t gap_ns = m->state[d].unknown_ns;

		m->state[d] = (struct watt_domain_state){ .window_ns = WINDOW_NS,
							  .is_usable = 1,
							  .baseline_ready = d != RAIL,
							  .t_ns = 1,
							  .samples = w * 20,
							  .gap_ns = gap_ns,
							  .unknown_ns = gap_ns };
		if (d == RAIL && m->kind->has_losses) {
			m->state[d].found_delay_ns = 2500000000;
			m->state[d].found_delay_uncertainty_ns = 120000000;
		}
		m->state[d].window_idle_nj = d == RAIL ? 0 : d == DRAM ? 1200000000 : 4500000000;
		m->state[d].window_unattributed_nj =
			(int64_t)((d == RAIL ? 2.2 + 0.3 * m->drift_w : 0.05) * 1e9);
		m->state[d].window_nj =
			m->state[d].window_idle_nj + m->state[d].window_unattributed_nj;
		if (strcmp(m->kind->name, "dark") == 0)
			m->state[d] = (struct watt_domain_state){ .window_ns = WINDOW_NS,
								  .status = WATT_STATUS_FORBIDDEN };
	}
	for (i = 0; i < m->kind->n_processes && m->state[0].status == WATT_STATUS_OK; i++)
		put_row(m, i, fmax(0, demand_w(m, i, w) * m->factor * (1 + 0.2 * m->drift_w)));
	/* The rail's sensor goes away for a while. */
	if (m->kind->has_losses && w >= 200 && w < 220)
		m->state[RAIL] = (struct watt_domain_state){ .window_ns = WINDOW_NS,
							     .status = WATT_STATUS_ABSENT };
	for (d = 0; d < N_DOMAINS; d++)
		m->state[d].energy = watt_energy_from_nj(m->state[d].window_nj);
}

static void put_gauge(struct machine *m, const char *name, enum watt_quantity quantity, double mean)
{
	struct watt_gauge *gauge = &m->gauge[m->view.n_gauges];

	*gauge = (struct watt_gauge){ .sz = sizeof(*gauge),
				      .name = name,
				      .quantity = quantity,
				      .status = isnan(mean) ? WATT_STATUS_NODATA : WATT_STATUS_OK,
				      .value = mean,
				      .mean = mean,
				      .known_ns = isnan(mean) ? 0 : WINDOW_NS };
	m->gauges[m->view.n_gauges++] = gauge;
}

/* One zone is off for a while, and the last core is offline. */
static void make_context(struct machine *m, size_t w)
{
	static char names[CPUS][32];
	size_t i, n_cpus = m->kind->n_windows == 120 ? 4 : CPUS;

	m->view.gauges = m->gauges;
	m->view.n_gauges = 0;
	if (!m->kind->has_context)
		return;
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		bool is_off = i == 3 && w >= 100 && w < 130;

		put_gauge(m,
			  m->kind->is_hostile ? hostile[i % ARRAY_SIZE(hostile)] : contexts[i].name,
			  contexts[i].quantity,
			  is_off ? NAN :
				   contexts[i].middle +
					   contexts[i].swing *
						   sin((double)w / (20 + 7 * (double)i)));
	}
	for (i = 0; i < n_cpus; i++) {
		snprintf(names[i], sizeof(names[i]), "context/cpu%zu/busy", i);
		put_gauge(m, names[i], WATT_QUANTITY_RATIO,
			  i + 1 == CPUS ? NAN :
					  0.5 + 0.5 * sin((double)w / (9 + (double)i)) * draw(m));
	}
}

static void add_marks(struct report_run *run, const struct kind *kind)
{
	static const char *const labels[] = { "load the data", "solve", "write", "" };
	size_t i, n = kind->is_hostile ? ARRAY_SIZE(hostile) : ARRAY_SIZE(labels);
	struct watt_mark *marks;

	if (!kind->has_marks)
		return;
	marks = xcalloc(n, sizeof(*marks));
	run->marks = marks;
	run->n_marks = n;
	for (i = 0; i < n; i++) {
		marks[i].t_ns = START_NS + (kind->n_windows * (i + 1) / (n + 1)) * WINDOW_NS;
		snprintf(marks[i].label, sizeof(marks[i].label), "%s",
			 kind->is_hostile ? hostile[i] : labels[i]);
	}
}

static size_t mark_at(const struct report_run *run, uint64_t t_ns)
{
	size_t i = 0;

	while (i < run->n_marks && run->marks[i].t_ns <= t_ns)
		i++;
	return i ? i - 1 : WATT_NO_MARK;
}

static void make_run(struct report_run *run, struct machine *m, const char *path)
{
	const struct kind *kind = m->kind;
	size_t w;

	*run = (struct report_run){ .path = path };
	check(watt_series_new(500, &run->series));
	run->series->info.window_ns = WINDOW_NS;
	add_marks(run, kind);
	if (kind->has_losses) {
		run->losses = xcalloc(1, sizeof(*run->losses));
		run->n_losses = 1;
		run->losses[0] =
			(struct report_loss){ START_NS + 20 * WINDOW_NS,
					      START_NS + 21500 * WINDOW_NS / 1000, 43, 120,
					      kind->is_hostile ? hostile[0] : "disk full" };
	}
	for (w = 0; w < kind->n_windows; w++) {
		bool is_stretched = strcmp(kind->name, "stretched") == 0;
		uint64_t still_ns = is_stretched ? 4 * WINDOW_NS : 0;
		uint64_t t_ns = START_NS + w * WINDOW_NS + (w > 60 ? still_ns : 0);
		uint64_t end_ns = t_ns + WINDOW_NS + (w == 60 ? still_ns : 0);

		/* Nobody knows what was in the time that was lost. */
		make_window(m, w);
		make_context(m, w);
		check(watt_series_add(run->series, &m->view, t_ns, end_ns, mark_at(run, t_ns)));
	}
	check(watt_series_finish(run->series));
	check(report_run_finish(run));
}

static struct watt_recording_info make_info(const struct kind *kind)
{
	return (struct watt_recording_info){
		.writer = "wattribute 0.1.0",
		.host = kind->is_hostile ? hostile[2] : "node-7",
		.os = "Debian GNU/Linux 12 (bookworm)",
		.kernel = "6.1.0-28-amd64",
		.arch = "x86_64",
		.cpu = "AMD EPYC 9654 96-Core Processor",
		.command = kind->is_hostile       ? hostile[0] :
			   kind->n_windows == 120 ? "" :
						    "make -j96 world",
		.usage = "bpf",
		.usage_why = "",
		.memory_bytes = 24ULL << 30,
		.start_ns = START_NS,
		.end_ns = START_NS + kind->n_windows * WINDOW_NS,
		.start_realtime_ns = 1760000000000000000ULL,
		.slice_ns = 50000000,
		.samples = 240000,
		.usage_records = 1200000,
		.bytes = 9100000,
		.lost_ns = kind->has_losses ? 1500000000 : 0,
		.lost_samples = kind->has_losses ? 43 : 0,
		.format = 1,
		.n_cpus = 8,
		.n_packages = 1,
		.part = 1,
		.is_complete = !kind->has_losses,
		.is_snapshot_aligned = 1,
	};
}

/* What a sink is told of a recording; the losses are its to free. */
struct told {
	struct watt_sink_about about;
	struct watt_sink_series series;
};

static void tell(const struct report_run *run, struct told *ret)
{
	const struct watt_mark **marks = xcalloc(run->n_marks, sizeof(*marks));
	const struct watt_recording_loss **losses = xcalloc(run->n_losses, sizeof(*losses));
	struct watt_recording_loss *list = xcalloc(run->n_losses, sizeof(*list));
	size_t i;

	for (i = 0; i < run->n_marks; i++)
		marks[i] = &run->marks[i];
	for (i = 0; i < run->n_losses; i++) {
		list[i] =
			(struct watt_recording_loss){ .t0_ns = run->losses[i].t0_ns,
						      .t1_ns = run->losses[i].t1_ns,
						      .samples = run->losses[i].samples,
						      .usage_records = run->losses[i].usage_records,
						      .why = run->losses[i].why };
		losses[i] = &list[i];
	}
	ret->about = (struct watt_sink_about){ .file = run->path,
					       .info = run->info,
					       .marks = marks,
					       .n_marks = run->n_marks,
					       .losses = losses,
					       .n_losses = run->n_losses };
	ret->series = (struct watt_sink_series){ .about = &ret->about,
						 .series = run->series,
						 .phases = run->phases };
}

static int write_sink(const struct watt_sink_ops *ops, const struct report *report)
{
	struct watt_sink sink = { .ops = ops, .out = stdout, .data = xcalloc(1, ops->data_size) };
	struct told now, before;

	tell(report->run, &now);
	if (report->other)
		tell(report->other, &before);
	return ops->series(&sink, &now.series, report->other ? &before.series : NULL);
}

static int print(const struct report *report, const char *format)
{
	if (strcmp(format, "html") == 0)
		return write_sink(&watt_sink_html, report);
	if (strcmp(format, "json") == 0)
		return write_sink(&watt_sink_report, report);
	if (strcmp(format, "svg") == 0)
		return write_sink(&watt_sink_svg, report);
	if (strcmp(format, "png") == 0)
		return write_sink(&watt_sink_png, report);
	report_text_print(report, stdout, 100);
	if (report->other)
		report_text_compare(report, stdout, 100);
	return 0;
}

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;
	struct watt_recording_info info;
	struct report_run run, other;
	struct machine m, before;
	struct report report = { .run = &run, .n_shown = 25 };
	size_t i;
	int r;

	for (i = 0; argc == 3 && i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			kind = &kinds[i];
	if (!kind) {
		fputs("usage: made_report KIND html|json|text|svg|png\n", stderr);
		return 2;
	}
	text_init();
	info = make_info(kind);
	init(&m, kind, 1, strcmp(kind->name, "kilo") == 0 ? 200 : 1);
	make_run(&run, &m, kind->is_hostile ? hostile[1] : "run.watt");
	run.info = &info;
	if (kind->is_compared) {
		bool is_alike = strcmp(kind->name, "alike") == 0;

		init(&before, kind, is_alike ? 1 : 2, is_alike ? 1.0001 : 1.25);
		make_run(&other, &before, "before.watt");
		other.info = &info;
		report.other = &other;
		check(watt_comparison_build(run.series, run.phases, other.series, other.phases,
					    &report.comparison));
	}
	check(watt_ranking_build(run.series, run.phases, WATT_RANKING_PROCESS, &report.ranking));
	r = print(&report, argv[2]);
	if (r < 0)
		fprintf(stderr, "made_report: %s\n", strerror(-r));
	return r < 0 ? 1 : 0;
}
