import os.path
from collections import abc as cabc, OrderedDict

# a cart
@decorated
class Cart:
    """Prices."""

    def __init__(self, prices: list[int]) -> None:
        self.prices = prices

    async def total(self):
        return sum(p for p in self.prices if p > 0)


def main():
    print(f"{Cart([1, 2])!r}")
