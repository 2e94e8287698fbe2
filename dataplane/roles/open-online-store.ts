import { join } from 'node:path'
import type { OnlineStore } from '../ports/online-store.ts'

export interface OnlineStoreSettings {
  readonly ONLINE_STORE_URL?: string | undefined
  readonly DATA_DIR: string
}

/** The online store that the settings name: Redis, or the embedded one in `DATA_DIR/features`. Only what is used is loaded. */
export async function openOnlineStore({ ONLINE_STORE_URL: url, DATA_DIR }: OnlineStoreSettings): Promise<OnlineStore> {
  if (url !== undefined) return (await import('../adapters/online-store/redis/redis-online-store.ts')).createRedisOnlineStore({ url })
  return (await import('../adapters/online-store/embedded/embedded-online-store.ts')).openEmbeddedOnlineStore(join(DATA_DIR, 'features'))
}
