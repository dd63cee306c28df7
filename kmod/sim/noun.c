// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be said to the simulator: the nouns of its parts, and one mutex for all of them.
 */
#include <linux/mutex.h>
#include <linux/string.h>

#include "core.h"

static LIST_HEAD(nouns);
static DEFINE_MUTEX(mutex);

void sim_lock(void)
{
	mutex_lock(&mutex);
}
EXPORT_SYMBOL_GPL(sim_lock);

void sim_unlock(void)
{
	mutex_unlock(&mutex);
}
EXPORT_SYMBOL_GPL(sim_unlock);

void sim_noun_register(struct sim_noun *noun)
{
	sim_lock();
	list_add_tail(&noun->node, &nouns);
	sim_unlock();
}
EXPORT_SYMBOL_GPL(sim_noun_register);

void sim_noun_unregister(struct sim_noun *noun)
{
	sim_lock();
	list_del(&noun->node);
	sim_schedule_drop(noun);
	sim_unlock();
}
EXPORT_SYMBOL_GPL(sim_noun_unregister);

const struct sim_noun *sim_noun_find(const char *name)
{
	struct sim_noun *noun;

	list_for_each_entry(noun, &nouns, node)
		if (!strcmp(noun->name, name))
			return noun;
	return NULL;
}

int sim_nouns_show(struct seq_file *file, void *unused)
{
	struct sim_noun *noun;

	sim_lock();
	list_for_each_entry(noun, &nouns, node)
		if (noun->show)
			noun->show(file);
	seq_printf(file, "scheduled %d\n", sim_schedule_count());
	sim_unlock();
	return 0;
}

static void help_verb(struct seq_file *file, const char *noun, const struct sim_verb *verb)
{
	unsigned int i;

	seq_printf(file, "%s %s%s", noun, verb->name, verb->has_target ? " NAME" : "");
	for (i = 0; i < SIM_KEYS_MAX && verb->keys[i].name; i++) {
		const struct sim_key *key = &verb->keys[i];

		seq_printf(file, key->is_required ? " %s=" : " [%s=", key->name);
		if (key->type == SIM_NUMBER)
			seq_printf(file, "%llu..%llu", key->min, key->max);
		else
			seq_puts(file, "TEXT");
		if (!key->is_required)
			seq_putc(file, ']');
	}
	seq_putc(file, '\n');
}

void sim_nouns_help(struct seq_file *file)
{
	struct sim_noun *noun;
	size_t i;

	list_for_each_entry(noun, &nouns, node)
		for (i = 0; i < noun->n_verbs; i++)
			help_verb(file, noun->name, &noun->verbs[i]);
}
