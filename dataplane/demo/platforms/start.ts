/** Starts all stub platforms, each on a port of its own. */
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { PORTS } from '../../contract/roles.ts'
import { startHttpServer } from '../../http/server.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Running, startTogether } from '../../process/running.ts'
import { createEmail } from './email/email.ts'
import { startSmtp } from './email/smtp.ts'
import type { FaultInput } from './faults.ts'
import type { NavLink } from './html.ts'
import { createIndex } from './index-page.ts'
import { createJira } from './jira/jira.ts'
import { createOpsgenie } from './opsgenie/opsgenie.ts'
import { createPagerDuty } from './pagerduty.ts'
import { createServiceNow } from './servicenow/servicenow.ts'
import type { StubAddresses } from './settings.ts'
import { createSlack } from './slack/slack.ts'
import { createStubServer } from './stub-server.ts'

/** In the order of their ports, from the first one on; SMTP has the last. */
export const STUB_NAMES = ['index', 'pagerduty', 'jira', 'servicenow', 'opsgenie', 'slack', 'email'] as const
export type StubName = (typeof STUB_NAMES)[number]

export interface StubPlatformsConfig {
  readonly host: string
  /** 0: a free one for each. */
  readonly portBase: number
  /** The port of the ticketing agent, for the commands on the first page. Default: its usual one. */
  readonly ticketingPort?: number
  readonly clock?: Clock
  /** Called once a request is done and before it is answered. */
  readonly onDone?: (platform: StubName, request: string) => void | Promise<void>
}

export interface StubPlatforms extends Running {
  readonly addresses: StubAddresses
  /** Throws when the fault is none. */
  fault(platform: StubName, fault: FaultInput): void
  /** As `GET /_stub/state` answers it. */
  state(platform: StubName): Readonly<Record<string, unknown>>
}

export function startStubPlatforms({
  host,
  portBase,
  ticketingPort = PORTS.ticketing,
  clock = systemClock,
  onDone = () => undefined,
}: StubPlatformsConfig): Promise<StubPlatforms> {
  return startTogether(async keep => {
    let addresses: StubAddresses | undefined
    const nav = (): readonly NavLink[] => STUB_NAMES.map(name => ({ title: platforms[name].title, href: `${addresses![name]}/` }))
    const email = createEmail(clock)
    const platforms = {
      index: createIndex({ addresses: () => addresses!, nav, ticketingPort }),
      pagerduty: createPagerDuty(clock),
      jira: createJira(clock),
      servicenow: createServiceNow(clock),
      opsgenie: createOpsgenie(clock),
      slack: createSlack(clock),
      email,
    }
    const portOf = (offset: number) => ({
      host,
      port: portBase === 0 ? 0 : portBase + offset,
      setting: '--port-base',
      hostSetting: '--host',
    })
    const serve = async (name: StubName) => {
      const server = keep(createStubServer(platforms[name], { clock, nav, onDone: request => onDone(name, request) }))
      const { port } = keep(await startHttpServer(server.listener, portOf(STUB_NAMES.indexOf(name))), http => http.stop(0))
      return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${port}` }
    }
    const served = Object.fromEntries(await Promise.all(STUB_NAMES.map(async name => [name, await serve(name)] as const))) as Record<
      StubName,
      Awaited<ReturnType<typeof serve>>
    >
    const stopped = keep(new AbortController(), controller => controller.abort())
    const inbox = served.email.server
    const smtp = keep(
      await startSmtp(portOf(STUB_NAMES.length), {
        receive: email.receive,
        takeFault: command => inbox.takeFault(command, command === 'DATA'),
        onDone: command => inbox.record(command),
        sleep: ms => clock.sleep(ms, stopped.signal),
      }),
      server => server.stop(0),
    )
    const urls = Object.fromEntries(STUB_NAMES.map(name => [name, served[name].url])) as Record<StubName, string>
    addresses = { ...urls, smtp: { host, port: smtp.port } }
    return {
      addresses,
      fault(platform, fault) {
        const problem = served[platform].server.addFault(fault)
        if (problem !== undefined) throw new Error(problem)
      },
      state: platform => served[platform].server.state() as Readonly<Record<string, unknown>>,
    }
  })
}
