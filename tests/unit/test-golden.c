/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings of every format that was ever released: they say for ever what they said then.
 * tests/golden/<name>.watt is the recording, <name>.txt what it says.
 *
 * usage: test-golden [NAME...]: prints what they say
 */
#include "unit.h"

#include <inttypes.h>

#include "record/record.h"

static void print_info(FILE *out, const struct watt_recording *rec)
{
	const struct watt_recording_info *info = watt_recording_get_info(rec);

	fprintf(out, "writer %s\nhost %s\nos %s\nkernel %s\narch %s\ncpu %s\n", info->writer,
		info->host, info->os, info->kernel, info->arch, info->cpu);
	fprintf(out, "command %s\nusage %s\nmemory_bytes %" PRIu64 "\n", info->command, info->usage,
		info->memory_bytes);
	fprintf(out, "start_ns %" PRIu64 " end_ns %" PRIu64 " start_realtime_ns %" PRIu64 "\n",
		info->start_ns, info->end_ns, info->start_realtime_ns);
	fprintf(out,
		"slice_ns %" PRIu64 " samples %" PRIu64 " usage_records %" PRIu64 " chunks %" PRIu64
		" bytes %" PRIu64 "\n",
		info->slice_ns, info->samples, info->usage_records, info->chunks, info->bytes);
	fprintf(out,
		"missed_reads %" PRIu64 " lost_samples %" PRIu64 " lost_usage %" PRIu64
		" lost_ns %" PRIu64 "\n",
		info->missed_reads, info->lost_samples, info->lost_usage, info->lost_ns);
	fprintf(out, "format %u cpus %u packages %u part %u complete %u aligned %u\n", info->format,
		info->n_cpus, info->n_packages, info->part, info->is_complete,
		info->is_snapshot_aligned);
}

static void print_setup(FILE *out, struct watt_recording *rec)
{
	const struct watt_setup *setup = watt_recording_get_setup(rec);
	size_t i;

	for (i = 0; i < setup->n_channels; i++) {
		const struct watt_channel *c = setup->channels[i];

		fprintf(out, "channel %s|%s|%s|%s|%s|%d %d %d %d %u|%d %d %d|%u", c->name,
			c->source, c->domain, c->label ? c->label : "-", c->path ? c->path : "-",
			c->kind, c->quantity, c->semantics, c->origin, c->flags, c->package_id,
			c->die_id, c->core_id, c->group);
		fprintf(out,
			"|%" PRIu64 "/%" PRIu64 "|%" PRIu64 " %" PRIu64 " %" PRIu64 "|%" PRIu64
			" %" PRIu64 " %" PRIu64 "|%u %u\n",
			c->scale_num, c->scale_den, c->wrap_nj, c->idle_uw, c->max_power_uw,
			c->period_ns, c->window_ns, c->delay_ns, c->coverage_ppm,
			c->uncertainty_ppm);
	}
	for (i = 0; i < setup->n_slots; i++)
		fprintf(out, "slot %d %d %d\n", setup->places[i].package_id,
			setup->places[i].die_id, setup->places[i].core_id);
	for (i = 0; i < setup->n_cpus; i++)
		fprintf(out, "cpu %u\n", setup->cpu_slot[i]);
	for (i = 0; i < watt_recording_get_mark_count(rec); i++) {
		const struct watt_mark *mark = watt_recording_get_mark(rec, i);

		fprintf(out, "mark %" PRIu64 " %u %s\n", mark->t_ns, mark->pid, mark->label);
	}
}

static void print_usage(FILE *out, const struct watt_usage_batch *batch)
{
	size_t i;

	fprintf(out, "usage %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %" PRIu64 "\n",
		batch->t_before_ns, batch->t_after_ns, batch->lost, batch->flags, batch->n_tasks,
		batch->unseen_ns);
	for (i = 0; i < batch->n_records; i++) {
		const struct watt_usage *u = &batch->records[i];

		fprintf(out,
			" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" %u %u %u %u %u %u %u %s\n",
			u->t_ns, u->cpu_ns, u->start_ns, u->leader_start_ns, u->cgroup_id, u->tid,
			u->tgid, u->parent_tgid, u->uid, u->cpu, u->kind, u->flags, u->comm);
	}
	for (i = 0; i < batch->n_cpus; i++) {
		const struct watt_cpu_time *c = &batch->cpus[i];

		fprintf(out,
			" cpu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" %u\n",
			c->user_ns, c->system_ns, c->idle_ns, c->irq_ns, c->softirq_ns, c->steal_ns,
			c->online);
	}
}

