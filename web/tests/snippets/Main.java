// Each argument is a directory with a recorded request: headers and body. Prints true or false.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

public final class Main {
  public static void main(String[] directories) throws Exception {
    for (String directory : directories) {
      Map<String, String> headers = new HashMap<>();
      for (String line : Files.readAllLines(Path.of(directory, "headers"))) {
        String[] parts = line.split(": ", 2);
        headers.put(parts[0], parts[1]);
      }
      byte[] body = Files.readAllBytes(Path.of(directory, "body"));
      System.out.println(WebhookVerifier.verify(headers, body));
    }
  }
}
