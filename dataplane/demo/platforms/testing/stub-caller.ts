/** Stubs with a clock that stands, and calls to them as their users make them. */
import { after, before } from 'mocha'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { type StubName, type StubPlatforms, startStubPlatforms } from '../start.ts'

export interface StubCaller {
  readonly stubs: StubPlatforms
  readonly clock: FakeClock
  /** JSON where the answer is JSON, else text; with the credentials of the demo. */
  call(platform: StubName, request: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<StubReply>
}

export interface StubReply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  readonly body: any
}

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const AUTHORIZATION: Partial<Record<StubName, string>> = {
  jira: basic('demo@example.com', 'demo-token'),
  servicenow: basic('demo', 'demo-password'),
  opsgenie: 'GenieKey demo-genie-key',
}

/** The stubs of a suite: started before its tests, stopped after them. */
export function useStubCaller(): StubCaller {
  let started: StubCaller
  before(async () => {
    started = await startStubCaller()
  })
  after(() => started.stubs.stop())
  return {
    get stubs() {
      return started.stubs
    },
    get clock() {
      return started.clock
    },
    call: (...call) => started.call(...call),
  }
}

async function startStubCaller(): Promise<StubCaller> {
  const clock = createFakeClock()
  const stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0, clock })
  return {
    stubs,
    clock,
    async call(platform, request, body, headers) {
      const [method, path] = request.split(' ') as [string, string]
      const authorization = AUTHORIZATION[platform]
      const response = await fetch(`${stubs.addresses[platform]}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }), ...headers },
        redirect: 'manual',
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: isJson(response) ? JSON.parse(text) : text }
    },
  }
}

const isJson = (response: Response) => response.headers.get('content-type')?.startsWith('application/json') === true
