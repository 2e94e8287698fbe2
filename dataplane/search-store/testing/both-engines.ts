import { expect } from 'chai'
import type { TestStore } from './test-store.ts'

/** An index in the log engine, and one in the document tables. */
export const BOTH_ENGINES: readonly string[] = ['service-logs-2026.11.21', 'events']

/** Makes both indices with the same documents, whose ids are `d0`, `d1` and so on. */
export async function fillBoth({ client, request }: TestStore, mappings: object, documents: readonly object[]): Promise<void> {
  for (const index of BOTH_ENGINES) {
    expect((await request('PUT', `/${index}`, { mappings })).status).to.equal(200)
    await client.bulk({ body: documents.flatMap((document, at) => [{ index: { _index: index, _id: `d${at}` } }, document]) as never })
  }
}

/** The answer to a search that has to be answered. */
export async function searchIn(store: TestStore, index: string, body: object) {
  const answer = await store.request('POST', `/${index}/_search`, body)
  expect(answer.status, answer.text).to.equal(200)
  return answer.body
}
