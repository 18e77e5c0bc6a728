package shop;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import javax.persistence.CascadeType;
import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.Id;
import javax.persistence.OneToMany;
import javax.validation.constraints.NotNull;

/** One order of one customer. */
@Entity
public class Order {
    @Id
    @GeneratedValue
    private Long id;

    @NotNull
    private String customer;

    private Instant placed = Instant.now();

    @OneToMany(cascade = CascadeType.ALL)
    private List<OrderLine> lines = new ArrayList<>();

    public Long getId() {
        return id;
    }

    public List<OrderLine> getLines() {
        return lines;
    }
}
