/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User programs of the simulation: their memory, files, signals and calls
 */
#ifndef _USER_SPACE_H
#define _USER_SPACE_H

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/time_namespace.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "sim.h"

#define USER_PAGES	6	/* number of pages of each program's memory */
#define USER_MEMORY	(USER_PAGES * PAGE_SIZE)
#define USER_MAPPED	4	/* upper bound of the pages of mapped words */

enum user_page {
	USER_HERE,
	USER_OUT,	/* paged out until the next access */
	USER_TRAP,	/* paged out, and out again after each access */
	USER_GONE,	/* not mapped */
};

/* The user program of a task */
struct user_program {
	struct task_struct task;		/* the task as the module sees it */
	struct nsproxy nsproxy;			/* its namespaces */
	struct time_namespace time_ns;		/* its time namespace */
	struct pid pid;				/* its process id */
	kuid_t uid;
	struct user_namespace *ns;		/* its user namespace, or NULL */
	bool nice;				/* flag: the program has CAP_SYS_NICE */
	bool resource;				/* flag: the program has CAP_SYS_RESOURCE */
	bool signal;				/* a signal is pending */
	int no_faults;				/* depth of pagefault_disable() */
	struct user_waiter *waiter;		/* its entry in a wait queue */
	const struct oracle_session *reads;	/* session that it is reading */
	enum user_page pages[USER_PAGES];	/* the state of its memory */
};

/* Mapped words */
struct user_mapping {
	struct file *file;
	struct vm_area_struct vma;		/* the mapping */
	struct page *pages[USER_MAPPED];
};

/* A descriptor, used by all tasks */
struct user_file {
	struct file *file;		/* the file, or NULL */
	struct oracle_session *os;	/* the record of its session */
	struct user_mapping map;	/* its words */
};

/* user_memory.c */
void *user_memory(unsigned int nr, size_t offset);
void user_page_set(const void *addr, enum user_page state);
void user_pages_back(unsigned int nr);
bool user_all_come(const void *addr, size_t size);
int user_mmap(struct user_mapping *m, struct file *file, u32 words, bool write);
u64 *user_word(struct user_mapping *m, u32 nr);
void user_munmap(struct user_mapping *m);

/* user_file.c */
extern struct user_program user_programs[SIM_TASKS];

struct user_program *user_current(void);
void user_begin(void);
void user_end(void);
struct file *user_open(unsigned int mode);
void user_get_file(struct file *file);
void user_close(struct file *file);
long user_ioctl(struct file *file, unsigned int cmd, void *arg);
void user_signal(unsigned int task);
bool user_sleeps(unsigned int task);

/* session_call.c: calls on /dev/twheel that the tasks of a seed make */
extern bool user_limits;	/* flag: users have low limits, which their timers may reach */

/* Check that a result is documented, or fail the seed. */
void call_check(const char *what, long ret, long most, const int *errors);
#define CALL_CHECK(what, ret, most, ...) \
	call_check(what, ret, most, (const int []){ __VA_ARGS__, 0 })

void call_setup(struct user_file *f, bool first);
void call_start(struct user_file *f);
void call_map(struct user_file *f, const struct user_file *mine);
void call_any(struct user_file *f);
void call_empty(struct user_file *f);

/* session_oracle.c */
void oracle_woken(const wait_queue_head_t *queue);
void oracle_session_closes(struct oracle_session *os);
void oracle_session_locked(spinlock_t *lock);
void oracle_session_unlock(spinlock_t *lock);

/* Returns where the lead of the wheels' clock in a program's time namespace is stored, in ns. */
static inline s64 *user_offset(struct user_program *p)
{
	return sim.behind ? &p->time_ns.offsets.boottime :
			    &p->time_ns.offsets.monotonic;
}

#endif /* _USER_SPACE_H */
