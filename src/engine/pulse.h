/* Asks a database that must be asked (STORE_MUST_ASK) once a second whether memory is current, as a
 * client's read does. An instance without clients thus follows what others commit, notices a
 * database that went back, and knows how old its memory is when the database becomes unavailable.
 * Also ends the waits of reads for a database that does not answer (currency_tick()). */
#ifndef BERTH_ENGINE_PULSE_H
#define BERTH_ENGINE_PULSE_H

#include "engine/currency.h"

struct pulse;

/* The currency outlives it. NULL: no thread could be started. */
struct pulse *pulse_start(struct currency *currency);

/* It submits nothing any more. NULL is allowed, here and below. */
void pulse_stop(struct pulse *pulse);

/* Frees it after the stop, when its last request has been completed: the writer has ended. */
void pulse_destroy(struct pulse *pulse);

#endif
