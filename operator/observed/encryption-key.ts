/** The key under which the ticketing agents of mode Distributed keep secrets: made once, by the operator, and never anew. */
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import { conditionOf } from '../api/status.ts'
import type { Finding, Problem } from './finding.ts'
import type { Gathered } from './gathered.ts'

const TYPE = 'EncryptionKeyReady'
const LOST = 'EncryptionKeyLost'

export const encryptionKeyName = (pipeline: string) => `${pipeline}-encryption-key`

/** Standalone has a key of its own. */
export const isKeyMade = ({ mode, ticketing }: LogPipelineSpec) => mode === 'Distributed' && ticketing?.encryptionKey === undefined

/** The Secret was there and is gone. The status remembers that it was there. */
export function lostKey({ pipeline, hasEncryptionKey }: Gathered): Problem | undefined {
  if (hasEncryptionKey || !isKeyMade(pipeline.spec)) return undefined
  const before = conditionOf(pipeline, TYPE)
  if (before?.status !== 'True' && before?.reason !== LOST) return undefined
  const message = [
    `Secret ${encryptionKeyName(pipeline.metadata.name)}: expected the encryption key of ticketing, found none`,
    'it is not made anew, since secrets of ticket platforms and models that callers configured can be read with that key alone',
    'restore it from a backup, or from a ticketing pod that still runs (/etc/logpipeline/settings/ENCRYPTION_KEY)',
    'if it is lost, create it with a new ENCRYPTION_KEY (openssl rand -base64 32) and configure those secrets again',
  ].join('; ')
  return { reason: LOST, message, effect: 'stalled' }
}

export function checkEncryptionKey({ gathered }: { readonly gathered: Gathered }): readonly Finding[] {
  const { pipeline, hasEncryptionKey } = gathered
  if (!isKeyMade(pipeline.spec)) return []
  const lost = lostKey(gathered)
  if (lost !== undefined) return [{ type: TYPE, status: 'False', ...lost }]
  const secret = `Secret ${encryptionKeyName(pipeline.metadata.name)}`
  return hasEncryptionKey
    ? [{ type: TYPE, status: 'True', reason: 'Found', message: `${secret} is there` }]
    : [{ type: TYPE, status: 'Unknown', reason: 'Creating', message: `${secret} is being made` }]
}
