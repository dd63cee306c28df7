/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `top` on a full screen, by ncurses. It draws frames and takes keys; what the rows are is the
 * model's business. The conservation line is in every picture, however small the screen.
 */
#include "top_screen.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <wattribute/balance.h>
#include <wattribute/units.h>

#include "message.h"
#include "text.h"
#include "top_columns.h"
#include "top_gpus.h"
#include "top_header.h"
#include "xalloc.h"

/* Above the titles; more where there are a node, context or GPUs. */
#define HEADER_LINES 4
/* Of so many lines of a screen one is for a GPU, and so many are left for the table. */
#define LINES_PER_GPU 8
#define TABLE_LEAST 8
#define LINE_MAX_BYTES 2048

enum colour {
	COLOUR_NONE,
	COLOUR_POWER,
	COLOUR_WARN,
	COLOUR_QUIET,
};

/* What is shown of GPUs: a line for each above the table, all about them instead of it, nothing. */
enum gpu_mode {
	GPUS_BRIEF,
	GPUS_PANEL,
	GPUS_OFF,
	N_GPU_MODES,
};

struct top_screen {
	struct top_gpus gpus; /* of the newest picture */
	enum gpu_mode gpu_mode;
	size_t scroll;
	size_t n_rows;  /* of the newest picture */
	size_t n_lines; /* that it had room for */
	bool is_help;
	bool is_typing; /* a filter */
	char typed[64];
};

int top_screen_open(struct top_screen **ret)
{
	const char *no_color = getenv("NO_COLOR");
	SCREEN *term;

	term = newterm(NULL, stdout, stdin);
	if (!term)
		return -ENOTTY;
	set_term(term);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	if (has_colors() && !(no_color && *no_color)) {
		start_color();
		use_default_colors();
		init_pair(COLOUR_POWER, COLOR_CYAN, -1);
		init_pair(COLOUR_WARN, COLOR_YELLOW, -1);
		init_pair(COLOUR_QUIET, COLOR_BLUE, -1);
	}
	message_defer();
	*ret = xcalloc(1, sizeof(**ret));
	return 0;
}

/*
 * A terminal that was stopped by Ctrl-S would not take what gives it back. The kernel starts it
 * when it is not to be stopped any more; endwin() sets that as it was.
 */
static void let_go_on(void)
{
	struct termios mode;

	if (tcgetattr(STDOUT_FILENO, &mode) < 0 || !(mode.c_iflag & IXON))
		return;
	mode.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(STDOUT_FILENO, TCSANOW, &mode);
}

struct top_screen *top_screen_close(struct top_screen *screen)
{
	if (!screen)
		return NULL;
	let_go_on();
	endwin();
	message_release();
	free(screen);
	return NULL;
}

void top_screen_resize(struct top_screen *screen)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	clear();
}

/* Puts text on a line, cut at the edge of the screen. Returns the column behind it. */
static int put(int y, int x, attr_t attributes, const char *text)
{
	char cut[LINE_MAX_BYTES];

	if (y < 0 || y >= LINES || x >= COLS)
		return x;
	text_fit(cut, sizeof(cut), text, (size_t)(COLS - x));
	attrset(attributes);
	mvaddstr(y, x, cut);
	attrset(A_NORMAL);
	return x + (int)text_width(cut);
}

static attr_t colour(enum colour pair)
{
	return has_colors() ? COLOR_PAIR(pair) : A_NORMAL;
}

/* The first line: name, power, how sure, history, clock. */
static void draw_power(const struct top_frame *frame, const struct watt_balance *balance)
{
	char line[384], spark[SPARKLINE_SIZE(SPARKLINE_POINTS)], number[WATT_UNITS_SIZE];
	bool is_sure = balance->has_power && balance->origin == WATT_ORIGIN_MEASURED;
	double min, max;
	int x;

	top_header_power(balance, line, sizeof(line));
	x = put(0, 0, A_BOLD | colour(is_sure ? COLOUR_POWER : COLOUR_WARN), line);
	x = put(0, x, A_BOLD, top_header_phase(frame->phase, line, sizeof(line)));
	x = put(0, x, A_NORMAL, frame->is_paused ? "  PAUSED  " : "  ");
	if (COLS - x < 24)
		return;
	sparkline_range(frame->history, (size_t)(COLS - x - 18), &min, &max);
	sparkline_draw(frame->history, (size_t)(COLS - x - 18), spark, sizeof(spark));
	x = put(0, x, colour(COLOUR_POWER), spark);
	if (isfinite(max)) {
		snprintf(line, sizeof(line), " max %s",
			 watt_units_power(number, max,
					  watt_units_digits(balance->uncertainty_ppm)));
		put(0, x, A_NORMAL, line);
	}
}

