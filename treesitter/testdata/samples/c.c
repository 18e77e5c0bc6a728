#include <stdio.h>
/* a point */
struct point { int x, y; };
static int sum(const struct point *p) { return p->x + p->y; }
int main(void) {
  struct point p = {1, 2};
  printf("%d\n", sum(&p)); // print
  return 0;
}
