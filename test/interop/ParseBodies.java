import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openapitools.client.ApiClient;

/** Reads each body as the class of its schema, and writes it again: ParseBodies CASES. */
public class ParseBodies {
  public static void main(String[] args) throws Exception {
    ObjectMapper plain = new ObjectMapper();
    ObjectMapper mapper = new ApiClient().getObjectMapper();
    int parsed = 0;
    for (JsonNode one : plain.readTree(Files.readString(Path.of(args[0])))) {
      Class<?> type = Class.forName("org.openapitools.client.model." + one.get("schema").asText());
      Object body = mapper.readValue(one.get("body").toString(), type);
      JsonNode written = plain.readTree(mapper.writeValueAsString(body));
      // It adds empty lists that the body left out.
      one.get("body")
          .fieldNames()
          .forEachRemaining(
              name -> {
                if (!written.has(name)) throw new AssertionError(one.get("operation") + " " + name);
              });
      parsed++;
    }
    System.out.println(parsed);
  }
}
