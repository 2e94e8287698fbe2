/**
 * Measured costs of a record, from hack/bench/results.md and docs/capacity.md: two cores, Node 24, records of 805 bytes as OTLP JSON in
 * protobuf requests of 100. Kafka and OpenSearch: one node of each with 384 MB of heap, defaults of this product (lz4; one shard, no replica, merged by itself).
 */
export const MEASURED = {
  /** Day of the newest figure. */
  date: '2026-11-29',
  /** Bytes of a record as OTLP JSON. Larger records are taken to cost as much more; smaller ones no less. */
  recordBytes: 805,
  /** The same as OTLP protobuf: it comes over the network. */
  protobufBytes: 449,
  standalone: {
    /** A record costs so much at `maxPerSecond`. */
    cpuUs: 40,
    /** And so much at this rate: batches are smaller then. */
    steady: { perSecond: 5_000, cpuUs: 98 },
    /** With nothing to do. */
    idleCores: 0.035,
    /** Taken in and made searchable, a second. */
    maxPerSecond: 36_000,
    memoryBytes: 710_000_000,
    /** On disk: the bus for 48 hours, the search store for the whole retention. */
    busBytes: 100,
    storeBytes: 124,
  },
  collector: { cpuUs: 8.0, memoryBytes: 230_000_000 },
  /** Threads of the bridge on Kafka. Scoring is by the rules and signals alone, without the reading of its topic. */
  etl: { cpuUs: 14.4 },
  score: { cpuUs: 6.5 },
  indexer: { cpuUs: 8.8 },
  bridgeMemoryBytes: 900_000_000,
  kafka: {
    /** raw-logs in; out to etl with enriched-logs in; out to the scorer and to the indexer. */
    cpuUs: 3.3 + 3.0 + 2.5 + 2.5,
    /** On a broker's disk, and over the network. */
    rawBytes: 159,
    enrichedBytes: 317,
  },
  openSearch: {
    cpuUs: 74,
    documentBytes: 593,
    /** A document and its action line in a bulk request. */
    requestBytes: 1_500,
  },
} as const