/* Returns the line below it. */
static int draw_header(const struct top_screen *screen, const struct top_frame *frame,
		       const struct watt_balance *balance)
{
	const struct watt_quality *quality = frame->view->quality;
	bool has_losses = quality->lost_records || quality->lost_samples ||
			  quality->check_failures || quality->sum_failures;
	char line[1024], since[1100], number[WATT_UNITS_SIZE];
	int y = HEADER_LINES;

	draw_power(frame, balance);
	top_header_watts(balance, line, sizeof(line));
	put(1, 0, A_BOLD | (balance->is_exact ? 0 : A_REVERSE), line);
	top_header_joules(balance, line, sizeof(line));
	snprintf(since, sizeof(since), "%s in %s", line,
		 watt_units_elapsed(number,
				    (double)(frame->view->t_ns - frame->view->start_ns) / 1e9));
	put(2, 0, A_NORMAL, since);
	top_header_trust(balance, quality, frame->usage, frame->late, line, sizeof(line));
	put(3, 0, has_losses ? A_BOLD : A_DIM, line);
	if (*top_header_node(frame->view, line, sizeof(line)))
		put(y++, 0, A_NORMAL, line);
	if (*top_header_context(frame->view, &screen->gpus, line, sizeof(line)))
		put(y++, 0, A_NORMAL, line);
	return y;
}

static attr_t row_style(const struct top_row *row)
{
	switch (row->kind) {
	case WATT_ENTITY_IDLE:
	case WATT_ENTITY_UNATTRIBUTED:
		return colour(COLOUR_WARN);
	case WATT_ENTITY_KTHREAD:
	case WATT_ENTITY_IRQ:
	case WATT_ENTITY_SOFTIRQ:
	case WATT_ENTITY_KERNEL:
		return colour(COLOUR_QUIET);
	case WATT_ENTITY_EXITED:
		return A_DIM;
	case WATT_ENTITY_PROCESS:
	case WATT_ENTITY_VM:
	case WATT_ENTITY_CGROUP:
	case WATT_ENTITY_CONTAINER:
	case WATT_ENTITY_UNIT:
	case WATT_ENTITY_USER:
	case WATT_ENTITY_TRACKED:
	case WATT_ENTITY_POD:
	case WATT_ENTITY_THREAD:
	case WATT_ENTITY_JOB:
		break;
	}
	return row->is_dead ? A_DIM : A_NORMAL;
}

/* ---- GPUs ---- */

static void draw_gpu_titles(const struct top_gpus *gpus, int y)
{
	char line[TOP_GPUS_LINE];

	if (y >= LINES)
		return;
	attrset(A_REVERSE);
	mvhline(y, 0, ' ' | A_REVERSE, COLS);
	put(y, 0, A_REVERSE, top_gpus_titles(gpus, (size_t)COLS, line));
}

static void draw_gpu(const struct top_gpus *gpus, size_t i, const struct watt_view *view, int y)
{
	bool is_held = gpus->gpu[i].is_held_by_power || gpus->gpu[i].is_held_by_heat;
	char line[TOP_GPUS_LINE];

	put(y, 0, A_BOLD | (is_held ? colour(COLOUR_WARN) : 0),
	    top_gpus_line(gpus, i, view, (size_t)COLS, line));
}

/* A line for each, as far as the table keeps its room. Returns the line below them. */
static int draw_gpus_brief(const struct top_gpus *gpus, const struct watt_view *view, int y)
{
	size_t room = (size_t)LINES / LINES_PER_GPU, i;
	char more[64];

	if (!gpus->n || LINES < y + (int)room + 1 + TABLE_LEAST)
		return y;
	draw_gpu_titles(gpus, y++);
	if (gpus->n <= room)
		room = gpus->n;
	else
		room--; /* of it, one says how many more there are */
	for (i = 0; i < room; i++)
		draw_gpu(gpus, i, view, y++);
	if (room == gpus->n)
		return y;
	snprintf(more, sizeof(more), "%zu more: u shows all", gpus->n - room);
	put(y++, 2, A_DIM, more);
	return y;
}

/* Where lines of the panel go: the first ones may be scrolled away, the last ones below the end. */
struct panel {
	size_t n; /* lines so far, those that are not seen too */
	size_t first, n_seen;
	int y;
};

static int place_line(struct panel *panel)
{
	size_t i = panel->n++;

	if (i < panel->first || i >= panel->first + panel->n_seen)
		return LINES; /* where nothing is put */
	return panel->y + (int)(i - panel->first);
}

