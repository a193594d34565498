/* Signals set a flag and nothing else; loops look at it and return GF_ESIGNAL, so that the
 * clean-up is ordinary code. */
#ifndef GPUFILT_SRC_SIGNALS_H
#define GPUFILT_SRC_SIGNALS_H

/* INT, TERM, HUP, QUIT and XCPU set the flag; the second one removes temporary names and ends
 * the process at once. XFSZ is ignored, so that a write beyond the limit fails with EFBIG.
 * PIPE keeps its default: a filter whose reader has gone ends quietly. What was ignored when
 * the program started (nohup) stays ignored. Call it once, before threads are started. */
void gf_signals_install(void);
/* The signal that asks for an end, or 0. */
int gf_signal_pending(void);
/* A descriptor that becomes readable with the first signal and stays so, for poll() before
 * a call that may block; -1 when there is none. */
int gf_signal_fd(void);
/* Ends the process by the pending signal; returns only when there is none. */
void gf_signal_raise(void);

#endif
