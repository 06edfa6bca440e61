#include <stdio.h>

struct item;
static int total(const struct cart *c);

/** What is bought. */
struct cart {
    int count;
    union { int a; long b; } u;
};

typedef struct { long cents; } price_t;
typedef struct cart cart_t;
typedef int (*check_fn)(int);
enum state { OPEN, PAID };

/// Adds.
int add(struct cart *c, int n)
{
#ifdef LIMIT
    if (n > LIMIT) {
#else
    if (n > 10) {
#endif
        return total(c);
    }
    return printf("größe");
}

static int total(const struct cart *c) { return c->count; }

char *(*pick(int n))(void) { return 0; }

static int *slots[4];
int API_EXPORT_later(int n);
