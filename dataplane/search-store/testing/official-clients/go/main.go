// The script of the official clients, in Go: main URL prints a JSON list of [step, answer], answers as the client's own types hold them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"
)

const (
	index = "clients-logs"
	alias = "clients-alias"
)

var (
	ctx   = context.Background()
	steps = [][]any{}
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// step keeps an answer, or the status of a refusal.
func step[T any](name string, answer T, err error) T {
	var refusal *opensearch.StructError
	switch {
	case err == nil:
		steps = append(steps, []any{name, answer})
	case errors.As(err, &refusal):
		steps = append(steps, []any{name, map[string]any{"status": refusal.Status, "error": refusal.Err.Type}})
	default:
		steps = append(steps, []any{name, map[string]any{"error": fmt.Sprintf("%T", err)}})
	}
	return answer
}

func body(value any) *bytes.Reader {
	text, err := json.Marshal(value)
	must(err)
	return bytes.NewReader(text)
}

type object = map[string]any

func document(number int) object {
	return object{
		"@timestamp":  fmt.Sprintf("2026-11-21T10:%02d:00.000Z", number%60),
		"level":       []string{"INFO", "WARN", "ERROR"}[number%3],
		"message":     fmt.Sprintf("request %d refused", number),
		"duration_ms": float64(number) * 1.5,
	}
}

func bulk(client *opensearchapi.Client) opensearchutil.BulkIndexerStats {
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{Client: client, Index: index, NumWorkers: 1, FlushBytes: 2000, Refresh: "true"})
	must(err)
	for number := range 100 {
		must(indexer.Add(ctx, opensearchutil.BulkIndexerItem{Action: "create", DocumentID: fmt.Sprintf("d%03d", number), Body: body(document(number))}))
	}
	must(indexer.Close(ctx))
	stats := indexer.Stats()
	return opensearchutil.BulkIndexerStats{NumAdded: stats.NumAdded, NumCreated: stats.NumCreated, NumFailed: stats.NumFailed}
}

