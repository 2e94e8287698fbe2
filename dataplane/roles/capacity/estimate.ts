/** Cores, memory, disk and network for a rate of records, from measured costs. Pure. */
import { MEASURED } from './figures.ts'

export interface Load {
  /** Records a second, on average over the busiest hour. */
  readonly rate: number
  /** Bytes of a record as OTLP JSON. */
  readonly bytes: number
  /** Days that records stay searchable. */
  readonly retentionDays: number
  /** Copies of each document and of each message, on Kafka and OpenSearch. */
  readonly copies: number
}

/** The needs of all processes of one role, or of all nodes of one server. */
export interface Need {
  readonly part: string
  readonly cores: number
  readonly memoryBytes: number
  readonly diskBytes: number
  /** In and out together, bytes a second. */
  readonly networkBytes: number
  /** Processes, brokers or nodes. */
  readonly count: number
}

export interface Estimate {
  /** Undefined where one machine does not do. */
  readonly oneMachine: Need | undefined
  readonly distributed: readonly Need[]
  readonly partitions: { readonly raw: number; readonly enriched: number; readonly anomaly: number }
  /** Primary shards of a daily index, and all shards that are open at a time, with their copies. */
  readonly shards: { readonly perDay: number; readonly open: number; readonly bytesEach: number }
  /** The part that ends first when there is ten times as much. */
  readonly nextBottleneck: string
}

const DAY_S = 86_400
const BUS_HOURS = 48
const GIB = 2 ** 30
/** Share of a core or a disk that is planned for; the rest is for peaks, merges and the loss of a member. */
const PLANNED = 0.6
/** OpenSearch's own advice: a shard of logs of 30 to 50 GB, at most 1,000 shards on a node. */
const SHARD_BYTES = 40e9
const MAX_SHARDS_A_NODE = 1_000
/** Machines that brokers and nodes are counted in. */
const NODE = { cores: 16, memoryBytes: 64 * GIB, diskBytes: 8e12, networkBytes: 1.25e9 } as const
/** A broker or a node with little to do. */
const LEAST_MEMORY_BYTES = 4 * GIB
/** A process of a role, which uses little more than a core for each thread that is busy. */
const MEMBER = { collectorCores: 1, bridgeCores: 2 } as const
const LEAST_PARTITIONS = { raw: 6, enriched: 6, anomaly: 3 } as const
/** Members that could come when there is more to do. */
const SPARE_MEMBERS = 2

export function estimate(load: Load): Estimate {
  const { rate } = load
  const size = Math.max(1, load.bytes / MEASURED.recordBytes)
  const distributed = [collector(load, size), bridge(load, size), kafka(load, size), openSearch(load, size)]
  const members = {
    etl: membersOf(rate, MEASURED.etl.cpuUs * size),
    indexer: membersOf(rate, (MEASURED.indexer.cpuUs + MEASURED.score.cpuUs) * size),
  }
  const dayBytes = bytesOfDay(load, size)
  const perDay = Math.ceil(dayBytes / SHARD_BYTES)
  return {
    oneMachine: oneMachine(load, size),
    distributed,
    partitions: {
      raw: Math.max(LEAST_PARTITIONS.raw, members.etl * SPARE_MEMBERS),
      enriched: Math.max(LEAST_PARTITIONS.enriched, members.indexer * SPARE_MEMBERS),
      anomaly: LEAST_PARTITIONS.anomaly,
    },
    shards: { perDay, open: openShards(load, size), bytesEach: dayBytes / perDay },
    nextBottleneck: nextBottleneck(load, size),
  }
}

/** Size of a daily index without its copies. */
const bytesOfDay = ({ rate }: Load, size: number): number => rate * DAY_S * MEASURED.openSearch.documentBytes * size
const openShards = (load: Load, size: number): number =>
  Math.ceil(bytesOfDay(load, size) / SHARD_BYTES) * load.copies * Math.ceil(load.retentionDays)

const coresFor = (rate: number, cpuUs: number): number => (rate * cpuUs) / 1e6
const membersOf = (rate: number, cpuUs: number): number => Math.max(1, Math.ceil(coresFor(rate, cpuUs) / PLANNED))

function oneMachine({ rate, retentionDays }: Load, size: number): Need | undefined {
  const { maxPerSecond, memoryBytes, busBytes, storeBytes } = MEASURED.standalone
  if (rate * size > maxPerSecond * PLANNED) return undefined
  return {
    part: 'standalone',
    cores: standaloneCores(rate * size) / PLANNED,
    memoryBytes,
    diskBytes: (rate * size * (storeBytes * retentionDays * DAY_S + busBytes * BUS_HOURS * 3_600)) / PLANNED,
    networkBytes: rate * MEASURED.protobufBytes * size,
    count: 1,
  }
}

