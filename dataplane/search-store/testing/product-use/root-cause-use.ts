/** Requests to the search store for a root cause: counts, call sites as doc values, pages of records of a time, patterns by their ids, messages of errors. */
import { LOGS_PREFIX } from '../../../contract/indices.ts'
import type { Observation } from '../../../domain/root-cause/observed/observation.ts'
import { analyse } from '../../../pipeline/root-cause/analyse.ts'
import { readPatterns } from '../../../pipeline/root-cause/read-patterns.ts'
import type { BulkOperation, SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { buildObservationDocument, hex } from '../../../testing/observation-document.ts'
import { AT_MS, observation, shop, USUAL } from '../../../testing/root-cause-fixture.ts'
import type { RecordedStore } from './recorded-store.ts'

const TENANT = 'root-cause-use'
const INDEX = `${LOGS_PREFIX}2026.01.01`
const MINUTE_MS = 60_000

/** A shop with payments that say nothing any more; each record names its call site in one of two attributes. */
function documents(): readonly BulkOperation[] {
  const records = [...shop(() => USUAL.slice(0, 3)), ...refusals()]
  return records.map((each, at) => ({
    action: 'create' as const,
    index: INDEX,
    id: `${TENANT}-${at}`,
    body: buildObservationDocument(TENANT, each, {
      ...(each.isError && { message: `refused by "payments:${at}"` }),
      [at % 2 === 0 ? 'code.logger' : 'code.function.name']: `com.shop.${each.pattern}`,
    }),
  }))
}

/** Errors in the window whose patterns lack who is meant: an analysis reads messages of them. */
function refusals(): readonly Observation[] {
  return [1, 2, 3, 4].map(second =>
    observation({
      service: 'orders',
      isError: true,
      pattern: 'refused by <*>',
      timeMs: AT_MS + second * 1_000,
      logId: `refusal ${second}`,
    }),
  )
}

/** An analysis asks for patterns once many records have few of them. One record of each is looked at: of several, each store shows another. */
function patternsOf(store: SearchStore): Promise<ReadonlyMap<string, string>> {
  const patterns = shop(() => USUAL.slice(0, 3)).map(({ pattern }) => pattern)
  const first = [...new Set(patterns)].map(pattern => `${TENANT}-${patterns.indexOf(pattern)}`)
  return readPatterns(store, { filter: [{ term: { tenant_id: TENANT } }, { ids: { values: first } }], fromMs: 0, toMs: 0 }, [
    ...new Set(patterns.map(pattern => hex(pattern, 16))),
    hex('a pattern that no record has', 16),
  ])
}

export async function useAsRootCause({ store }: RecordedStore): Promise<unknown> {
  const ask = (atMs: number) =>
    analyse({ store, clock: createFakeClock(), log: SILENT }, { tenant: TENANT, atMs, nowMs: atMs + 10 * MINUTE_MS })
  await store.bulk(documents())
  await store.refresh(INDEX)
  return { found: await ask(AT_MS), nothing: await ask(AT_MS + 60 * MINUTE_MS), patterns: await patternsOf(store) }
}