static void print_name(FILE *out, const struct watt_op *op)
{
	const struct watt_identity *id = op->identity;
	const struct watt_cgroup *c = op->cgroup;

	if (op->kind == WATT_OP_IDENTITY)
		fprintf(out, "identity %u %u %" PRIu64 " %u %u|%s|%s|%s|%s|%s\n", id->pid,
			id->parent_pid, id->start_ns, id->uid, id->missing, id->comm,
			id->exe ? id->exe : "-", id->cmdline ? id->cmdline : "-",
			id->vm_name ? id->vm_name : "-", id->hypervisor ? id->hypervisor : "-");
	else if (op->kind == WATT_OP_CGROUP)
		fprintf(out, "cgroup %" PRIu64 " %u|%s|%s|%s|%s|%s|%s\n", c->id, c->v1,
			c->path ? c->path : "-", c->runtime ? c->runtime : "-",
			c->container ? c->container : "-", c->pod_uid ? c->pod_uid : "-",
			c->unit ? c->unit : "-", c->user_unit ? c->user_unit : "-");
	else
		fprintf(out, "user %u %s\n", op->user.uid, op->user.name);
}

static void print_activity(FILE *out, const struct watt_activity_batch *batch)
{
	size_t i;

	fprintf(out, "activity\n");
	for (i = 0; i < batch->n_places; i++)
		fprintf(out, " %s %u %u %" PRIu64 "\n", batch->places[i].path,
			batch->places[i].kind, batch->places[i].n_units,
			batch->places[i].complete_ns);
	for (i = 0; i < batch->n_readings; i++)
		fprintf(out, " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			batch->readings[i].place, batch->readings[i].pid,
			batch->readings[i].start_ns, batch->readings[i].t_ns,
			batch->readings[i].amount);
}

static void print_op(FILE *out, const struct watt_op *op)
{
	size_t i;

	switch (op->kind) {
	case WATT_OP_SAMPLES:
		fprintf(out, "samples\n");
		for (i = 0; i < op->samples.n; i++)
			fprintf(out, " %u %" PRIu64 " %" PRIu64 " %" PRId64 " %u\n",
				op->samples.list[i].channel, op->samples.list[i].t_before_ns,
				op->samples.list[i].t_after_ns, op->samples.list[i].raw,
				op->samples.list[i].status);
		break;
	case WATT_OP_USAGE:
		print_usage(out, &op->usage);
		break;
	case WATT_OP_ACTIVITY:
		print_activity(out, &op->activity);
		break;
	case WATT_OP_IDENTITY:
	case WATT_OP_CGROUP:
	case WATT_OP_USER:
		print_name(out, op);
		break;
	case WATT_OP_CHANNELS:
		fprintf(out, "channels %zu\n", op->channels.n);
		break;
	case WATT_OP_THREADS:
		fprintf(out, "threads\n");
		break;
	case WATT_OP_PLACE:
		fprintf(out, "place %u %u %d %d %d\n", op->place.cpu, op->place.slot,
			op->place.at.package_id, op->place.at.die_id, op->place.at.core_id);
		break;
	case WATT_OP_CLOCK:
		fprintf(out, "clock %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			op->clock.from_ns, op->clock.to_ns, op->clock.slept_ns,
			op->clock.realtime_ns);
		break;
	case WATT_OP_LEARNED:
		fprintf(out, "learned %s %zu %zu\n", op->learned.domain, op->learned.n_words,
			op->learned.n_texts);
		break;
	case WATT_OP_CONTAINER:
		fprintf(out, "container %s %s\n", op->container->id ? op->container->id : "-",
			op->container->name ? op->container->name : "-");
		break;
	case WATT_OP_TRACK:
		fprintf(out, "track %u\n", op->track_pid);
		break;
	case WATT_OP_UNTRACK:
		fprintf(out, "untrack %u %" PRIu64 "\n", op->untrack.pid, op->untrack.start_ns);
		break;
	case WATT_OP_MARK:
		fprintf(out, "mark %" PRIu64 " %u %s\n", op->mark.t_ns, op->mark.pid,
			op->mark.label);
		break;
	case WATT_OP_ADVANCE:
		fprintf(out, "advance %" PRIu64 "\n", op->advance_ns);
		break;
	case WATT_OP_BARRIER:
		fprintf(out, "hold %" PRIu64 "\n", op->barrier_ns);
		break;
	case WATT_OP_CURSOR:
		fprintf(out, "cursor %" PRIu64 " %u %d\n", op->cursor.t_ns, op->cursor.id,
			op->cursor.is_open);
		break;
	case WATT_OP_LOOK:
	case WATT_OP_SNAPSHOT:
		fprintf(out, "snapshot %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			op->snapshot.t_ns, op->snapshot.realtime_ns, op->snapshot.missed_reads,
			op->snapshot.lost_samples);
		break;
	}
}

