#include "signals.h"

#include "io/file.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int pending; /* the first signal; int atomics are lock-free, so async-signal-safe */
static int wake[2] = {-1, -1};

/* Ends the process by `number` even when called from its own handler. */
static void end_by(int number)
{
    struct sigaction action;
    sigset_t set;

    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void handle(int number)
{
    int saved = errno, none = 0;

    if (atomic_compare_exchange_strong(&pending, &none, number)) {
        ssize_t ignored = write(wake[1], "", 1);
        (void)ignored;
    } else {
        gf_out_emergency_cleanup();
        end_by(number);
    }
    errno = saved;
}

void gf_signals_install(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
    struct sigaction action, old;

    if (wake[0] < 0) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
            /* Out of the way of a standard stream that was closed when we started. */
            for (int i = 0; i < 2; i++) {
                wake[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
                close(ends[i]);
            }
        }
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    /* No SA_RESTART: a blocked read or write shall come back and see the flag. */
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < GF_COUNT(numbers); i++) {
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;
        sigaction(numbers[i], &action, NULL);
    }
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
}

int gf_signal_pending(void)
{
    return atomic_load_explicit(&pending, memory_order_relaxed);
}

int gf_signal_fd(void)
{
    return wake[0];
}

void gf_signal_raise(void)
{
    int number = gf_signal_pending();

    if (number != 0)
        end_by(number);
}
