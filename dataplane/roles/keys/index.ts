/** `logpipeline keys create|list|revoke`: API keys of a tenant (Decisions 2). */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { TRUST_MS } from '../../api-keys/key-check.ts'
import { KeyName } from '../../api-keys/key-routes.ts'
import { type ApiKeyStore, createApiKeyStore, MAX_KEYS } from '../../api-keys/key-store.ts'
import { type CommandDeps, EXIT, PROCESS, refusalsOf } from '../../command-line/command.ts'
import { obey, parseWords, type Words } from '../../command-line/words.ts'
import { loadSomeSettings } from '../../config/environment.ts'
import { TENANT_ID } from '../../contract/setting.ts'
import { type ApiKey, withoutKeys } from '../../domain/api-keys/api-key.ts'
import { SearchStoreRefusal, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '../../process/directory-lock.ts'
import { SILENT } from '../../telemetry/log.ts'
import { connectSearchStore, SEARCH_STORE_SETTINGS, type SearchStoreSettings } from '../backends.ts'
import { noteFormat } from '../data-format.ts'
import { readSearchAddress } from '../search-address-file.ts'

const USAGE = `Usage: logpipeline keys create --tenant T [--name N]
       logpipeline keys list   --tenant T [--name N]
       logpipeline keys revoke --tenant T ID
       logpipeline keys revoke --tenant T --name N

create prints the key, which is shown this one time, and nothing else; list prints one line of JSON for each key. A revoked key has
stopped for good when revoke says so, on every gateway; by its name a key is revoked where no other key of the tenant has that name.
The keys are those of the search store at SEARCH_ENDPOINT, else of the standalone that runs on DATA_DIR (default ./data), else of
DATA_DIR itself.

  --tenant T   the tenant that the key speaks for
  --name N     what the key is for (create: default cli)

Exit code: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong.`

const ACTIONS = ['create', 'list', 'revoke'] as const
type Action = (typeof ACTIONS)[number]

interface Options {
  readonly action: Action
  readonly tenant: string
  readonly name: string | undefined
  readonly id: string | undefined
}

const refuse = refusalsOf('keys')

/** Runs the command and returns its exit code; throws `ConfigError` for wrong settings. */
export function runKeys(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  return obey(parseOptions(args), { usage: USAGE, refuse }, deps, options => work(options, deps))
}

async function work(options: Options, deps: CommandDeps): Promise<number> {
  const settings = loadSomeSettings('standalone', ['DATA_DIR', ...SEARCH_STORE_SETTINGS], deps.environment)
  try {
    return await withStore(settings, deps, keys => RUN[options.action](keys, options, deps))
  } catch (error) {
    if (error instanceof SearchStoreUnavailable || error instanceof SearchStoreRefusal || error instanceof DirectoryInUse)
      return refuse(deps, error.message, EXIT.failed)
    throw error
  }
}

const DEFAULT_NAME = 'cli'

const RUN: Readonly<Record<Action, (keys: ApiKeyStore, options: Options, deps: CommandDeps) => Promise<number>>> = {
  async create(keys, { tenant, name = DEFAULT_NAME }, deps) {
    const created = await keys.create(tenant, name)
    if (created === undefined) return refuse(deps, `tenant ${tenant} has ${MAX_KEYS} keys: revoke one first`, EXIT.failed)
    deps.stdout.write(`${created.key}\n`)
    return EXIT.done
  },
  async list(keys, { tenant, name }, { stdout }) {
    for (const key of await listNamed(keys, tenant, name)) stdout.write(`${JSON.stringify(key)}\n`)
    return EXIT.done
  },
  async revoke(keys, { tenant, name, id: given }, deps) {
    const named = given === undefined ? await listNamed(keys, tenant, name) : []
    if (named.length > 1)
      return refuse(deps, `tenant ${tenant} has ${named.length} keys named ${name}: expected an id of ${idsOf(named)}`, EXIT.failed)
    const id = given ?? named[0]?.id
    if (id === undefined)
      return refuse(deps, `tenant ${tenant} has no key named ${withoutKeys(name ?? '')} (keys list --tenant ${tenant})`, EXIT.failed)
    if (!(await keys.revoke(tenant, id)))
      return refuse(deps, `tenant ${tenant} has no key ${withoutKeys(id)} (keys list --tenant ${tenant})`, EXIT.failed)
    // Gateways are other processes, which know a key for so long without asking.
    await deps.clock.sleep(TRUST_MS)
    deps.stderr.write(`revoked ${id}\n`)
    return EXIT.done
  },
}

/** All keys without a name. */
async function listNamed(keys: ApiKeyStore, tenant: string, name: string | undefined): Promise<readonly ApiKey[]> {
  const all = await keys.list(tenant)
  return name === undefined ? all : all.filter(key => key.name === name)
}

function idsOf(keys: readonly ApiKey[]): string {
  return keys.map(({ id }) => id).join(', ')
}

function parseOptions(args: readonly string[]): Words<Options> {
  const action = ACTIONS.find(each => each === args[0])
  const options = { tenant: { type: 'string' }, name: { type: 'string' }, id: { type: 'string' } } as const
  const forms = { options, allowPositionals: action === undefined || action === 'revoke' }
  return parseWords(action === undefined ? args : args.slice(1), forms, ({ values, positionals }, problems) => {
    const { tenant = '', name } = values
    const id = values.id ?? positionals[0]
    const named = KeyName.optional().safeParse(name)
    const isOneKey = (id === undefined) !== (name === undefined) && positionals.length <= 1
    if (action === undefined) problems.push(`expected one of ${ACTIONS.join(', ')}, seen ${args[0] ?? 'nothing'} (keys --help)`)
    else if (!TENANT_ID.schema.safeParse(tenant).success)
      problems.push(`--tenant: expected ${TENANT_ID.expected}, seen ${values.tenant === undefined ? 'nothing' : JSON.stringify(tenant)}`)
    else if (!named.success) problems.push(`--name: ${named.error.issues[0]!.message}`)
    else if (action === 'revoke' && !isOneKey) problems.push('revoke: expected the id of one key (keys list), or its --name')
    return { action: action ?? 'list', tenant, name: named.data, id }
  })
}

interface StoreSettings extends Omit<SearchStoreSettings, 'SEARCH_ENDPOINT'> {
  readonly SEARCH_ENDPOINT?: string | undefined
  readonly DATA_DIR: string
}

/** A key made where nothing runs opens no door elsewhere; before a first start it is right. */
const NEW = 'no logpipeline has worked there yet; one that runs on another DATA_DIR or SEARCH_ENDPOINT has other keys'

async function withStore(
  settings: StoreSettings,
  { clock, stderr }: CommandDeps,
  use: (keys: ApiKeyStore) => Promise<number>,
): Promise<number> {
  if (settings.SEARCH_ENDPOINT !== undefined) return useAt(settings.SEARCH_ENDPOINT, use)
  let lock: DirectoryLock
  try {
    lock = lockDirectory(settings.DATA_DIR)
  } catch (error) {
    const running = error instanceof DirectoryInUse ? readSearchAddress(settings.DATA_DIR) : undefined
    if (running === undefined) throw error
    return useAt(running, use)
  }
  try {
    noteFormat(settings.DATA_DIR)
    const dir = join(settings.DATA_DIR, 'search')
    if (!existsSync(dir)) stderr.write(`logpipeline keys: DATA_DIR ${resolve(settings.DATA_DIR)}: ${NEW}\n`)
    const { createSearchServer } = await import('../../search-store/search-server.ts')
    const server = createSearchServer({ dir, host: '127.0.0.1', port: 0, clock, log: SILENT })
    await server.start()
    try {
      return await useAt(`http://127.0.0.1:${server.address!.port}`, use)
    } finally {
      await server.stop()
    }
  } finally {
    lock.release()
  }

  async function useAt(endpoint: string, work: (keys: ApiKeyStore) => Promise<number>): Promise<number> {
    const store = await connectSearchStore({ ...settings, SEARCH_ENDPOINT: endpoint })
    try {
      return await work(createApiKeyStore({ store, clock }))
    } finally {
      await store.close()
    }
  }
}
