import { send } from './run-test.ts'

const CALLS: readonly (readonly [method: string, path: string])[] = [
  ['DELETE', '/_search/point_in_time/_all'],
  ['DELETE', '/_search/scroll/_all'],
  ['DELETE', '/_data_stream/*'],
  ['DELETE', '/*?expand_wildcards=all&ignore_unavailable=true'],
  ['DELETE', '/_template/*'],
  ['DELETE', '/_index_template/*'],
  ['DELETE', '/_component_template/*'],
]

/** Takes away what a test left on the server: indices, templates, open searches. */
export async function wipe(url: string): Promise<void> {
  for (const [method, path] of CALLS) await send(url, { method, path, body: undefined, contentType: '' })
}