/* What it measured, whatever is made of it later: the energy of each domain up to the end. */
static void print_energy(FILE *out, const char *path)
{
	struct watt_snapshot *snap, *last = NULL;
	struct watt_session *ses;
	size_t i;

	assert_int_equal(watt_session_open_recording(path, NULL, &ses), 0);
	assert_int_equal(watt_session_start(ses), 0);
	while (watt_session_next_snapshot(ses, &snap) == 0) {
		watt_snapshot_unref(last);
		last = snap;
	}
	assert_non_null(last);
	for (i = 0; i < watt_snapshot_get_domain_count(last); i++)
		fprintf(out, "energy_nj %s %" PRId64 "\n", watt_snapshot_get_domain(last, i)->path,
			watt_energy_to_nj(watt_snapshot_get_domain_state(last, i)->energy));
	watt_snapshot_unref(last);
	watt_session_close(ses);
}

static void log_to_stderr(void *data, enum watt_log_level level, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

static void print_recording(FILE *out, const char *path)
{
	struct watt_recording *rec;
	struct watt_op op;
	int r;

	assert_int_equal(watt_recording_open(path, log_to_stderr, NULL, &rec), 0);
	print_info(out, rec);
	print_setup(out, rec);
	while ((r = watt_recording_next_op(rec, &op)) == 0)
		print_op(out, &op);
	assert_int_equal(r, 1);
	watt_recording_close(rec);
	print_energy(out, path);
}

static char *golden(const char *name, const char *tail)
{
	char *path;

	assert_non_null(getenv("WATT_GOLDEN"));
	assert_true(asprintf(&path, "%s/%s.%s", getenv("WATT_GOLDEN"), name, tail) > 0);
	return path;
}

static void assert_says(const char *name)
{
	char *watt = golden(name, "watt"), *txt = golden(name, "txt"), *got = NULL;
	char expected[4096], *at;
	size_t size, line = 0;
	FILE *out = open_memstream(&got, &size), *file = fopen(txt, "re");

	assert_non_null(out);
	assert_non_null(file);
	print_recording(out, watt);
	fclose(out);
	for (at = got; fgets(expected, sizeof(expected), file); at += strlen(expected)) {
		line++;
		if (strncmp(at, expected, strlen(expected)))
			fail_msg("%s:%zu: the recording says otherwise: %.*s", txt, line,
				 (int)strcspn(at, "\n"), at);
	}
	assert_int_equal(*at, '\0');
	assert_true(line > 100);
	fclose(file);
	free(got);
	free(watt);
	free(txt);
}

static void test_format_1(void **state)
{
	assert_says("recording-1");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format_1),
	};
	int i;

	for (i = 1; i < argc; i++)
		print_recording(stdout, argv[i]);
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
