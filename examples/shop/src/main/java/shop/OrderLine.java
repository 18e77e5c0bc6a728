package shop;

import javax.persistence.*;

@Entity
public class OrderLine {
    @Id
    @GeneratedValue
    private Long id;

    private String article;
    private int pieces;
}
