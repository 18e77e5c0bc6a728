package shop;

import java.util.ArrayList;
import java.util.List;
import javax.ejb.Stateless;

@Stateless
public class Cart<T extends Item> implements Store {
    private static final int LIMIT = 20;
    private final List<T> items = new ArrayList<>();

    @Override
    public Item load(String id) throws IOException {
        for (T item : items) {
            if (item.getName().equals(id) && item.price > 0) {
                return item;
            }
        }
        return null;
    }

    public Cart<T> add(T item, int count) {
        for (int i = 0; i < count; i++) {
            items.add(item);
        }
        if (count > LIMIT) {
            throw new IllegalArgumentException("too many: " + count);
        }
        return this;
    }

    public double total() {
        return items.stream().mapToDouble(i -> i.price * 2).sum();
    }

    public static void main(String[] args) {
        Cart<Item> cart = new Cart<>();
        try (Reader r = new FileReader(args[0])) {
            cart.add(new Item("a", new Integer(1)), 2).add(new Item("b", 2), 1);
        } catch (IOException | RuntimeException e) {
            System.out.println(e.getMessage());
        } finally {
            System.out.println(cart.total() > 3 ? "large" : "small");
        }
    }
}
