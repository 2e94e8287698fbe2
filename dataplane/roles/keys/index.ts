/** `logpipeline keys create|list|revoke`: API keys of a tenant (Decisions 2). */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { KeyName } from '../../api-keys/key-routes.ts'
import { type ApiKeyStore, createApiKeyStore, MAX_KEYS } from '../../api-keys/key-store.ts'
import { type CommandDeps, EXIT, PROCESS, refusalsOf } from '../../command-line/command.ts'
import { loadSettings } from '../../config/environment.ts'
import { TENANT_ID } from '../../contract/setting.ts'
import type { ApiKey } from '../../domain/api-keys/api-key.ts'
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '../../lifecycle/directory-lock.ts'
import { SearchStoreRefusal, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { createSearchServer } from '../../search-store/search-server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { connectSearchStore, type SearchStoreSettings } from '../backends.ts'
import { readSearchAddress } from '../search-address-file.ts'

const USAGE = `Usage: logpipeline keys create --tenant T [--name N]
       logpipeline keys list   --tenant T [--name N]
       logpipeline keys revoke --tenant T ID
       logpipeline keys revoke --tenant T --name N

create prints the key, which is shown this one time, and nothing else; list prints one line of JSON for each key. A revoked key stops within a
second, for good; by its name a key is revoked where no other key of the tenant has that name. The keys are those of the search store at SEARCH_ENDPOINT, else of the standalone that runs on DATA_DIR (default ./data), else
of DATA_DIR itself.

  --tenant T   the tenant that the key speaks for
  --name N     what the key is for (create: default cli)`

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
export async function runKeys(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    deps.stdout.write(`${USAGE}\n`)
    return EXIT.done
  }
  const options = parseOptions(args)
  if (typeof options === 'string') return refuse(deps, options, EXIT.usage)
  const settings = loadSettings('standalone', deps.environment)
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
    if (id === undefined) return refuse(deps, `tenant ${tenant} has no key named ${name} (keys list --tenant ${tenant})`, EXIT.failed)
    if (!(await keys.revoke(tenant, id)))
      return refuse(deps, `tenant ${tenant} has no key ${id} (keys list --tenant ${tenant})`, EXIT.failed)
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

/** A result that is a text is the problem found in the options. */
function parseOptions(args: readonly string[]): Options | string {
  const [action, ...rest] = args
  if (!ACTIONS.includes(action as Action)) return `expected one of ${ACTIONS.join(', ')}, seen ${action ?? 'nothing'} (keys --help)`
  let parsed: {
    readonly values: { readonly tenant?: string; readonly name?: string; readonly id?: string }
    readonly positionals: readonly string[]
  }
  try {
    const known = { tenant: { type: 'string' }, name: { type: 'string' }, id: { type: 'string' } } as const
    parsed = parseArgs({ args: rest, allowPositionals: action === 'revoke', options: known })
  } catch (error) {
    return (error as Error).message
  }
  const { tenant, name } = parsed.values
  const id = parsed.values.id ?? parsed.positionals[0]
  if (tenant === undefined || !TENANT_ID.schema.safeParse(tenant).success)
    return `--tenant: expected ${TENANT_ID.expected}, seen ${tenant === undefined ? 'nothing' : JSON.stringify(tenant)}`
  const named = KeyName.optional().safeParse(name)
  if (!named.success) return `--name: ${named.error.issues[0]!.message}`
  const isOneKey = (id === undefined) !== (name === undefined) && parsed.positionals.length <= 1
  if (action === 'revoke' && !isOneKey) return 'revoke: expected the id of one key (keys list), or its --name'
  return { action: action as Action, tenant, name: named.data, id }
}

interface StoreSettings extends Omit<SearchStoreSettings, 'SEARCH_ENDPOINT'> {
  readonly SEARCH_ENDPOINT?: string | undefined
  readonly DATA_DIR: string
}

async function withStore(settings: StoreSettings, { clock }: CommandDeps, use: (keys: ApiKeyStore) => Promise<number>): Promise<number> {
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
    const dir = join(settings.DATA_DIR, 'search')
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
