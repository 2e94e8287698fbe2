// The script of the official clients, in Java: Client.java URL prints a JSON list of [step, answer], answers as the client's own types hold them.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.StringWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.apache.hc.core5.http.HttpHost;
import org.opensearch.client.json.JsonpSerializable;
import org.opensearch.client.json.jackson.JacksonJsonpMapper;
import org.opensearch.client.opensearch.OpenSearchClient;
import org.opensearch.client.opensearch._types.FieldValue;
import org.opensearch.client.opensearch._types.HealthStatus;
import org.opensearch.client.opensearch._types.OpenSearchException;
import org.opensearch.client.opensearch._types.Refresh;
import org.opensearch.client.opensearch._types.SortOptions;
import org.opensearch.client.opensearch._types.SortOrder;
import org.opensearch.client.opensearch.core.SearchRequest;
import org.opensearch.client.opensearch.core.bulk.BulkOperation;
import org.opensearch.client.opensearch.core.search.Hit;
import org.opensearch.client.opensearch.core.search.Pit;
import org.opensearch.client.transport.httpclient5.ApacheHttpClient5TransportBuilder;
import org.opensearch.client.transport.httpclient5.ResponseException;

public class Client {
  private static final String INDEX = "clients-logs";
  private static final String ALIAS = "clients-alias";
  private static final String STREAM = "clients-stream";
  private static final List<String> LEVELS = List.of("INFO", "WARN", "ERROR");
  private static final JacksonJsonpMapper MAPPER = new JacksonJsonpMapper();
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> STEPS = new ArrayList<>();

  private static OpenSearchClient client;

  public static void main(String[] arguments) throws Exception {
    var url = URI.create(arguments[0]);
    var host = new HttpHost(url.getScheme(), url.getHost(), url.getPort());
    try (var transport = ApacheHttpClient5TransportBuilder.builder(host).setMapper(MAPPER).build()) {
      client = new OpenSearchClient(transport);
      runAll();
    }
    System.out.println("[" + String.join(",\n", STEPS) + "]");
  }

  /** Keeps an answer, or the status of a refusal. */
  private static void step(String name, Callable<Object> call) throws Exception {
    Object answer;
    try {
      answer = call.call();
    } catch (OpenSearchException refusal) {
      answer = Map.of("status", refusal.status(), "error", refusal.error().type());
    } catch (ResponseException refusal) {
      // Of some calls the client does not read the error.
      answer = Map.of("status", refusal.status());
    }
    STEPS.add("[" + JSON.writeValueAsString(name) + "," + text(answer) + "]");
  }

  private static String text(Object answer) throws Exception {
    if (!(answer instanceof JsonpSerializable serializable)) return JSON.writeValueAsString(answer);
    var writer = new StringWriter();
    try (var generator = MAPPER.jsonProvider().createGenerator(writer)) {
      serializable.serialize(generator, MAPPER);
    }
    return writer.toString();
  }

  private static Map<String, Object> document(int number) {
    return Map.of(
        "@timestamp", String.format("2026-11-21T10:%02d:00.000Z", number % 60),
        "level", LEVELS.get(number % 3),
        "message", "request " + number + (number % 2 == 1 ? " took long" : " refused"),
        "duration_ms", number * 1.5);
  }

  private static String id(int number) {
    return String.format("d%03d", number);
  }

  private static List<String> ids(List<? extends Hit<?>> hits) {
    return hits.stream().map(Hit::id).toList();
  }

  private static SortOptions byDuration(SortOrder order) {
    return SortOptions.of(s -> s.field(f -> f.field("duration_ms").order(order)));
  }

  private static Object bulk() throws Exception {
    var operations = IntStream.range(0, 100)
        .mapToObj(number -> BulkOperation.of(o -> o.create(c -> c.index(INDEX).id(id(number)).document(document(number)))))
        .toList();
    var answer = client.bulk(b -> b.operations(operations).refresh(Refresh.True));
    return Map.of("errors", answer.errors(), "statuses", answer.items().stream().map(item -> item.status()).toList());
  }

