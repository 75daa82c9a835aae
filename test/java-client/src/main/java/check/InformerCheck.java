package check;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Follows the ConfigMaps of a namespace with an informer. Arguments: kubeconfig, namespace. Prints "synced" once; then
 * answers each line of standard input with one line: the number of additions, updates and deletions so far and, for
 * every object it knows, "name=resourceVersion".
 */
public final class InformerCheck {
  private InformerCheck() {}

  public static void main(String[] arguments) throws Exception {
    Config config = Config.fromKubeconfig(Files.readString(Path.of(arguments[0])));
    AtomicInteger added = new AtomicInteger();
    AtomicInteger updated = new AtomicInteger();
    AtomicInteger deleted = new AtomicInteger();
    ResourceEventHandler<ConfigMap> counter =
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(ConfigMap object) {
            added.incrementAndGet();
          }

          @Override
          public void onUpdate(ConfigMap before, ConfigMap after) {
            updated.incrementAndGet();
          }

          @Override
          public void onDelete(ConfigMap object, boolean unknown) {
            deleted.incrementAndGet();
          }
        };
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
        SharedIndexInformer<ConfigMap> informer =
            client.configMaps().inNamespace(arguments[1]).inform(counter);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in))) {
      System.out.println("synced");
      while (questions.readLine() != null) {
        TreeMap<String, String> known = new TreeMap<>();
        for (ConfigMap object : informer.getStore().list()) {
          known.put(object.getMetadata().getName(), object.getMetadata().getResourceVersion());
        }
        StringBuilder line = new StringBuilder();
        line.append(added).append(' ').append(updated).append(' ').append(deleted);
        known.forEach((name, version) -> line.append(' ').append(name).append('=').append(version));
        System.out.println(line);
      }
    }
  }
}