static void draw_users(struct panel *panel, const struct top_gpu *gpu,
		       const struct top_model *model)
{
	size_t *users = xcalloc(model->n_rows + 1, sizeof(*users));
	size_t n = top_gpus_users(gpu, model, users), i;
	char line[TOP_GPUS_LINE];

	for (i = 0; i < n; i++) {
		const struct top_row *row = &model->rows[users[i]];

		put(place_line(panel), 0, row_style(row),
		    top_gpus_bar(gpu, row, (size_t)COLS, line));
	}
	free(users);
}

/* Each GPU, and below it a bar for everybody who took something of its power. */
static void draw_panel(struct top_screen *screen, const struct top_frame *frame, int y)
{
	struct panel panel = { .y = y + 1, .first = screen->scroll };
	char line[TOP_GPUS_LINE];
	size_t i;

	panel.n_seen = screen->n_lines = LINES > y + 2 ? (size_t)(LINES - y - 2) : 0;
	draw_gpu_titles(&screen->gpus, y);
	for (i = 0; i < screen->gpus.n; i++) {
		const char *untold = top_gpus_untold(&screen->gpus.gpu[i], frame->view);

		draw_gpu(&screen->gpus, i, frame->view, place_line(&panel));
		if (untold) {
			snprintf(line, sizeof(line), "  who uses it %s", untold);
			put(place_line(&panel), 0, A_DIM, line);
		}
		draw_users(&panel, &screen->gpus.gpu[i], frame->model);
	}
	screen->n_rows = panel.n;
}

/* ---- the table ---- */

/* One cell in its place; returns the column behind it. */
static int put_cell(int y, int x, attr_t attributes, const struct top_column *column,
		    const char *text)
{
	size_t width = column->width ? column->width : COLS > x ? (size_t)(COLS - x) : 0;
	char cut[TOP_CELL_SIZE];

	text_fit(cut, sizeof(cut), text, width);
	put(y, x + (column->is_right ? (int)(width - text_width(cut)) : 0), attributes, cut);
	return x + (int)width + 1;
}

static bool is_sorted_by(const struct top_model *model, enum top_column_kind kind)
{
	static const enum top_sort sorts[] = {
		[TOP_COLUMN_PID] = TOP_SORT_PID,        [TOP_COLUMN_COUNT] = TOP_N_SORTS,
		[TOP_COLUMN_USER] = TOP_N_SORTS,        [TOP_COLUMN_CPU] = TOP_SORT_CPU,
		[TOP_COLUMN_GPU] = TOP_SORT_GPU,        [TOP_COLUMN_POWER] = TOP_SORT_POWER,
		[TOP_COLUMN_ENERGY] = TOP_SORT_ENERGY,  [TOP_COLUMN_TREE] = TOP_N_SORTS,
		[TOP_COLUMN_DOMAIN] = TOP_N_SORTS,      [TOP_COLUMN_NAME] = TOP_SORT_NAME,
		[TOP_COLUMN_UNCERTAINTY] = TOP_N_SORTS,
	};

	return sorts[kind] == model->sort;
}

static void draw_titles(const struct top_model *model, const struct top_columns *columns, int y)
{
	int x = 0;
	size_t i;

	if (y >= LINES)
		return;
	attrset(A_REVERSE);
	mvhline(y, 0, ' ' | A_REVERSE, COLS);
	for (i = 0; i < columns->n; i++)
		x = put_cell(y, x,
			     A_REVERSE | (is_sorted_by(model, columns->column[i].kind) ?
						  A_BOLD | A_UNDERLINE :
						  0),
			     &columns->column[i], columns->column[i].title);
}

static void draw_row(const struct top_columns *columns, const struct top_row *row, int y)
{
	char cell[TOP_CELL_SIZE];
	int x = 0;
	size_t i;

	for (i = 0; i < columns->n && x < COLS; i++)
		x = put_cell(y, x, row_style(row), &columns->column[i],
			     top_columns_cell(columns, i, row, cell));
}

static void draw_rows(struct top_screen *screen, const struct top_frame *frame, int header)
{
	struct top_columns columns = { .is_joules = frame->is_joules, .is_live = frame->is_live };
	const struct top_model *model = frame->model;
	size_t i;

	top_columns_choose(&columns, model, frame->view, frame->has_domains, (size_t)COLS);
	draw_titles(model, &columns, header);
	screen->n_rows = model->n_rows;
	screen->n_lines = LINES > header + 2 ? (size_t)(LINES - header - 2) : 0;
	if (screen->scroll + screen->n_lines > model->n_rows)
		screen->scroll = model->n_rows > screen->n_lines ? model->n_rows - screen->n_lines :
								   0;
	for (i = 0; i < screen->n_lines && screen->scroll + i < model->n_rows; i++)
		draw_row(&columns, &model->rows[screen->scroll + i], header + 1 + (int)i);
}

