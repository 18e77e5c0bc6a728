"""Totals by customer, for the weekly report."""
from collections import Mapping, OrderedDict
import unittest


def totals(orders):
    out = OrderedDict()
    for order in orders:
        if isinstance(order, Mapping):
            out[order["customer"]] = out.get(order["customer"], 0) + order["total"]
    return out


class TotalsTest(unittest.TestCase):
    def test_sum(self):
        self.assertEquals(totals([{"customer": "a", "total": 2}])["a"], 2)
