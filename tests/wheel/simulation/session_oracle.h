/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of promises of /dev/twheel that are visible only inside of the simulated machine */
#ifndef _SESSION_ORACLE_H
#define _SESSION_ORACLE_H

#include "session/session.h"
#include "user_space.h"

#include "tests/life/starts.h"

struct oracle_session *oracle_opened(struct twheel_session *s);
bool oracle_has_pending(const struct oracle_session *os);
void oracle_charges(void);
void oracle_end_sessions(void);

#endif /* _SESSION_ORACLE_H */
