import org.openapitools.client.ApiClient;
import org.openapitools.client.api.SettlementApi;

public class Generated {
  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri("http://127.0.0.1:8080");
    var measurement = new SettlementApi(client).getStatus(null, null).getMeasurement();
    System.out.println((measurement == null ? "no" : measurement.getCumulativeWorkUnits()) + " work units");
  }
}
