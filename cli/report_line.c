/* SPDX-License-Identifier: Apache-2.0 */
/* Titles, sentences and numbers of reports. */
#include "report_line.h"

#include <math.h>
#include <stdarg.h>

#include "page.h"
#include "text.h"

#define LINE_MOST 100 /* of sentences: longer lines are hard to read */

void report_say(struct report_line *line, const char *format, ...)
{
	char part[512];
	va_list args;
	int n;

	va_start(args, format);
	vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	n = snprintf(line->text + line->n, sizeof(line->text) - line->n, "%s%s",
		     line->n ? ", " : "", part);
	line->n = n < 0 || line->n + (size_t)n >= sizeof(line->text) ? sizeof(line->text) - 1 :
								       line->n + (size_t)n;
}

void report_end(struct report_line *line, FILE *out, size_t indent, size_t width)
{
	char clean[sizeof(line->text)];

	if (line->n) {
		fprintf(out, "%*s", (int)indent, "");
		text_wrap(out, text_clean(clean, sizeof(clean), line->text), indent, indent + 2,
			  width < LINE_MOST ? width : LINE_MOST);
	}
	*line = (struct report_line){ 0 };
}

void report_title(const char *title, FILE *out)
{
	fprintf(out, "\n%s%s%s\n", page_style(out, PAGE_BOLD), title, page_style(out, PAGE_PLAIN));
}

void report_number(struct table *table, double value, int decimals)
{
	double step = pow(10, -decimals);

	if (!isfinite(value))
		table_add(table, "-");
	else if (value > 0 && value < step / 2)
		table_add(table, "<%.*f", decimals, step);
	else
		table_add(table, "%.*f", decimals, value == 0 ? 0 : value);
}
