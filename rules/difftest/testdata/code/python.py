import os, sys
from collections import Mapping, OrderedDict as OD


class Cart(Base, metaclass=Meta):
    """A cart."""

    limit = 20

    def __init__(self, owner, items=None, *args, **kwargs):
        self.owner = owner
        self.items = items or []

    @property
    def total(self):
        return sum(i.price * 2 for i in self.items if i.price > 0)

    def add(self, item, count=1):
        for n in range(count):
            self.items.append(item)
        if count > self.limit:
            raise ValueError("too many: %d" % count)
        return self

    async def save(self, path):
        with open(path, "w") as f:
            f.write(f"{self.owner}: {self.total!r}\n")
        try:
            await notify(self)
        except (IOError, OSError) as e:
            print("failed", e, file=sys.stderr)
        finally:
            pass


def describe(x):
    if isinstance(x, str):
        return x.upper()
    elif x is None:
        return "none"
    return [y for y in x if y not in ("a", "b")]


if __name__ == "__main__":
    cart = Cart("me").add(Item("a", 1), count=2)
    print(cart.total, {k: v for k, v in os.environ.items()})
    assert cart.total == 2, "wrong"
