/*
 * The least that two processes pay for a message there and one back: blocking writes and reads of 37 bytes in C.
 *
 *	floor c echo SECONDS          over a pair of Unix stream sockets
 *	floor c pipe SECONDS          over two pipes
 *	floor c-pinned echo SECONDS   with both processes on the first processor they may use (Linux)
 *
 * It writes the mean and the median of one there and back in microseconds, as a JSON list.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 37, KEPT = 1 << 16 };

static double took[KEPT]; /* microseconds, the first KEPT */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* pin keeps this process, and those it will fork, on one processor. */
static void pin(void)
{
#ifdef __linux__
	cpu_set_t may;
	if (sched_getaffinity(0, sizeof may, &may) < 0)
		fail("sched_getaffinity");
	int first = 0;
	while (!CPU_ISSET(first, &may))
		first++;
	CPU_ZERO(&may);
	CPU_SET(first, &may);
	if (sched_setaffinity(0, sizeof may, &may) < 0)
		fail("sched_setaffinity");
#else
	fprintf(stderr, "it cannot be pinned here\n");
	exit(1);
#endif
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* whole reads one message; 0 at the end of input. */
static int whole(int fd, char *buf)
{
	for (size_t have = 0; have < SIZE;) {
		ssize_t n = read(fd, buf + have, SIZE - have);
		if (n < 0)
			fail("read");
		if (n == 0)
			return 0;
		have += n;
	}
	return 1;
}

static void answer(int in, int out)
{
	char buf[SIZE];
	while (whole(in, buf))
		if (write(out, buf, SIZE) != SIZE)
			fail("write");
	exit(0);
}

static void ask(int in, int out)
{
	char buf[SIZE];
	memset(buf, 'x', SIZE);
	if (write(out, buf, SIZE) != SIZE)
		fail("write");
	if (!whole(in, buf)) {
		fprintf(stderr, "the other end has gone\n");
		exit(1);
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int there[2], back[2];
	if (argc != 4) {
		fprintf(stderr, "usage: floor c|c-pinned echo|pipe SECONDS\n");
		return 2;
	}
	if (strcmp(argv[1], "c-pinned") == 0)
		pin();
	double slice = atof(argv[3]) * 1e6;
	if (strcmp(argv[2], "echo") == 0) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, there) < 0)
			fail("socketpair");
		back[0] = there[0];
		back[1] = there[1];
	} else if (pipe(there) < 0 || pipe(back) < 0) {
		fail("pipe");
	}
	/* the child reads there[0] and writes back[1]; the parent writes there[1] and reads back[0] */
	if (back[0] == there[0]) {
		back[0] = there[1];
		back[1] = there[0];
	}
	pid_t child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		close(there[1]);
		if (back[0] != there[1])
			close(back[0]);
		answer(there[0], back[1]);
	}
	close(there[0]);
	if (back[1] != there[0])
		close(back[1]);

	for (double end = now() + slice / 4; now() < end;)
		ask(back[0], there[1]);
	size_t n = 0, kept = 0;
	double start = now(), last = start;
	do {
		ask(back[0], there[1]);
		double t = now();
		if (kept < KEPT)
			took[kept++] = t - last;
		last = t;
		n++;
	} while (last - start < slice);
	qsort(took, kept, sizeof *took, ascending);
	printf("[%f, %f]\n", (last - start) / n, took[kept / 2]);
	close(there[1]);
	if (back[0] != there[1])
		close(back[0]);
	waitpid(child, NULL, 0);
	return 0;
}