  private static Object bulkOfOperations() throws Exception {
    var answer = client.bulk(b -> b.refresh(Refresh.WaitFor)
        .operations(o -> o.create(c -> c.index(INDEX).id("d001").document(document(1))))
        .operations(o -> o.index(c -> c.index(INDEX).id("d100").document(document(100))))
        .operations(o -> o.update(c -> c.index(INDEX).id("d100").document(Map.of("level", "FATAL"))))
        .operations(o -> o.delete(c -> c.index(INDEX).id("no one")))
        .operations(o -> o.index(c -> c.index(INDEX).id("bad").document(Map.of("@timestamp", "yesterday")))));
    return answer.items().stream()
        .map(item -> List.of(item.status(), String.valueOf(item.result()), item.error() == null ? "" : item.error().type()))
        .toList();
  }

  private static Object scroll() throws Exception {
    var pages = new ArrayList<List<String>>();
    var first = client.search(
        s -> s.index(INDEX).size(30).scroll(t -> t.time("1m")).sort(byDuration(SortOrder.Asc)), Map.class);
    var scrollId = first.scrollId();
    var hits = ids(first.hits().hits());
    while (!hits.isEmpty()) {
      pages.add(hits);
      var current = scrollId;
      var next = client.scroll(s -> s.scrollId(current).scroll(t -> t.time("1m")), Map.class);
      scrollId = next.scrollId();
      hits = ids(next.hits().hits());
    }
    var last = scrollId;
    return List.of(pages, client.clearScroll(c -> c.scrollId(last)).succeeded());
  }

  private static Object pointInTime() throws Exception {
    var pit = client.createPit(c -> c.index(INDEX).keepAlive(t -> t.time("1m"))).pitId();
    var found = new ArrayList<String>();
    List<FieldValue> after = List.of();
    while (true) {
      var request = new SearchRequest.Builder().size(40).pit(Pit.of(p -> p.id(pit).keepAlive("1m"))).sort(byDuration(SortOrder.Desc));
      if (!after.isEmpty()) request.searchAfter(after);
      var hits = client.search(request.build(), Map.class).hits().hits();
      if (hits.isEmpty()) break;
      found.addAll(ids(hits));
      after = hits.get(hits.size() - 1).sort();
    }
    return List.of(found, client.deletePit(d -> d.pitId(pit)).pits().get(0).successful());
  }