/* Key and what it does, one after the other. */
static void draw_keys(const struct top_model *model, bool has_gpus, int y)
{
	static const char *const keys[][2] = {
		{ "q", "quit" },   { "h", "help" },    { "u", "GPUs" },    { "g", "group" },
		{ "t", "tree" },   { "P", "power" },   { "E", "energy" },  { "C", "cpu" },
		{ "/", "filter" }, { "H", "threads" }, { "d", "domains" }, { "w", "W/J" },
	};
	int x = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys) && x < COLS; i++) {
		if (*keys[i][0] == 'u' && !has_gpus)
			continue;
		x = put(y, x, A_BOLD, keys[i][0]);
		x = put(y, x + 1, A_DIM, keys[i][1]) + 2;
	}
	if (COLS - x > 12) {
		char line[64];

		snprintf(line, sizeof(line), "by %s", top_group_name(model->group));
		put(y, COLS - (int)strlen(line), A_NORMAL, line);
	}
}

static void draw_footer(const struct top_screen *screen, const struct top_model *model)
{
	char line[256], deferred[192];

	message_get_deferred(deferred, sizeof(deferred));
	if (screen->is_typing) {
		snprintf(line, sizeof(line), "Filter: %s_   (Enter keeps it, Esc clears it)",
			 screen->typed);
		put(LINES - 1, 0, A_BOLD, line);
	} else if (*model->filter) {
		snprintf(line, sizeof(line), "'%s': %zu rows, %.3g W, %.4g J; %zu not shown",
			 model->filter, model->n_rows, model->shown_w,
			 watt_energy_to_j(model->shown), model->n_hidden);
		put(LINES - 1, 0, A_BOLD, line);
	} else if (*deferred) {
		put(LINES - 1, 0, A_BOLD, deferred);
	} else {
		draw_keys(model, screen->gpus.n > 0, LINES - 1);
	}
}

static void draw_help(bool has_gpus, int y)
{
	static const char *const lines[] = {
		"q, Ctrl-C    quit",
		"P E C I N U  sort by power, energy, CPU, pid, name, GPUs' power",
		"r            reverse the order",
		"g, G         by process, tree, container, unit, user, cgroup, job; and back",
		"u            GPUs: a line for each, who is on them, nothing of them",
		"t            the tree of processes, and back",
		"H            threads below their processes; the first time, all begins anew",
		"d            a column per domain, on or off",
		"w            domains and tree in joules or in watts",
		"/            filter by a part of the name; Esc shows all again",
		"arrows, PgUp, PgDn, Home, End    scroll",
		"space        pause; Enter refreshes at once",
		"",
		"W is power in the last window, J is energy since the start. Both are shared",
		"by the key in line 4, and add up to line 2 and 3: nothing is left out.",
		"idle: what the machine takes when nothing runs. unattributed: no honest",
		"owner was found. (n ended): processes that are gone, by name.",
		"",
		"Any key goes back.",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (*lines[i] != 'u' || has_gpus)
			put(++y, 2, A_NORMAL, lines[i]);
}

/* Where somebody has stopped the terminal by Ctrl-S, writing would wait until he lets it go on. */
static bool can_write(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1;
}

void top_screen_draw(struct top_screen *screen, const struct top_frame *frame)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	int y;

	if (!can_write())
		return;
	watt_balance_draw(frame->view, &balance);
	top_gpus_find(&screen->gpus, frame->view);
	erase();
	y = draw_header(screen, frame, &balance);
	if (screen->is_help) {
		draw_help(screen->gpus.n > 0, HEADER_LINES - (screen->gpus.n > 0));
	} else if (screen->gpus.n && screen->gpu_mode == GPUS_PANEL) {
		draw_panel(screen, frame, y);
	} else {
		if (screen->gpu_mode == GPUS_BRIEF)
			y = draw_gpus_brief(&screen->gpus, frame->view, y);
		draw_rows(screen, frame, y);
	}
	draw_footer(screen, frame->model);
	refresh();
}

static enum top_action type_filter(struct top_screen *screen, struct top_model *model, int key)
{
	size_t n = strlen(screen->typed);

