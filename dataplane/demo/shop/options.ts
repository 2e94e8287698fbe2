/** The command line of `logpipeline demo`. */
import { readChoice, readHttpAddress, readInteger } from '../../command-line/option-values.ts'
import { parseWords, type Words } from '../../command-line/words.ts'
import { DEFAULT_TENANT, TENANT_ID_PATTERN } from '../../contract/tenant-id.ts'
import { percentDecoded } from '../percent-decoded.ts'
import { FAULT_NAMES, type FaultName } from './faults.ts'
import { createRandom } from './random.ts'
import { SERVICE_NAMES } from './services.ts'

const MINUTE_MS = 60_000
const DEFAULT_MINUTES = 30
/** Fewer are too few to know what is usual; more is more to send and to store. */
const MIN_MINUTES = 15
const MAX_MINUTES = 120
const MAX_SEED = 2 ** 31 - 1

export const DEMO_USAGE = `Usage: logpipeline demo [--fault NAME] [--seed N] [--at-once] [options]
       logpipeline demo --list
       logpipeline demo platforms

Plays a small shop of ${SERVICE_NAMES.length} services that sends its logs, with traces, to a logpipeline that runs: healthy for half an hour, which is made up at once,
then broken in one of ${FAULT_NAMES.length} ways. Says where its incident is to be seen, and goes on until Ctrl-C.

  --fault NAME       what breaks: ${FAULT_NAMES.join(', ')} (default: by chance)
  --list             tells what each of them is
  --seed N           the same number makes the same shop, and the same choice (default: by chance)
  --history MINUTES  how long it was healthy, ${MIN_MINUTES} to ${MAX_MINUTES} (default ${DEFAULT_MINUTES})
  --at-once          the fault began three minutes ago: all is sent at once, and the command ends when its incident is there
  --tenant T         whose logs they are (default: SERVICE_TENANT_ID, ${DEFAULT_TENANT})
  --endpoint URL     the collector that logs go to (default http://127.0.0.1:4318)
  --console URL      the console that is asked for incidents (default http://localhost:3000); where it asks for a password,
                     as http://admin:password@localhost:3000

Exit code: 0 done, 1 no incident, or logpipeline cannot be reached, 64 the command line is wrong.`

export interface DemoOptions {
  readonly fault: FaultName
  readonly seed: number
  readonly historyMs: number
  readonly isAtOnce: boolean
  readonly tenant: string
  /** Where requests go, path included. */
  readonly logsUrl: string
  /** Without a slash at the end, and without a user name. */
  readonly consoleUrl: string
  readonly consoleLogin?: ConsoleLogin
}

/** For a console that asks for a password. */
export interface ConsoleLogin {
  readonly username: string
  readonly password: string
}

const OPTIONS = {
  fault: { type: 'string' },
  list: { type: 'boolean' },
  seed: { type: 'string' },
  history: { type: 'string', default: String(DEFAULT_MINUTES) },
  'at-once': { type: 'boolean', default: false },
  tenant: { type: 'string' },
  endpoint: { type: 'string', default: 'http://127.0.0.1:4318' },
  console: { type: 'string', default: 'http://localhost:3000' },
} as const

export interface DemoDefaults {
  /** Asked where the command line names none. */
  readonly tenant: () => string
  /** 0 to 1, for seed and fault. */
  readonly chance?: () => number
}

/** `list`: the faults are to be told. */
export function parseDemoOptions(
  args: readonly string[],
  { tenant: ownTenant, chance = Math.random }: DemoDefaults,
): Words<DemoOptions | 'list'> {
  return parseWords(args, { options: OPTIONS }, ({ values }, problems) => {
    if (values.list === true) return 'list'
    const seed =
      values.seed === undefined ? Math.floor(chance() * 10_000) : readInteger('--seed', values.seed, { min: 0, max: MAX_SEED }, problems)
    const minutes = readInteger('--history', values.history, { min: MIN_MINUTES, max: MAX_MINUTES }, problems)
    const byChance = createRandom(seed).pick(FAULT_NAMES)
    const fault = readChoice('--fault', values.fault ?? byChance, FAULT_NAMES, problems) ?? byChance
    const tenant = values.tenant ?? ownTenant()
    if (!TENANT_ID_PATTERN.test(tenant)) problems.push(`--tenant: expected up to 63 of a-z, 0-9 and "-", seen ${JSON.stringify(tenant)}`)
    const endpoint = readAddress('--endpoint', values.endpoint, problems)
    const consoleUrl = readAddress('--console', values.console, problems)
    const logsUrl = endpoint.endsWith('/v1/logs') ? endpoint : `${endpoint}/v1/logs`
    const historyMs = minutes * MINUTE_MS
    const consoleLogin = readLogin(values.console)
    return { fault, seed, historyMs, isAtOnce: values['at-once'], tenant, logsUrl, consoleUrl, ...(consoleLogin && { consoleLogin }) }
  })
}

function readAddress(option: string, text: string, problems: string[]): string {
  const { origin, pathname } = readHttpAddress(option, text, problems)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

function readLogin(address: string): ConsoleLogin | undefined {
  const { username = '', password = '' } = URL.parse(address) ?? {}
  return username === '' ? undefined : { username: percentDecoded(username), password: percentDecoded(password) }
}
