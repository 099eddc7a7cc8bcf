/* libmacaroons behind the protocol of ../children.mjs: the first version's binary form. */
#include <macaroons.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_POOLS 16

static char line[1 << 16];
static char** pools[MAX_POOLS];
static int sizes[MAX_POOLS];
static unsigned char key[32];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int yes(void* context, const unsigned char* caveat, size_t size)
{
    (void)context, (void)caveat, (void)size;
    return 0;
}

static void verify(const char* text)
{
    enum macaroon_returncode err;
    struct macaroon* m = macaroon_deserialize(text, &err);
    struct macaroon_verifier* verifier = macaroon_verifier_create();
    if (!m || !verifier) exit(1);
    macaroon_verifier_satisfy_general(verifier, yes, NULL, &err);
    if (macaroon_verify(verifier, m, key, sizeof key, NULL, 0, &err) != 0) exit(2);
    macaroon_verifier_destroy(verifier);
    macaroon_destroy(m);
}

int main(void)
{
    int count = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        int pool, size;
        double milliseconds;
        if (strncmp(line, "key ", 4) == 0) {
            for (size_t i = 0; i < sizeof key; i++) {
                unsigned byte;
                if (sscanf(line + 4 + 2 * i, "%2x", &byte) != 1) return 3;
                key[i] = (unsigned char)byte;
            }
            printf("0\n");
        } else if (sscanf(line, "load %d", &size) == 1) {
            if (count == MAX_POOLS) return 4;
            pools[count] = malloc(size * sizeof(char*));
            for (int i = 0; i < size && fgets(line, sizeof line, stdin); i++) {
                line[strcspn(line, "\n")] = 0;
                pools[count][i] = strdup(line);
            }
            sizes[count] = size;
            printf("%d\n", count++);
        } else if (sscanf(line, "run %d %lf", &pool, &milliseconds) == 2) {
            double began = now();
            long done = 0;
            while (now() - began < milliseconds * 1e6) verify(pools[pool][done++ % sizes[pool]]);
            printf("%.1f\n", (now() - began) / done);
        }
    }
    return 0;
}
