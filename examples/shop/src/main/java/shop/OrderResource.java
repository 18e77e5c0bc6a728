package shop;

import javax.inject.Inject;
import javax.sql.DataSource;
import javax.ws.rs.GET;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.core.Response;

@Path("/orders")
public class OrderResource {
    @Inject
    private javax.persistence.EntityManager entities;

    // The pool is JDBC's; javax.sql stays where it is in Jakarta EE.
    @Inject
    private DataSource pool;

    @GET
    @Path("{id}")
    public Response get(@PathParam("id") long id) {
        Order order = entities.find(Order.class, id);
        return order == null
                ? Response.status(Response.Status.NOT_FOUND).build()
                : Response.ok(order).build();
    }
}
