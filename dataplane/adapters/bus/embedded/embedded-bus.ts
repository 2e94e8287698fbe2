/** Opens the embedded bus in its directory, and connects other threads to it. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { TopicConfig } from '../../../contract/topics.ts'
import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import { lockDirectory } from '../../../process/directory-lock.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { type BusLog, silentLog } from '../bus-log.ts'
import { createEmbeddedClient } from './client/client.ts'
import { type GroupState, openLocalOwner } from './local-owner.ts'
import { diskFiles, type LogFiles } from './log/log-files.ts'
import type { BusLayout } from './log-owner.ts'
import { connectOwner, serveOwner } from './owner-channel.ts'

export interface EmbeddedBusOptions {
  /** Made where missing; locked against other processes. */
  readonly dir: string
  /** In the order in which records pass through them. */
  readonly topics: readonly TopicConfig[]
  readonly clock: Clock
  readonly log?: BusLog
  /**
   * Size cap of the whole bus. Over it the oldest segments go that every consumer group has read; while there are none, `send` fails as `full`,
   * to the first of the topics at 1 - 0.6 * 3/4 of it (of four), so that what is made of its records has room. Default 10 GiB.
   */
  readonly maxBytes?: number
  /** Size of a file of the log, at most 1 GiB and a share of the cap and of the disk. Default 64 MiB. */
  readonly segmentBytes?: number
  /**
   * While the file system has less free, or a quarter of its size where that is less, the oldest segments go that every consumer group has read; while
   * there are too few, `send` fails as `full`. Default 256 MiB.
   */
  readonly minFreeBytes?: number
  /** Records of a topic that every group has read and that stay then: readers go back in them after a start. Default 16 MiB. */
  readonly keptReadBytes?: number
  /** Bytes that each thread may have under way; `send` fails as `overloaded` beyond. Default 64 MiB. */
  readonly maxQueuedBytes?: number
  /** How long a member of a group may go on with a partition that another should get. Default 30 s. */
  readonly rebalanceTimeoutMs?: number
  /** Default: the real file system. */
  readonly files?: LogFiles
}

/** The bus on its way to another thread (`port` goes into the transfer list), to be used there by `attachEmbeddedBus`, once. */
export interface BusShare {
  readonly port: MessagePort
  readonly layout: BusLayout
}

export interface EmbeddedBus extends Bus {
  share(): BusShare
  /** Bytes on disk by topic. */
  sizes(): ReadonlyMap<string, number>
  /** The consumer groups that have committed offsets. */
  groups(): readonly GroupState[]
  /** Forgets a group and its offsets, so that it keeps no records from being deleted. Rejects when it has members. */
  removeGroup(groupId: string): Promise<void>
}

const MIB = 1 << 20
const GIB = 1 << 30
/** A disk has room for so many segments, of at least 1 MiB. */
const SEGMENTS_OF_A_DISK = 64
const KEPT_READ_BYTES = 16 * MIB

/**
 * Opens the embedded bus; the calling thread owns its files from then on and should not be blocked for long.
 * Throws `DirectoryInUse` when another process has it. Stopping it cuts off the threads that are attached.
 */
export async function openEmbeddedBus(options: EmbeddedBusOptions): Promise<EmbeddedBus> {
  const { dir, topics, clock, log = silentLog, files = diskFiles, maxBytes = 10 * GIB } = options
  const lock = lockDirectory(dir)
  try {
    const { sizeBytes } = await files.space(dir)
    const owner = await openLocalOwner({
      directory: dir,
      topics,
      clock,
      log,
      files,
      maxBytes,
      // Small enough that the active segments, which stay, are the lesser part of the cap and of the disk.
      segmentBytes: Math.min(
        options.segmentBytes ?? 64 * MIB,
        GIB,
        maxBytes / (4 * topics.length),
        Math.max(sizeBytes / SEGMENTS_OF_A_DISK, MIB),
      ),
      minFreeBytes: options.minFreeBytes ?? 256 * MIB,
      keptReadBytes: options.keptReadBytes ?? KEPT_READ_BYTES,
      rebalanceTimeoutMs: options.rebalanceTimeoutMs ?? 30_000,
    })
    const layout: BusLayout = {
      topics: owner.layouts,
      ends: owner.ends.buffer,
      maxQueuedBytes: options.maxQueuedBytes ?? 64 * MIB,
      maxRecordBytes: 2 * MIB,
    }
    const client = createEmbeddedClient({ owner, layout, clock, log })
    const ports = new Set<MessagePort>()
    return {
      ...client,
      sizes: owner.sizes,
      groups: owner.groups,
      removeGroup: owner.removeGroup,
      share() {
        const { port1, port2 } = new MessageChannel()
        serveOwner(owner, port1)
        ports.add(port1)
        port1.on('close', () => ports.delete(port1))
        return { port: port2, layout }
      },
      async stop() {
        for (const port of ports) port.close()
        await client.stop()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * The embedded bus in a thread that does not own it: writes go to the owner as finished frames, reads come straight from the files.
 * The thread stays alive until `stop`; stop it before the owner.
 */
export function attachEmbeddedBus(share: BusShare, deps: { readonly clock?: Clock; readonly log?: BusLog } = {}): Bus {
  const { clock = systemClock, log = silentLog } = deps
  return createEmbeddedClient({ owner: connectOwner(share.port), layout: share.layout, clock, log })
}