	if (key == 27 || key == '\r' || key == '\n' || key == KEY_ENTER) {
		screen->is_typing = false;
		if (key == 27)
			model->filter[0] = '\0';
		return TOP_REBUILD;
	}
	if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n > 0) {
		/* The whole character, not its last byte. */
		do
			screen->typed[--n] = '\0';
		while (n > 0 && ((unsigned char)screen->typed[n - 1] & 0xc0) == 0xc0);
	} else if (key >= 32 && key < 256 && key != 127 && n + 1 < sizeof(screen->typed)) {
		screen->typed[n] = (char)key;
		screen->typed[n + 1] = '\0';
	}
	text_clean(model->filter, sizeof(model->filter), screen->typed);
	return TOP_REBUILD;
}

static enum top_action sort_by(struct top_model *model, enum top_sort sort)
{
	model->is_reversed = false;
	model->sort = sort;
	return TOP_REBUILD;
}

static enum top_action group_by(struct top_screen *screen, struct top_model *model, int group)
{
	model->group = (enum top_group)((group + TOP_N_GROUPS) % TOP_N_GROUPS);
	screen->scroll = 0;
	return TOP_REBUILD;
}

static enum top_action scroll_by(struct top_screen *screen, long lines)
{
	long most = screen->n_rows > screen->n_lines ? (long)(screen->n_rows - screen->n_lines) : 0;
	long to = (long)screen->scroll + lines;

	screen->scroll = (size_t)(to < 0 ? 0 : to > most ? most : to);
	return TOP_REDRAW;
}

static enum top_action take_command(struct top_screen *screen, struct top_model *model, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return TOP_QUIT;
	case 'P':
	case 'p':
		return sort_by(model, TOP_SORT_POWER);
	case 'E':
	case 'e':
		return sort_by(model, TOP_SORT_ENERGY);
	case 'C':
	case 'c':
		return sort_by(model, TOP_SORT_CPU);
	case 'I':
	case 'i':
		return sort_by(model, TOP_SORT_PID);
	case 'N':
	case 'n':
		return sort_by(model, TOP_SORT_NAME);
	case 'U':
		return screen->gpus.n ? sort_by(model, TOP_SORT_GPU) : TOP_REDRAW;
	case 'u':
		screen->gpu_mode = (enum gpu_mode)((screen->gpu_mode + 1) % N_GPU_MODES);
		screen->scroll = 0;
		return TOP_REDRAW;
	case 'r':
		model->is_reversed = !model->is_reversed;
		return TOP_REBUILD;
	case 'g':
		return group_by(screen, model, (int)model->group + 1);
	case 'G':
		return group_by(screen, model, (int)model->group - 1);
	case 't':
		return group_by(screen, model,
				model->group == TOP_BY_TREE ? TOP_BY_PROCESS : TOP_BY_TREE);
	case 'H':
		return TOP_THREADS;
	case 'd':
		return TOP_DOMAINS;
	case 'w':
		return TOP_JOULES;
	case ' ':
		return TOP_PAUSE;
	case '\r':
	case '\n':
	case KEY_ENTER:
		return TOP_REFRESH;
	default:
		return TOP_REDRAW;
	}
}

static enum top_action take_scroll(struct top_screen *screen, struct top_model *model, int key)
{
	long page = screen->n_lines > 1 ? (long)screen->n_lines - 1 : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		return scroll_by(screen, -1);
	case KEY_DOWN:
	case 'j':
		return scroll_by(screen, 1);
	case KEY_PPAGE:
		return scroll_by(screen, -page);
	case KEY_NPAGE:
		return scroll_by(screen, page);
	case KEY_HOME:
		return scroll_by(screen, -(long)screen->n_rows);
	case KEY_END:
		return scroll_by(screen, (long)screen->n_rows);
	default:
		return take_command(screen, model, key);
	}
}

enum top_action top_screen_take_key(struct top_screen *screen, struct top_model *model)
{
	int key = getch();

	if (key == ERR)
		return TOP_NOTHING;
	if (screen->is_typing)
		return type_filter(screen, model, key);
	if (screen->is_help) {
		screen->is_help = false;
		return key == 'q' ? TOP_QUIT : TOP_REDRAW;
	}
	switch (key) {
	case '?':
	case 'h':
	case KEY_F(1):
		screen->is_help = true;
		return TOP_REDRAW;
	case '/':
		screen->is_typing = true;
		snprintf(screen->typed, sizeof(screen->typed), "%s", model->filter);
		return TOP_REDRAW;
	case 27:
		model->filter[0] = '\0';
		return TOP_REBUILD;
	case 12: /* Ctrl-L */
		clear();
		return TOP_REDRAW;
	default:
		return take_scroll(screen, model, key);
	}
}
