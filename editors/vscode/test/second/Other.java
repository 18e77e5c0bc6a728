package fixtures;

import javax.persistence.Entity;
import javax.persistence.Id;
import javax.validation.constraints.NotNull;

@Entity
public class Other {
    @Id
    @NotNull
    private Long id;
}