/** In a straight line from one measured rate to the next: the first records cost several times what further ones do. */
function standaloneCores(rate: number): number {
  const { cpuUs, maxPerSecond, steady, idleCores } = MEASURED.standalone
  const steadyCores = coresFor(steady.perSecond, steady.cpuUs)
  if (rate < steady.perSecond) return idleCores + (steadyCores - idleCores) * (rate / steady.perSecond)
  const fullCores = coresFor(maxPerSecond, cpuUs)
  return steadyCores + (fullCores - steadyCores) * ((rate - steady.perSecond) / (maxPerSecond - steady.perSecond))
}

function collector({ rate }: Load, size: number): Need {
  const cores = coresFor(rate, MEASURED.collector.cpuUs * size) / PLANNED
  const count = Math.max(2, Math.ceil(cores / MEMBER.collectorCores))
  const inAndOut = MEASURED.protobufBytes + MEASURED.kafka.rawBytes
  return {
    part: 'collector',
    cores,
    memoryBytes: count * MEASURED.collector.memoryBytes,
    diskBytes: 0,
    networkBytes: rate * size * inAndOut,
    count,
  }
}

function bridge({ rate }: Load, size: number): Need {
  const cpuUs = MEASURED.etl.cpuUs + MEASURED.score.cpuUs + MEASURED.indexer.cpuUs
  const cores = coresFor(rate, cpuUs * size) / PLANNED
  const count = Math.max(1, Math.ceil(cores / MEMBER.bridgeCores))
  const { rawBytes, enrichedBytes } = MEASURED.kafka
  return {
    part: 'bridge',
    cores,
    memoryBytes: count * MEASURED.bridgeMemoryBytes,
    diskBytes: 0,
    networkBytes: rate * size * (rawBytes + 3 * enrichedBytes + MEASURED.openSearch.requestBytes),
    count,
  }
}

function kafka({ rate, copies }: Load, size: number): Need {
  const { cpuUs, rawBytes, enrichedBytes } = MEASURED.kafka
  const written = rate * size * (rawBytes + enrichedBytes)
  const cores = (coresFor(rate, cpuUs * size) * copies) / PLANNED
  const diskBytes = (written * copies * BUS_HOURS * 3_600) / PLANNED
  // Written by clients and copied by followers; read once as raw-logs and twice as enriched-logs.
  const networkBytes = written * (2 * copies - 1) + rate * size * (rawBytes + 2 * enrichedBytes)
  const used = nodesUsed({ cores, diskBytes, networkBytes })
  const count = Math.max(copies, Math.ceil(used))
  return { part: 'Kafka brokers', cores, memoryBytes: memoryOfNodes(used, count), diskBytes, networkBytes, count }
}

function openSearch(load: Load, size: number): Need {
  const { rate, retentionDays, copies } = load
  const { cpuUs, requestBytes } = MEASURED.openSearch
  const cores = (coresFor(rate, cpuUs * size) * copies) / PLANNED
  const diskBytes = (bytesOfDay(load, size) * copies * retentionDays) / PLANNED
  const networkBytes = rate * size * requestBytes * copies
  const used = Math.max(nodesUsed({ cores, diskBytes, networkBytes }), openShards(load, size) / MAX_SHARDS_A_NODE)
  const count = Math.max(copies, Math.ceil(used))
  return { part: 'OpenSearch nodes', cores, memoryBytes: memoryOfNodes(used, count), diskBytes, networkBytes, count }
}

/** Whole nodes' worth of what is scarcest, not rounded. */
function nodesUsed({ cores, diskBytes, networkBytes }: Pick<Need, 'cores' | 'diskBytes' | 'networkBytes'>): number {
  return Math.max(cores / NODE.cores, diskBytes / NODE.diskBytes, networkBytes / (NODE.networkBytes * PLANNED))
}

/** Smaller nodes need less memory in proportion. */
function memoryOfNodes(used: number, count: number): number {
  return count * Math.max(LEAST_MEMORY_BYTES, (NODE.memoryBytes * used) / count)
}

function nextBottleneck(load: Load, size: number): string {
  const ten = { ...load, rate: load.rate * 10 }
  const now = oneMachine(load, size)
  if (now !== undefined && oneMachine(ten, size) === undefined)
    return `one machine: standalone was measured up to ${MEASURED.standalone.maxPerSecond} records a second on two cores; beyond it use Kafka and OpenSearch`
  if (now !== undefined) return 'disk of the one machine, which grows with rate and retention alike'
  const shards = openShards(ten, size)
  if (shards > MAX_SHARDS_A_NODE * 100)
    return `OpenSearch: ${shards} shards in one cluster; its cluster state was not made for so many: give groups of tenants clusters, and pipelines, of their own`
  return 'OpenSearch: it takes most of the CPU and nearly all of the disk, and does not get cheaper with more nodes'
}
