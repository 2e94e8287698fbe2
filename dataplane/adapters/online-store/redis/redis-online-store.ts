/** The online store in Redis or Valkey: a hash for each service, a set of all services, a text that each write changes. */
import { randomUUID } from 'node:crypto'
import { FEATURE_NAMES, type FeatureName } from '../../../domain/features/feature-view.ts'
import { portionsOf } from '../../../limits/portions-of.ts'
import type { FeatureKey, FeatureRow, OnlineStore } from '../../../ports/online-store.ts'
import { createRedisConnection, type RedisConnectionConfig } from './redis-connection.ts'

/** One hash slot for all keys, so that a write is one transaction in a cluster too. */
const PREFIX = '{logpipeline:features}:'
const ALL_SERVICES = `${PREFIX}services`
/** No counter: a server that was emptied would come back to the same number. */
const VERSION = `${PREFIX}last-write`
const EVENT_FIELD = 'event_ms'
const WRITTEN_FIELD = 'written_ms'

/** Rows of one round trip. */
const PAGE_ROWS = 500

/** A tenant id holds no slash. */
const memberOf = ({ tenant, service }: FeatureKey) => `${tenant}/${service}`
const hashOf = (member: string) => `${PREFIX}of:${member}`

/** Connects when it is first used; a server that is away is found out then. */
export function createRedisOnlineStore(config: RedisConnectionConfig): OnlineStore {
  const connection = createRedisConnection(config)
  const readMembers = (members: readonly string[]) =>
    connection.run(async client => {
      const hashes = await Promise.all(members.map(member => client.hGetAll(hashOf(member))))
      return hashes.map((hash, i) => toRow(members[i]!, hash))
    })
  return {
    async write(rows) {
      for (const page of portionsOf(rows, PAGE_ROWS))
        await connection.run(client => {
          const transaction = client.multi()
          for (const row of page) transaction.hSet(hashOf(memberOf(row)), toHash(row))
          return transaction.sAdd(ALL_SERVICES, page.map(memberOf)).set(VERSION, randomUUID()).exec()
        })
    },
    async read(keys) {
      const rows: (FeatureRow | undefined)[] = []
      for (const page of portionsOf(keys, PAGE_ROWS)) rows.push(...(await readMembers(page.map(memberOf))))
      return rows
    },
    async *scan() {
      let cursor = '0'
      do {
        const page = await connection.run(client => client.sScan(ALL_SERVICES, cursor, { COUNT: PAGE_ROWS }))
        cursor = String(page.cursor)
        const rows = (await readMembers(page.members)).filter(row => row !== undefined)
        if (rows.length > 0) yield rows
      } while (cursor !== '0')
    },
    async remove(keys) {
      for (const page of portionsOf(keys, PAGE_ROWS)) {
        const members = page.map(memberOf)
        await connection.run(client =>
          client.multi().del(members.map(hashOf)).sRem(ALL_SERVICES, members).set(VERSION, randomUUID()).exec(),
        )
      }
    },
    version: () => connection.run(async client => (await client.get(VERSION)) ?? '0'),
    close: () => connection.close(),
  }
}

function toHash({ values, eventMs, writtenMs }: FeatureRow): Record<string, string> {
  const features = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)])
  return { ...Object.fromEntries(features), [EVENT_FIELD]: String(eventMs), [WRITTEN_FIELD]: String(writtenMs) }
}

function toRow(member: string, hash: Readonly<Record<string, string>>): FeatureRow | undefined {
  if (hash[EVENT_FIELD] === undefined) return undefined
  const slash = member.indexOf('/')
  const present = FEATURE_NAMES.filter(name => hash[name] !== undefined)
  return {
    tenant: member.slice(0, slash),
    service: member.slice(slash + 1),
    values: Object.fromEntries(present.map(name => [name, JSON.parse(hash[name]!)])) as Partial<Record<FeatureName, number | null>>,
    eventMs: Number(hash[EVENT_FIELD]),
    writtenMs: Number(hash[WRITTEN_FIELD]),
  }
}