func idsOf(hits []opensearchapi.SearchHit) []string {
	ids := []string{}
	for _, hit := range hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func scroll(client *opensearchapi.Client) ([][]string, error) {
	sorted := body(object{"sort": []string{"duration_ms"}, "size": 30})
	page, err := client.Search(ctx, &opensearchapi.SearchReq{Indices: []string{index}, Body: sorted, Params: opensearchapi.SearchParams{Scroll: time.Minute}})
	must(err)
	pages := [][]string{}
	id, hits := page.ScrollID, page.Hits.Hits
	for len(hits) > 0 {
		pages = append(pages, idsOf(hits))
		next, err := client.Scroll.Get(ctx, opensearchapi.ScrollGetReq{ScrollID: *id, Params: opensearchapi.ScrollGetParams{Scroll: time.Minute}})
		must(err)
		id, hits = next.ScrollID, next.Hits.Hits
	}
	_, err = client.Scroll.Delete(ctx, opensearchapi.ScrollDeleteReq{ScrollIDs: []string{*id}})
	return pages, err
}

func main() {
	client, err := opensearchapi.NewClient(opensearchapi.Config{Client: opensearch.Config{Addresses: []string{os.Args[1]}, DisableRetry: true}})
	must(err)
	indices := []string{index}
	search := func(content any) (*opensearchapi.SearchResp, error) {
		return client.Search(ctx, &opensearchapi.SearchReq{Indices: indices, Body: body(content)})
	}
	update := func(id string, content any) (*opensearchapi.UpdateResp, error) {
		return client.Update(ctx, opensearchapi.UpdateReq{Index: index, DocumentID: id, Body: body(content)})
	}
	refresh := func() (*opensearchapi.IndicesRefreshResp, error) {
		return client.Indices.Refresh(ctx, &opensearchapi.IndicesRefreshReq{Indices: indices})
	}

	created, err := client.IndexTemplate.Create(ctx, opensearchapi.IndexTemplateCreateReq{IndexTemplate: "clients", Body: body(object{
		"index_patterns": []string{"clients-*"},
		"template": object{
			"settings": object{"number_of_shards": 1, "number_of_replicas": 0},
			"mappings": object{"properties": object{"level": object{"type": "keyword"}, "duration_ms": object{"type": "double"}}},
		},
	})})
	step("put template", created, err)
	templates, err := client.IndexTemplate.Get(ctx, &opensearchapi.IndexTemplateGetReq{IndexTemplates: []string{"clients"}})
	step("get template", templates, err)
	step("bulk", bulk(client), nil)
	mapping, err := client.Indices.Mapping.Get(ctx, &opensearchapi.MappingGetReq{Indices: indices})
	step("mapping", mapping, err)
	found, err := search(object{"query": object{"match": object{"message": "refused"}}, "sort": []string{"duration_ms"}, "size": 3, "highlight": object{"fields": object{"message": object{}}}})
	step("search", found, err)
	malformed, err := search(object{"query": object{"nothing": object{}}})
	step("search malformed", malformed, err)
	aggregated, err := search(object{"size": 0, "aggs": object{"levels": object{"terms": object{"field": "level"}, "aggs": object{"mean": object{"avg": object{"field": "duration_ms"}}}}}})
	step("aggregate", aggregated, err)
	searches := strings.NewReader(`{"index":"clients-logs"}` + "\n" + `{"size":1,"sort":["duration_ms"]}` + "\n" + `{"index":"clients-nobody"}` + "\n{}\n")
	several, err := client.MSearch(ctx, opensearchapi.MSearchReq{Body: searches})
	step("several searches", several, err)
	pages, err := scroll(client)
	step("scroll", pages, err)
	pit, err := client.PointInTime.Create(ctx, opensearchapi.PointInTimeCreateReq{Indices: indices, Params: opensearchapi.PointInTimeCreateParams{KeepAlive: time.Minute}})
	must(err)
	page, err := client.Search(ctx, &opensearchapi.SearchReq{Body: body(object{"size": 5, "pit": object{"id": pit.PitID}, "sort": []string{"duration_ms"}, "search_after": []float64{30}})})
	step("point in time", idsOf(page.Hits.Hits), err)
	closed, err := client.PointInTime.Delete(ctx, opensearchapi.PointInTimeDeleteReq{PitID: []string{pit.PitID}})
	step("point in time deleted", len(closed.Pits), err)
	got, err := client.Document.Get(ctx, opensearchapi.DocumentGetReq{Index: index, DocumentID: "d007"})
	step("get", got, err)
	missing, err := client.Document.Get(ctx, opensearchapi.DocumentGetReq{Index: index, DocumentID: "nobody"})
	step("get of nothing", missing, err)
	both, err := client.MGet(ctx, opensearchapi.MGetReq{Index: index, Body: body(object{"ids": []string{"d001", "nobody"}})})
	step("mget", both, err)
	changed, err := update("d001", object{"doc": object{"level": "FATAL"}})
	step("update", changed, err)
	upserted, err := update("new", object{"doc": object{"level": "FATAL"}, "doc_as_upsert": true})
	step("upsert", upserted, err)
	unchanged, err := update("nobody", object{"doc": object{}})
	step("update of nothing", unchanged, err)
	refreshed, err := refresh()
	step("refresh", refreshed, err)
	put, err := client.Indices.Alias.Put(ctx, opensearchapi.AliasPutReq{Indices: indices, Alias: alias})
	step("put alias", put, err)
	aliases, err := client.Indices.Alias.Get(ctx, opensearchapi.AliasGetReq{Indices: indices})
	step("get alias", aliases, err)
	counted, err := client.Indices.Count(ctx, &opensearchapi.IndicesCountReq{Indices: []string{alias}})
	step("count by alias", counted, err)
	less, err := client.Document.DeleteByQuery(ctx, opensearchapi.DocumentDeleteByQueryReq{Indices: indices, Body: body(object{"query": object{"term": object{"level": "INFO"}}})})
	step("delete by query", less, err)
	deleted, err := client.Document.Delete(ctx, opensearchapi.DocumentDeleteReq{Index: index, DocumentID: "new"})
	step("delete", deleted, err)
	caps, err := client.Indices.FieldCaps(ctx, opensearchapi.IndicesFieldCapsReq{Indices: indices, Params: opensearchapi.IndicesFieldCapsParams{Fields: []string{"level", "duration_ms"}}})
	step("field capabilities", caps, err)
	gone, err := client.Indices.Delete(ctx, opensearchapi.IndicesDeleteReq{Indices: indices})
	step("delete index", gone, err)
	without, err := client.IndexTemplate.Delete(ctx, opensearchapi.IndexTemplateDeleteReq{IndexTemplate: "clients"})
	step("delete template", without, err)
	must(json.NewEncoder(os.Stdout).Encode(steps))
}