  private static void runAll() throws Exception {
    step("ping", () -> client.ping().value());
    step("version", () -> client.info().version().distribution());
    step("put template", () -> client.indices().putIndexTemplate(t -> t.name("clients")
        .indexPatterns(INDEX + "*")
        .template(m -> m
            .settings(s -> s.numberOfShards(1).numberOfReplicas(0))
            .mappings(p -> p
                .properties("@timestamp", f -> f.date(d -> d))
                .properties("level", f -> f.keyword(k -> k))
                .properties("duration_ms", f -> f.double_(d -> d))))));
    step("has template", () -> client.indices().existsIndexTemplate(t -> t.name("clients")).value());
    step("get template", () -> client.indices().getIndexTemplate(t -> t.name("clients")));
    step("bulk", Client::bulk);
    step("bulk of operations", Client::bulkOfOperations);
    step("refresh", () -> client.indices().refresh(r -> r.index(INDEX)));
    step("mapping", () -> client.indices().getMapping(m -> m.index(INDEX)));
    step("count", () -> client.count(c -> c.index(INDEX).query(q -> q.term(t -> t.field("level").value(FieldValue.of("WARN"))))));
    step("search", () -> client.search(s -> s.index(INDEX)
        .query(q -> q.match(m -> m.field("message").query(FieldValue.of("refused"))))
        .sort(byDuration(SortOrder.Asc)).size(3).highlight(h -> h.fields("message", f -> f)), Map.class));
    step("search of no index", () -> client.search(s -> s.index("clients-nobody"), Map.class));
    step("search malformed", () -> client.search(s -> s.index(INDEX).query(q -> q.queryString(t -> t.query("level:("))), Map.class));
    step("several searches", () -> client.msearch(m -> m
        .searches(s -> s.header(h -> h.index(INDEX)).body(b -> b.size(1).sort(byDuration(SortOrder.Asc))))
        .searches(s -> s.header(h -> h.index("clients-nobody")).body(b -> b)), Map.class));
    step("aggregate", () -> client.search(s -> s.index(INDEX).size(0)
        .aggregations("levels", a -> a.terms(t -> t.field("level"))
            .aggregations("mean", b -> b.avg(v -> v.field("duration_ms")))
            .aggregations("ranks", b -> b.percentileRanks(v -> v.field("duration_ms").values(30.0, 75.0))))
        .aggregations("hours", a -> a.dateHistogram(d -> d.field("@timestamp").fixedInterval(t -> t.time("1h")))), Map.class));
    step("scroll", Client::scroll);
    step("point in time", Client::pointInTime);
    step("get", () -> client.get(g -> g.index(INDEX).id("d007"), Map.class));
    step("get of nothing", () -> client.get(g -> g.index(INDEX).id("nobody"), Map.class));
    step("exists", () -> client.exists(e -> e.index(INDEX).id("d007")).value());
    step("mget", () -> client.mget(m -> m.index(INDEX).ids("d001", "nobody"), Map.class));
    step("index", () -> client.index(i -> i.index(INDEX).id("own").document(document(7)).refresh(Refresh.True)));
    step("create again", () -> client.create(c -> c.index(INDEX).id("own").document(document(7))));
    step("update", () -> client.update(u -> u.index(INDEX).id("own").doc(Map.of("level", "ERROR")), Map.class));
    step("update to the same", () -> client.update(u -> u.index(INDEX).id("own").doc(Map.of("level", "ERROR")), Map.class));
    step("upsert", () -> client.update(u -> u.index(INDEX).id("new").doc(Map.of("level", "ERROR")).docAsUpsert(true), Map.class));
    step("update of nothing", () -> client.update(u -> u.index(INDEX).id("nobody").doc(Map.of()), Map.class));
    step("refresh after the updates", () -> client.indices().refresh(r -> r.index(INDEX)));
    step("put alias", () -> client.indices().putAlias(a -> a.index(INDEX).name(ALIAS)));
    step("get alias", () -> client.indices().getAlias(a -> a.name(ALIAS)));
    step("count by alias", () -> client.count(c -> c.index(ALIAS)));
    step("field capabilities", () -> client.fieldCaps(f -> f.index(INDEX).fields("level", "duration_ms")));
    step("delete by query", () -> client.deleteByQuery(d -> d.index(INDEX).refresh(Refresh.True)
        .query(q -> q.term(t -> t.field("level").value(FieldValue.of("INFO"))))).deleted());
    step("delete", () -> client.delete(d -> d.index(INDEX).id("own")));
    step("delete of nothing", () -> client.delete(d -> d.index(INDEX).id("nobody")));
    step("health", () -> client.cluster().health(h -> h.index(INDEX).waitForStatus(HealthStatus.Yellow)).status().jsonValue());
    step("nodes", () -> client.nodes().stats().nodes().size());
    streams();
    step("delete index", () -> client.indices().delete(d -> d.index(INDEX)));
    step("delete template", () -> client.indices().deleteIndexTemplate(d -> d.name("clients")));
    step("get of no template", () -> client.indices().getIndexTemplate(t -> t.name("clients")));
  }

  private static void streams() throws Exception {
    step("put template of a stream", () -> client.indices().putIndexTemplate(t -> t.name("clients-stream")
        .indexPatterns(STREAM + "*").priority(7).dataStream(d -> d).template(m -> m.settings(s -> s.numberOfReplicas(0)))));
    step("get template of a stream", () -> client.indices().getIndexTemplate(t -> t.name("clients-stream")));
    step("make a stream", () -> client.indices().createDataStream(d -> d.name(STREAM)));
    step("create in the stream", () -> client.create(c -> c.index(STREAM).id("s1").document(document(1)).refresh(Refresh.True)));
    step("index in the stream", () -> client.index(i -> i.index(STREAM).id("s2").document(document(2))));
    step("create without a time", () -> client.create(c -> c.index(STREAM).id("s3").document(Map.of("level", "INFO"))));
    step("roll the stream over", () -> client.indices().rollover(r -> r.alias(STREAM)));
    step("show the stream", () -> {
      var stream = client.indices().getDataStream(d -> d.name(STREAM)).dataStreams().get(0);
      return List.of(stream.name(), stream.generation(), stream.template(), stream.indices().stream().map(i -> i.indexName()).toList());
    });
    step("search the stream", () -> ids(client.search(s -> s.index(STREAM), Map.class).hits().hits()));
    step("delete the stream", () -> client.indices().deleteDataStream(d -> d.name(STREAM)));
    step("delete the template of the stream", () -> client.indices().deleteIndexTemplate(d -> d.name("clients-stream")));
  }
}
