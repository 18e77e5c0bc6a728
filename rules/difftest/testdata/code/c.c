#include <stdio.h>
#include <string.h>

#define LIMIT 20

struct item {
    char name[32];
    double price;
    struct item *next;
};

static struct item *head = NULL;

int add(const char *name, double price)
{
    struct item *it = malloc(sizeof(struct item));
    if (it == NULL) {
        return -1;
    }
    strcpy(it->name, name);
    it->price = price;
    it->next = head;
    head = it;
    return 0;
}

double total(void)
{
    double sum = 0;
    for (struct item *p = head; p != NULL; p = p->next) {
        sum += p->price * 2;
    }
    return sum;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) {
            printf("verbose %d\n", i);
            continue;
        }
        add(argv[i], (double)i);
    }
    switch (argc) {
    case 1:
        puts("nothing");
        break;
    default:
        printf("%f\n", total());
    }
    while (head) {
        head = head->next;
    }
    return argc > LIMIT ? 1 : 0;
}
